"""Tasks that a person waits for: handed to the broker at once, or not at all."""

from __future__ import annotations

from typing import Any

from celery import Task, current_app
from django.conf import settings
from kombu import Producer
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

TIMEOUT_S = 2.0
# Of this connection alone: workers wait for work on theirs, without such an end.
OPTIONS = {
    "socket_connect_timeout": TIMEOUT_S,
    "socket_timeout": TIMEOUT_S,
    "max_retries": 0,
    "connect_retries_timeout": TIMEOUT_S,
}


class NoBroker(Exception):
    """Valkey did not take the task."""


def publish(task: Task[..., Any], *arguments: int) -> None:
    """Queue ``task``. Raises ``NoBroker`` within seconds where Valkey does not answer.

    A broker that only hung may yet have taken it: it may run all the same.
    """
    connecting = current_app.connection_for_write(
        settings.REDIS_URL, transport_options=OPTIONS
    )
    try:
        with connecting as connection:
            producer = Producer(connection, auto_declare=False)
            task.apply_async(arguments, producer=producer, retry=False)
    except (OperationalError, RedisError, OSError) as error:
        raise NoBroker from error
