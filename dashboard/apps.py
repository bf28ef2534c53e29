from django.apps import AppConfig


class DashboardConfig(AppConfig):
    name = "dashboard"

    def ready(self) -> None:
        # Tasks that the web process sends must find their broker.
        from dashboard import celery  # noqa: F401
