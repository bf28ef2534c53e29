"""The command line's arguments."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from probes.protocols import PROTOCOLS
from probes.types import Message, Prompt, Secret, Target, Timeouts

_DEFAULT_PROMPT = "Write one short paragraph about the sea."


@dataclass(frozen=True, slots=True)
class Command:
    """What the arguments ask for."""

    target: Target
    prompt: Prompt
    timeouts: Timeouts
    as_json: bool


def parse_command(argv: Sequence[str] | None = None) -> Command:
    """Return what ``argv`` asks for; exits with status 2 where it makes no sense."""
    args = _parser().parse_args(argv)
    message = Message(role="user", content=args.prompt)
    return Command(
        target=Target(
            protocol=args.protocol,
            base_url=args.url,
            model=args.model,
            api_key=args.api_key,
            extra_headers=dict(args.header),
            extra_body=args.body,
            azure_api_version=args.azure_api_version,
            ca_file=args.ca,
            proxy=args.proxy,
            http2=args.http2,
        ),
        prompt=Prompt(messages=(message,), max_tokens=args.max_tokens),
        timeouts=Timeouts(
            connect_s=args.timeout_connect,
            first_token_s=args.timeout_first_token,
            idle_s=args.timeout_idle,
            total_s=args.timeout_total,
        ),
        as_json=args.json,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m probes",
        description="Send one measured request to a language-model endpoint.",
        epilog="Exit status: 0 the answer is complete, 1 it is not, 2 bad usage.",
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("--protocol", required=True, choices=sorted(PROTOCOLS))
    add("--url", required=True, type=_http_url, help="what the vendor's SDK takes")
    add("--model", required=True)
    add("--json", action="store_true", help="print one JSON object")
    add("--api-key-env", dest="api_key", type=_variable, metavar="VAR")
    add("--prompt", default=_DEFAULT_PROMPT, metavar="TEXT")
    add("--max-tokens", type=_positive_int, default=256, metavar="N")
    add("--header-env", dest="header", type=_header, action="append", default=[],
        metavar="NAME=VAR")  # fmt: skip
    add("--body-json", dest="body", type=_object, default={}, metavar="JSON")
    add("--azure-api-version", metavar="V")
    add("--ca", type=_file, metavar="FILE", help="trust this authority alone")
    add("--proxy", type=_http_url, metavar="URL")
    add("--http2", action="store_true", help="where the server agrees to it")
    for name, seconds in _TIMEOUTS.items():
        add(f"--timeout-{name}", type=_seconds, default=seconds, metavar="S")
    return parser


_DEFAULTS = Timeouts()
_TIMEOUTS = {
    "connect": _DEFAULTS.connect_s,
    "first-token": _DEFAULTS.first_token_s,
    "idle": _DEFAULTS.idle_s,
    "total": _DEFAULTS.total_s,
}


def _variable(name: str) -> Secret:
    value = os.environ.get(name)
    if not value:
        raise argparse.ArgumentTypeError(f"the variable {name} is not set")
    return Secret(value)


def _header(text: str) -> tuple[str, Secret]:
    name, separator, variable = text.partition("=")
    if not name or not separator:
        raise argparse.ArgumentTypeError("expected NAME=VAR")
    return name, _variable(variable)


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise argparse.ArgumentTypeError("expected a JSON object")
    return value


def _http_url(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise argparse.ArgumentTypeError("expected an http or https URL")
    return text


def _file(text: str) -> str:
    if not Path(text).is_file():
        raise argparse.ArgumentTypeError(f"no such file: {text}")
    return text


def _positive_int(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("expected a positive number")
    return number


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 < seconds < float("inf"):
        raise argparse.ArgumentTypeError("expected a positive number of seconds")
    return seconds
