"""Whether this process can do its work; for load balancers and containers."""

from __future__ import annotations

import logging
from collections.abc import Callable

import redis
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import connection
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

log = logging.getLogger(__name__)


def _database() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def _valkey() -> None:
    with redis.Redis.from_url(
        settings.REDIS_URL, socket_timeout=2, socket_connect_timeout=2
    ) as client:
        client.ping()


CHECKS: dict[str, Callable[[], None]] = {"database": _database, "valkey": _valkey}


def _works(name: str) -> bool:
    try:
        CHECKS[name]()
    except Exception:  # whatever it is, the answer is the same
        log.warning("health check of %s failed", name, exc_info=True)
        return False
    return True


@login_not_required
@never_cache
@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """200 where everything can be reached, else 503; the details go to the log."""
    found = {name: _works(name) for name in CHECKS}
    ok = all(found.values())
    return JsonResponse(
        {"ok": ok, **{name: "ok" if found[name] else "unreachable" for name in found}},
        status=200 if ok else 503,
    )
