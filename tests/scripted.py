"""A model server that says exactly when it wrote what."""

from __future__ import annotations

import json
import threading
import time
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self

TOKENS = 5
STEP_S = 0.02


@dataclass(frozen=True, slots=True)
class Answered:
    """``ttft_ms`` is the wait that was scripted, ``last_byte_at`` Unix time."""

    ttft_ms: float
    last_byte_at: float


class ScriptedServer:
    """Speaks OpenAI chat completions; each answer's TTFT differs from the others',
    so that a figure tells which answer it came from."""

    def __init__(self, first_ms: float = 100, step_ms: float = 20) -> None:
        self.answers: list[Answered] = []
        self._first_ms, self._step_ms = first_ms, step_ms
        self._asked = 0
        self._lock = threading.Lock()
        script = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                received = time.monotonic()
                self.rfile.read(int(self.headers["content-length"]))
                script.answer(self, received)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever)
        self.base_url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def answer(self, handler: BaseHTTPRequestHandler, received: float) -> None:
        with self._lock:
            ttft_ms = self._first_ms + self._step_ms * self._asked
            self._asked += 1
        handler.send_response(200)
        handler.send_header("content-type", "text/event-stream")
        handler.send_header("connection", "close")
        handler.end_headers()
        for n in range(TOKENS):
            due = received + ttft_ms / 1000 + n * STEP_S
            time.sleep(max(0.0, due - time.monotonic()))
            handler.wfile.write(_event({"content": f"word{n} "}))
        handler.wfile.write(_event({}, finish_reason="stop"))
        usage = {"prompt_tokens": 12, "completion_tokens": TOKENS}
        handler.wfile.write(_data({"choices": [], "usage": usage}))
        handler.wfile.write(b"data: [DONE]\n\n")
        handler.close_connection = True
        self.answers.append(Answered(ttft_ms, time.time()))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _event(delta: dict[str, str], finish_reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return _data({"model": "scripted", "choices": [choice]})


def _data(payload: object) -> bytes:
    return f"data: {json.dumps(payload)}\n\n".encode()
