"""The OpenAI SDK: sent when it hands the request to its HTTP client, which is the last
that it tells; connecting comes after that."""

from __future__ import annotations

import httpx2
from openai import AsyncOpenAI

from tests.bench.rivals.request import BODY, TIMEOUT_S, Clock


class Rival:
    def __init__(self) -> None:
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=0)
        http = httpx2.AsyncClient(
            limits=limits, timeout=TIMEOUT_S, event_hooks={"request": [self._sent]}
        )
        self._client = AsyncOpenAI(api_key="none", http_client=http)
        self._clocks: dict[str, Clock] = {}

    async def _sent(self, request: httpx2.Request) -> None:
        self._clocks[request.headers["x-stream"]].sent()

    async def ask(self, base_url: str, stream_id: str) -> list[float]:
        self._client.base_url = f"{base_url}/v1"
        clock = self._clocks[stream_id] = Clock()
        stream = await self._client.chat.completions.create(
            **BODY, extra_headers={"x-stream": stream_id}
        )
        async for chunk in stream:
            if chunk.choices and chunk.choices[0].delta.content:
                clock.token()
        return self._clocks.pop(stream_id).tokens_ms()
