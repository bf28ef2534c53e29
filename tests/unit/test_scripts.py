"""The pure ES modules, by Node's own test runner."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

TESTS = Path(__file__).parent / "js"


def test_scripts():
    node = shutil.which("node")
    if node is None:
        if os.environ.get("TOKENPULSE_REQUIRE_BROWSER"):
            pytest.fail("Node is needed to test the scripts, and is not there.")
        pytest.skip("Node is not there.")
    tests = sorted(map(str, TESTS.glob("*.test.mjs")))
    assert tests
    done = subprocess.run(
        [node, "--test", *tests], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
