"""Secrets of one installation: made once, kept in files that only their owner reads."""

from __future__ import annotations

import base64
import os
import secrets
import tempfile
from collections.abc import Callable
from pathlib import Path


def password() -> str:
    """A password of 128 bits, in characters that need no quoting in a URL or shell."""
    return secrets.token_urlsafe(16).replace("-", "x").replace("_", "y")


def readable_password() -> str:
    """A password that people type: 12 characters that cannot be mistaken (58 bits)."""
    alphabet = "abcdefghijkmnpqrstuvwxyz23456789"
    letters = "".join(secrets.choice(alphabet) for _ in range(12))
    return "-".join((letters[:4], letters[4:8], letters[8:]))


def fernet_key() -> str:
    """A key as ``cryptography.fernet.Fernet`` wants it: 32 bytes, URL-safe base64."""
    return base64.urlsafe_b64encode(os.urandom(32)).decode()


def keep(file: Path, make: Callable[[], str]) -> str:
    """The secret in ``file``; where there is none yet, ``make`` makes it."""
    if not file.exists():
        write(file, make())
    return file.read_text()


def write(file: Path, value: str) -> Path:
    """Put ``value`` into ``file`` as a whole or not at all, readable by us alone."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=file.parent)  # mode 0600
    with os.fdopen(handle, "w") as stream:
        stream.write(value)
        stream.flush()
        os.fsync(stream.fileno())
    return Path(temporary).replace(file)
