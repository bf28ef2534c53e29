"""The environment that our parts run in: settings, with secrets passed by file."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote, urlsplit

import psutil

from dashboard.local import secret_files
from dashboard.local.data_folder import DataFolder

DEFAULT_PORTS = {"postgres": 5432, "postgresql": 5432, "redis": 6379, "rediss": 6379}
LOCAL_HOSTS = ("localhost", "127.0.0.1", "[::1]")


def given(name: str, source: Mapping[str, str]) -> bool:
    """Whether the user set ``name``, directly or as ``name_FILE``."""
    return bool(source.get(name) or source.get(f"{name}_FILE"))


def unreachable(name: str, source: Mapping[str, str]) -> str | None:
    """Why the server at the address in ``name`` cannot be reached; None if it can."""
    file = source.get(f"{name}_FILE")
    parts = urlsplit(Path(file).read_text().strip() if file else source[name])
    if not parts.hostname:
        return None  # a socket in the file system, or several hosts: not for us to read
    address = (parts.hostname, parts.port or DEFAULT_PORTS.get(parts.scheme, 0))
    try:
        socket.create_connection(address, timeout=5).close()
    except OSError as error:
        return f"{name} names {address[0]}:{address[1]}, which does not answer: {error}"
    return None


def build(
    data: DataFolder, host: str, port: int, base: Mapping[str, str]
) -> dict[str, str]:
    """The environment of all parts, but for the addresses of what is embedded.

    What the user set in ``base`` wins; the rest is what a trial on one machine needs.
    """
    secret_files.keep(data.secret("secret_key"), secret_files.password)
    secret_files.keep(data.secret("encryption_keys"), secret_files.fernet_key)
    secret_files.keep(data.secret("demo_password"), secret_files.readable_password)
    ours = {
        "SECRET_KEY_FILE": str(data.secret("secret_key")),
        "ENCRYPTION_KEYS_FILE": str(data.secret("encryption_keys")),
        "DEMO_PASSWORD_FILE": str(data.secret("demo_password")),
        "ALLOWED_HOSTS": ",".join(_names_of(host)),
        "BASE_URL": f"http://{shown(host)}:{port}",
        "EMAIL_URL": f"filemail:///{quote(str(data.mail))}",
        # Without anybody to mail to, the folder of mails would stay empty.
        "ALERT_MAIL_TO": "demo@localhost",
    }
    offered = {
        name: value
        for name, value in ours.items()
        if not given(name.removesuffix("_FILE"), base)
    }
    return {
        **base,
        **offered,
        "DJANGO_SETTINGS_MODULE": "dashboard.settings",
        "PYTHONUNBUFFERED": "1",
    }


def shown(host: str) -> str:
    """The host to write into an address for one that is listened on."""
    if host in ("0.0.0.0", "::", ""):
        return socket.gethostname()
    return f"[{host}]" if ":" in host else host


def _names_of(host: str) -> list[str]:
    """The names under which browsers may ask for us when we listen on ``host``."""
    if host in ("127.0.0.1", "::1", "localhost"):
        return list(LOCAL_HOSTS)
    addresses = [
        shown(address.address.partition("%")[0])
        for interface in psutil.net_if_addrs().values()
        for address in interface
        if address.family in (socket.AF_INET, socket.AF_INET6)
    ]
    return sorted({*LOCAL_HOSTS, *addresses, shown(host), socket.gethostname()})
