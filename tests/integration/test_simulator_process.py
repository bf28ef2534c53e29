"""``python -m probes.simulator`` as a process: its start, its stop, its complaints."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

ROOT = Path(__file__).resolve().parents[2]
STREAM = {
    "model": "steady",
    "messages": [{"role": "user", "content": "Hello"}],
    "stream": True,
}


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_prints_its_address_serves_and_stops_cleanly(stop):
    command = [sys.executable, "-m", "probes.simulator", "--port", "0"]
    command += ["--api-key-env", "SIMULATOR_KEY"]
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env=os.environ | {"SIMULATOR_KEY": "k"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        try:
            line = process.stdout.readline()
            base_url = line.split()[2]
            with httpx.Client(
                trust_env=False, headers={"authorization": "Bearer k"}
            ) as client:
                models = client.get(f"{base_url}/models").json()["data"]
                names = [model["id"] for model in models]
                assert names == ["steady", "loaded", "flaky"]
                cut_a_stream(client, base_url)
                with stalled_stream(client, base_url):
                    process.send_signal(stop)
                    process.wait(timeout=5)
            assert process.returncode == 0
            assert process.stderr.read() == ""
        finally:
            process.kill()


def cut_a_stream(client, base_url):
    """A cut is no error of the server, so nothing may be logged about it."""
    root = base_url.removesuffix("/v1")
    client.post(f"{root}/faults/steady/cut").raise_for_status()
    body = STREAM
    with pytest.raises(httpx.RemoteProtocolError):
        client.post(f"{base_url}/chat/completions", json=body)


@contextmanager
def stalled_stream(client, base_url):
    """An answer that is far from its end."""
    root = base_url.removesuffix("/v1")
    client.post(f"{root}/faults/off").raise_for_status()
    client.post(f"{root}/faults/steady/stall?value=60").raise_for_status()
    body = STREAM
    url = f"{base_url}/chat/completions"
    with client.stream("POST", url, json=body) as response:
        next(response.iter_lines())
        yield


def test_says_that_its_port_is_taken():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        ended = subprocess.run(
            [sys.executable, "-m", "probes.simulator", "--port", port],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=20,
        )
    assert ended.returncode == 1
    assert f"port {port}" in ended.stderr and "in use" in ended.stderr
