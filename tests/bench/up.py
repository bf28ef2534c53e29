"""From a clean clone to the first page: `make up` twice, in an empty folder."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import httpx

from dashboard.local import ports
from tests.bench.report import Row
from tests.stack import OURS, ROOT

ENVIRONMENT = {k: v for k, v in os.environ.items() if k not in OURS}


def first_page_s(clone: Path) -> float:
    """Seconds from the command to the sign-in page."""
    started = time.monotonic()
    process = subprocess.Popen(
        ["make", "up", f"PORT={ports.free(0)}"],
        cwd=clone,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        assert process.stdout
        said = []
        for line in process.stdout:
            said.append(line)
            if found := re.search(r"Ready: (\S+)", line):
                page = httpx.get(found[1], follow_redirects=True)
                page.raise_for_status()
                return time.monotonic() - started
        raise RuntimeError("".join(said))
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(60)


def run() -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "clone"
        Path(folder).chmod(0o755)
        subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
        first, later = first_page_s(clone), first_page_s(clone)
    return [
        Row(name="first `make up` to page", value=first, unit="s", goal="< 120"),
        Row(name="later `make up` to page", value=later, unit="s", goal="< 15"),
    ]
