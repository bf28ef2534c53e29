"""TCP ports: which are free, and a web address that is held before it is served."""

from __future__ import annotations

import errno
import socket

import psutil

LOOPBACK = "127.0.0.1"
STEPS = 100


class NoFreePort(RuntimeError):
    """No port could be had; the message says which were tried, and why not."""


def free(preferred: int = 0) -> int:
    """A port of 127.0.0.1 that is free now: the first from ``preferred`` on, or any.

    Another process may take it before it is used; whoever starts a server on it must
    look whether that server came up (``Service.wait_ready`` does).
    """
    with listen(LOOPBACK, preferred) as held:
        port: int = held.getsockname()[1]
        return port


def listen(host: str, preferred: int = 0) -> socket.socket:
    """A listening socket on the first free port from ``preferred`` on (0: any).

    A server that inherits it cannot lose the port to another process, and connections
    made while that server restarts wait instead of being refused.
    """
    family, *_, address = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)[0]
    last = min(preferred + STEPS, 65536) if preferred else 1
    for port in range(preferred, last):
        held = socket.socket(family, socket.SOCK_STREAM)
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Accepted connections inherit it: small frames must not wait for an ACK.
        held.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            held.bind((address[0], port))
            held.listen(1024)
            return held
        except OSError as error:
            held.close()
            if error.errno != errno.EADDRINUSE:
                raise NoFreePort(f"{host}:{port}: {error.strerror}") from error
    raise NoFreePort(f"all ports of {host} from {preferred} to {last - 1} are taken")


def is_taken(port: int) -> bool:
    """Whether something holds ``port`` of 127.0.0.1."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return True
        return False


def listens(pid: int, port: int) -> bool:
    """Whether it is process ``pid`` that listens on ``port``, and not a stranger."""
    try:
        connections = psutil.Process(pid).net_connections(kind="tcp")
    except psutil.Error:
        return False
    return any(
        c.status == psutil.CONN_LISTEN and c.laddr.port == port for c in connections
    )
