"""The ASGI application: pages over HTTP, live samples over a WebSocket."""

import os

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import AllowedHostsOriginValidator
from django.core.asgi import get_asgi_application
from django.urls import path

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")

# Fills the app registry, which the consumer's imports need.
http = get_asgi_application()

from dashboard.consumers import LiveConsumer  # noqa: E402

# Django's `path` is typed for views, which an ASGI application is not.
LIVE = path("live/", LiveConsumer.as_asgi())  # type: ignore[arg-type]

application = ProtocolTypeRouter(
    {
        "http": http,
        "websocket": AllowedHostsOriginValidator(
            AuthMiddlewareStack(URLRouter([LIVE]))  # type: ignore[list-item]  # as above
        ),
    }
)
