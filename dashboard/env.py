"""Every setting that the environment can give, with its type and default.

Each ``NAME`` may also be given as ``NAME_FILE``, the path of a file that holds the
value, which is how secrets are best passed. ``docs/operations.md`` describes each;
a test compares the two.
"""

from __future__ import annotations

from typing import Any

import environ

SCHEME: dict[str, tuple[Any, Any]] = {
    "SECRET_KEY": (str, ""),
    "ENCRYPTION_KEYS": (list, []),
    "DEBUG": (bool, False),
    "ALLOWED_HOSTS": (list, ["localhost", "127.0.0.1", "[::1]"]),
    "CSRF_TRUSTED_ORIGINS": (list, []),
    "HTTPS": (bool, False),
    "DATABASE_URL": (str, ""),
    "DATABASE_POOL_SIZE": (int, 20),
    "REDIS_URL": (str, ""),
    "EMAIL_URL": (str, "consolemail://"),
    "EMAIL_FROM": (str, "TokenPulse <tokenpulse@localhost>"),
    "ALERT_MAIL_TO": (list, []),
    "BASE_URL": (str, "http://localhost:8000"),
    "SIMULATOR_URL": (str, ""),
    "KEY_VARIABLES": (list, ["*_API_KEY"]),
    "VANTAGE": (str, ""),
    "KEEP_RAW_DAYS": (int, 30),
    "KEEP_5MIN_DAYS": (int, 90),
    "KEEP_1H_DAYS": (int, 730),
    "KEEP_1D_DAYS": (int, 0),
    "DEMO_PASSWORD": (str, ""),
    "LOG_LEVEL": (str, "INFO"),
}


class MissingSetting(RuntimeError):
    """A setting without which the product must not start."""


def read() -> environ.FileAwareEnv:
    """The environment, typed by ``SCHEME``.

    Raises ``MissingSetting`` where a value is needed that has no safe default.
    """
    env = environ.FileAwareEnv(**SCHEME)
    for name in ("SECRET_KEY", "ENCRYPTION_KEYS", "DATABASE_URL", "REDIS_URL"):
        if not env(name):
            raise MissingSetting(
                f"{name} is not set. `make up` sets it for a trial on this machine; "
                f"elsewhere give {name} or {name}_FILE (see docs/operations.md)."
            )
    return env
