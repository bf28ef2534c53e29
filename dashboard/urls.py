"""Every address of the product."""

from django.contrib import admin
from django.contrib.auth import views as auth
from django.urls import path

from dashboard.views import (
    api,
    endpoints,
    health,
    monitors,
    overview,
    scenarios,
    trials,
)

urlpatterns = [
    path("", overview.overview, name="overview"),
    path("wall", overview.wall, name="wall"),
    path("monitors/<int:pk>/", monitors.detail, name="monitor"),
    path("monitors/<int:pk>/pause", monitors.pause, name="monitor-pause"),
    path("monitors/<int:pk>/delete", monitors.delete, name="monitor-delete"),
    path("monitors/<int:pk>/test", trials.create_for_monitor, name="monitor-test"),
    path("endpoints/", endpoints.index, name="endpoints"),
    path("endpoints/add/", endpoints.add, name="endpoint-add"),
    path("endpoints/<int:pk>/", endpoints.edit, name="endpoint"),
    path("endpoints/<int:pk>/delete", endpoints.delete, name="endpoint-delete"),
    path("scenarios/", scenarios.index, name="scenarios"),
    path("scenarios/<slug:slug>/", scenarios.edit, name="scenario"),
    path("trials/", trials.create, name="trials"),
    path("trials/<int:pk>/", trials.detail, name="trial"),
    path("api/snapshot", api.snapshot, name="api-snapshot"),
    path("api/monitors/<int:pk>/series", api.series, name="api-series"),
    path("api/monitors/<int:pk>/samples", api.samples, name="api-samples"),
    path("api/attainment", api.attainment, name="api-attainment"),
    path("login/", auth.LoginView.as_view(), name="login"),
    path("logout/", auth.LogoutView.as_view(), name="logout"),
    path("healthz", health.healthz, name="healthz"),
    path("admin/", admin.site.urls),
]
