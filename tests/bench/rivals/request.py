"""What each rival asks, and how it notes what came."""

from __future__ import annotations

import json
import time
from typing import Any

from tests.bench.stream_load import MAX_TOKENS, MODEL, PROMPT_TOKENS

TIMEOUT_S = 60.0
PATH = "/v1/chat/completions"
BODY: dict[str, Any] = {
    "model": MODEL,
    "messages": [{"role": "user", "content": "word " * PROMPT_TOKENS}],
    "stream": True,
    "max_tokens": MAX_TOKENS,
    "stream_options": {"include_usage": True},
    "temperature": 0,
}


class Clock:
    """The times of one stream, by the clock of user space."""

    def __init__(self) -> None:
        self._sent_ns = time.monotonic_ns()
        self._tokens_ns: list[int] = []

    def sent(self) -> None:
        self._sent_ns = time.monotonic_ns()

    def token(self) -> None:
        self._tokens_ns.append(time.monotonic_ns())

    def line(self, line: str | bytes) -> None:
        """Note a token where a line of the stream bears one."""
        now_ns = time.monotonic_ns()
        data = line.strip()[len("data: ") :]
        if not data or data in ("[DONE]", b"[DONE]"):
            return
        choices = json.loads(data)["choices"]
        if choices and choices[0]["delta"].get("content"):
            self._tokens_ns.append(now_ns)

    def tokens_ms(self) -> list[float]:
        return [(token_ns - self._sent_ns) / 1e6 for token_ns in self._tokens_ns]
