"""API keys at rest and at use.

A pasted key is stored encrypted (Fernet; the first of ENCRYPTION_KEYS encrypts, any
of them decrypts, so that keys can be rotated). A key named by its environment
variable is read on the worker that probes; only names that KEY_VARIABLES allows.
"""

from __future__ import annotations

import os
from fnmatch import fnmatchcase
from pathlib import Path

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings

from collectors.models.targets import EndpointFields
from probes.types import Secret


class KeyUnavailable(Exception):
    """The endpoint's API key cannot be had; the message says why and what to do."""


def _fernet() -> MultiFernet:
    return MultiFernet([Fernet(key) for key in settings.ENCRYPTION_KEYS])


def encrypt(key: str) -> str:
    return _fernet().encrypt(key.encode()).decode()


def allowed(variable: str) -> bool:
    """Whether ``variable`` may name a key: anyone who may add an endpoint could
    otherwise send any variable of the worker to a server of their own."""
    return any(fnmatchcase(variable, pattern) for pattern in settings.KEY_VARIABLES)


def _from_environment(variable: str) -> str:
    if not allowed(variable):
        raise KeyUnavailable(
            f"{variable} may not be read: KEY_VARIABLES allows "
            f"{', '.join(settings.KEY_VARIABLES)}."
        )
    if value := os.environ.get(variable):
        return value
    if path := os.environ.get(f"{variable}_FILE"):
        return Path(path).read_text().strip()
    raise KeyUnavailable(
        f"{variable} is not set on this worker. Set it where the worker starts "
        "and restart the worker, or paste the key instead."
    )


def reveal(endpoint: EndpointFields) -> Secret | None:
    """The endpoint's key, or None where it has none.

    Raises ``KeyUnavailable``.
    """
    if endpoint.key_variable:
        try:
            return Secret(_from_environment(endpoint.key_variable))
        except OSError as error:
            raise KeyUnavailable(
                f"The file named by {endpoint.key_variable}_FILE cannot be read: "
                f"{error.strerror}."
            ) from error
    if not endpoint.key_encrypted:
        return None
    try:
        return Secret(_fernet().decrypt(endpoint.key_encrypted.encode()).decode())
    except InvalidToken as error:
        raise KeyUnavailable(
            "The stored key cannot be decrypted: ENCRYPTION_KEYS has changed. "
            "Put the former key back beside the new one, or paste the API key again."
        ) from error
