"""A pytest plugin: the real PostgreSQL and Valkey that the tests run against.

It must be loaded before pytest-django reads the settings, hence ``-p`` in
``pyproject.toml`` and no conftest. One PostgreSQL serves all xdist workers (each has
a database of its own there); each worker has its own Valkey, since published
messages know no database number.
"""

from __future__ import annotations

import atexit
import base64
import os
import shutil
import tempfile
from pathlib import Path

from dashboard.local import home, postgres, valkey

_POSTGRES = "TOKENPULSE_TEST_POSTGRES"


def _start() -> None:
    folder = Path(tempfile.mkdtemp(prefix="tokenpulse-test-"))
    # PostgreSQL runs as another user where the tests run as root.
    folder.chmod(0o755)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    if _POSTGRES not in os.environ:
        atexit.register(home.remove, folder)  # root's may lie elsewhere
        database = postgres.start(folder, durable=False)
        atexit.register(database.stop)
        os.environ[_POSTGRES] = database.url
    broker = valkey.start(folder)
    atexit.register(broker.stop)
    os.environ.update(
        DATABASE_URL=os.environ[_POSTGRES],
        REDIS_URL=broker.url,
        SECRET_KEY="test",
        ENCRYPTION_KEYS=base64.urlsafe_b64encode(bytes(32)).decode(),
        ALERT_MAIL_TO="ops@example.org",
        KEY_VARIABLES="*_API_KEY",
        BASE_URL="http://tokenpulse.test",
    )


_start()
