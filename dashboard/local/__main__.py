"""``python -m dashboard.local up``: TokenPulse on this machine, with all it needs."""

from __future__ import annotations

import argparse
import sys

from dashboard.local.up import up


def main() -> int:
    """Run the command line. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m dashboard.local")
    commands = parser.add_subparsers(required=True, metavar="up")
    command = commands.add_parser("up", help="start everything, until Ctrl-C")
    command.add_argument("--data", default="var", help="data folder (%(default)s)")
    command.add_argument("--host", default="127.0.0.1", help="(%(default)s)")
    command.add_argument(
        "--port",
        type=int,
        default=8000,
        help="the next free one is taken where it is in use (%(default)s)",
    )
    options = parser.parse_args()
    return up(options.data, options.host, options.port)


if __name__ == "__main__":
    sys.exit(main())
