"""Keeps other sites' pages from driving the simulator through a visitor's browser."""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

LOOPBACK_NAMES = frozenset({"127.0.0.1", "localhost", "::1"})

PAGE_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; "
        "frame-ancestors 'none'; base-uri 'none'"
    ),
    # Not "no-referrer": browsers then send "Origin: null" with the page's own forms.
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
}


def refusal(method: str, headers: Headers, loopback_only: bool) -> str | None:
    """Why a request is refused, or ``None``.

    With ``loopback_only`` the Host must name this machine: a foreign name that
    resolves to 127.0.0.1 would otherwise count as the same site.
    """
    host = headers.get("host", "")
    if loopback_only and _host_name(host) not in LOOPBACK_NAMES:
        return "This address answers only as 127.0.0.1 or localhost."
    if method in ("GET", "HEAD", "OPTIONS"):
        return None
    site = headers.get("sec-fetch-site")
    origin = headers.get("origin")
    foreign_site = site is not None and site not in ("same-origin", "none")
    foreign_origin = origin is not None and origin.partition("://")[2] != host
    if foreign_site or foreign_origin:
        return "Refused: the request comes from another site."
    return None


def _host_name(host: str) -> str | None:
    try:
        return urlsplit(f"//{host}").hostname
    except ValueError:
        return None


class Guard:
    """ASGI middleware around the whole application."""

    def __init__(self, app: ASGIApp, loopback_only: bool) -> None:
        self._app = app
        self._loopback_only = loopback_only

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            headers = Headers(scope=scope)
            reason = refusal(scope["method"], headers, self._loopback_only)
            if reason is not None:
                await PlainTextResponse(reason + "\n", 403)(scope, receive, send)
                return
        await self._app(scope, receive, send)
