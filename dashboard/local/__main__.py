"""``python -m dashboard.local up``: TokenPulse on this machine, with all it needs.

``doctor`` says whether what was started is well.
"""

from __future__ import annotations

import argparse
import sys

from dashboard.local.doctor import doctor
from dashboard.local.up import up


def main() -> int:
    """Run the command line. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m dashboard.local")
    commands = parser.add_subparsers(required=True, metavar="up|doctor")
    start = commands.add_parser("up", help="start everything, until Ctrl-C")
    start.add_argument("--host", default="127.0.0.1", help="(%(default)s)")
    start.add_argument(
        "--port",
        type=int,
        default=8000,
        help="the next free one is taken where it is in use (%(default)s)",
    )
    start.set_defaults(run=lambda options: up(options.data, options.host, options.port))
    look = commands.add_parser("doctor", help="say what works and what does not")
    look.set_defaults(run=lambda options: doctor(options.data))
    for command in (start, look):
        command.add_argument("--data", default="var", help="data folder (%(default)s)")
    options = parser.parse_args()
    code: int = options.run(options)
    return code


if __name__ == "__main__":
    sys.exit(main())
