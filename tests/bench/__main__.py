"""`make bench`: run the benchmarks, print a table, write bench.json."""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path

from tests.bench import report

# Each module has `run() -> list[Row]`; its docstring says what it measures.
BENCHMARKS = {
    "streams": "tests.bench.streams",
    "up": "tests.bench.up",
    "push": "tests.bench.push",
    "capacity": "tests.bench.capacity",
    "storage": "tests.bench.storage",
}
# Only where they are asked for by name.
LONG = {"storage-long": "tests.bench.storage_long"}


def main() -> int:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument(
        "--only", choices=[*BENCHMARKS, *LONG], help="run one benchmark"
    )
    parser.add_argument("--out", type=Path, default=Path("bench.json"))
    options = parser.parse_args()
    rows: list[report.Row] = []
    for name in [options.only] if options.only else BENCHMARKS:
        print(f"{name} …", file=sys.stderr, flush=True)
        rows += importlib.import_module((BENCHMARKS | LONG)[name]).run()
    print(report.table(rows))
    report.write(rows, options.out)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
