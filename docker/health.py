"""``python docker/health.py web|worker|beat``: whether this container does its work.

The exit code says it to Docker, a sentence says why to whoever looks
(``docker inspect``).
"""

from __future__ import annotations

import http.client
import os
import socket
import sys
from datetime import timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

PORT = 8000
LATE = timedelta(seconds=30)


def web(port: int = PORT) -> str | None:
    """What is wrong with the web server; None where it can do its work."""
    host = os.environ.get("ALLOWED_HOSTS", "").partition(",")[0].lstrip(".*")
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=8)
    try:
        # Under a name that is allowed: any other is refused, also to us.
        connection.request("GET", "/healthz", headers={"Host": host or "localhost"})
        answer = connection.getresponse()
        return None if answer.status == 200 else answer.read(500).decode()
    except (OSError, http.client.HTTPException) as error:
        return f"the web server does not answer: {error}"
    finally:
        connection.close()


def worker() -> str | None:
    """What is wrong with the worker of this very container."""
    return _silent(kind="worker", name__startswith=f"{socket.gethostname()}:")


def beat() -> str | None:
    """What is wrong with the schedule; it needs beat, the broker and any worker."""
    return _silent(kind="scheduler")


def _silent(**which: str) -> str | None:
    import django

    django.setup()
    from django.utils import timezone

    from collectors.models import Heartbeat

    beats = Heartbeat.objects.filter(seen_at__gte=timezone.now() - LATE, **which)
    return None if beats.exists() else f"no sign of life for {LATE.seconds} s"


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")
    fault = {"web": web, "worker": worker, "beat": beat}[sys.argv[1]]()
    print(fault or "ok")
    sys.exit(1 if fault else 0)
