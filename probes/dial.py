"""Resolves a host and connects to the address that answers first."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import time
from itertools import chain, zip_longest
from typing import Any, NamedTuple

import httpcore

HEAD_START_S = 0.25
"""How long an address has before the next is tried beside it (RFC 8305)."""


class ResolveError(httpcore.ConnectError):
    """The host has no address."""


class Address(NamedTuple):
    family: socket.AddressFamily
    sockaddr: tuple[Any, ...]


class Dialed(NamedTuple):
    """A connected socket and what it took; ``dns_ms`` is null for a bare address."""

    sock: socket.socket
    dns_ms: float | None
    connect_ms: float


async def dial(host: str, port: int) -> Dialed:
    """Connect to ``host``, over IPv6 or IPv4; raises ResolveError or ConnectError."""
    started = time.perf_counter()
    addresses = await _resolve(host, port)
    resolved = time.perf_counter()
    sock = await connect_any(addresses)
    connected = time.perf_counter()
    looked_up = not _is_address(host)
    return Dialed(
        sock=sock,
        dns_ms=(resolved - started) * 1000 if looked_up else None,
        connect_ms=(connected - resolved) * 1000,
    )


async def connect_any(addresses: list[Address]) -> socket.socket:
    """Return a socket to the first of ``addresses`` that accepts.

    Each has a head start before the next one, unless it fails sooner. Raises
    ConnectError with the first failure where none accepts.
    """
    waiting = iter(addresses)
    running: set[asyncio.Task[socket.socket]] = set()
    failures: list[OSError] = []
    try:
        while True:
            address = next(waiting, None)
            if address is not None:
                running.add(asyncio.create_task(_connect(address)))
            elif not running:
                raise httpcore.ConnectError(str(failures[0]))
            done, running = await asyncio.wait(
                running,
                timeout=None if address is None else HEAD_START_S,
                return_when=asyncio.FIRST_COMPLETED,
            )
            if sock := _winner(done, failures):
                return sock
    finally:
        await _abandon(running)


def _winner(
    done: set[asyncio.Task[socket.socket]], failures: list[OSError]
) -> socket.socket | None:
    """Return one socket of the finished attempts, and close those beyond it."""
    winner: socket.socket | None = None
    for task in done:
        error = task.exception()
        if isinstance(error, OSError):
            failures.append(error)
        elif winner is None:
            winner = task.result()
        else:
            task.result().close()
    return winner


async def _abandon(running: set[asyncio.Task[socket.socket]]) -> None:
    for task in running:
        task.cancel()
    for outcome in await asyncio.gather(*running, return_exceptions=True):
        if isinstance(outcome, socket.socket):
            outcome.close()


async def _connect(address: Address) -> socket.socket:
    sock = socket.socket(address.family, socket.SOCK_STREAM)
    try:
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        await asyncio.get_running_loop().sock_connect(sock, address.sockaddr)
    except BaseException:
        sock.close()
        raise
    return sock


async def _resolve(host: str, port: int) -> list[Address]:
    """Return the host's addresses, the two families in turn, the resolver's first."""
    loop = asyncio.get_running_loop()
    flags = socket.AI_NUMERICHOST if _is_address(host) else 0
    try:
        if flags:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=flags)
        else:
            found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise ResolveError(f"{host}: {error}") from error
    addresses = [Address(family, sockaddr) for family, _, _, _, sockaddr in found]
    first = [a for a in addresses if a.family == addresses[0].family]
    second = [a for a in addresses if a.family != addresses[0].family]
    taken_in_turn = chain.from_iterable(zip_longest(first, second))
    return [address for address in taken_in_turn if address is not None]


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return True
