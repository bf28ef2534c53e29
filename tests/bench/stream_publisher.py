"""Hands a load to the workers, as the scheduler hands out slots: a second ahead."""

from __future__ import annotations

import json
import sys
import time

from dashboard.celery import app
from tests.bench.stream_load import AHEAD_S, Load, seconds_until


def publish(load: Load) -> None:
    for stream_id, start_at in load.starts():
        time.sleep(seconds_until(start_at - AHEAD_S))
        app.send_task("tests.bench.measure", (load.base_url, stream_id, start_at))


if __name__ == "__main__":
    # The first message takes long: it imports and connects.
    app.connection_for_write().ensure_connection()
    for line in sys.stdin:
        publish(Load(**json.loads(line)))
        print("published", flush=True)
