"""``python -m probes.simulator``: serve the simulated models until stopped."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import signal
import socket
import sys

import uvicorn

from probes.simulator.app import build_app
from probes.simulator.guard import LOOPBACK_NAMES
from probes.simulator.knobs import DEFAULT_MODELS

DEFAULT_PORT = 8180
_EXPECTED = (
    "ASGI callable returned without completing response.",  # the fault "cut"
    "Cancel ",  # answers that were running at the stop
)


def main() -> None:
    args = _arguments()
    api_key = _api_key(args.api_key_env)
    listener = _listen(args.host, args.port)
    loopback_only = args.host in LOOPBACK_NAMES
    server = uvicorn.Server(
        uvicorn.Config(
            build_app(DEFAULT_MODELS, api_key, loopback_only),
            # The standard loop: uvloop rounds its clock to whole milliseconds.
            loop="asyncio",
            http="httptools",
            ws="none",
            log_level="warning",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=1,
        )
    )
    logging.getLogger("uvicorn.error").addFilter(_is_news)
    for stop in (signal.SIGINT, signal.SIGTERM):
        # uvicorn stops, then raises the signal again for the handler found here.
        signal.signal(stop, lambda *_: sys.exit(0))
    address = _address(listener)
    print(f"Simulated endpoint: {address}/v1 (its page: {address}/)", flush=True)
    server.run(sockets=[listener])


def _is_news(record: logging.LogRecord) -> bool:
    """Whether uvicorn reports something other than a cut or a stop as asked for."""
    error = record.exc_info[1] if record.exc_info else None
    cancelled = isinstance(error, asyncio.CancelledError)
    return not cancelled and not record.getMessage().startswith(_EXPECTED)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m probes.simulator",
        description="Serve simulated language models over OpenAI's chat completions.",
    )
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        help="address to bind (%(default)s); whoever can reach it can set faults",
    )
    parser.add_argument(
        "--port", type=int, default=DEFAULT_PORT, help="%(default)s; 0 takes a free one"
    )
    parser.add_argument(
        "--api-key-env",
        metavar="VAR",
        help="ask for the key in this environment variable",
    )
    return parser.parse_args()


def _api_key(variable: str | None) -> str | None:
    if variable is None:
        return None
    key = os.environ.get(variable)
    if not key:
        sys.exit(f"The environment variable {variable} is not set or empty.")
    return key


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        sys.exit(f"Cannot listen on {host} port {port}: {error.strerror}.")


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


if __name__ == "__main__":
    main()
