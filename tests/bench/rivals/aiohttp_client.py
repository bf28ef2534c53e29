"""aiohttp: sent when its trace says that the body was handed over."""

from __future__ import annotations

from typing import Any

import aiohttp

from tests.bench.rivals.request import BODY, PATH, TIMEOUT_S, Clock


class Rival:
    def __init__(self) -> None:
        trace = aiohttp.TraceConfig()
        trace.on_request_chunk_sent.append(self._sent)
        self._client = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, force_close=True),
            timeout=aiohttp.ClientTimeout(total=TIMEOUT_S),
            trace_configs=[trace],
        )

    @staticmethod
    async def _sent(session: object, context: Any, parameters: object) -> None:
        context.trace_request_ctx.sent()

    async def ask(self, base_url: str, stream_id: str) -> list[float]:
        clock = Clock()
        async with self._client.post(
            f"{base_url}{PATH}",
            json=BODY,
            headers={"x-stream": stream_id},
            trace_request_ctx=clock,
        ) as response:
            async for line in response.content:
                clock.line(line)
        return clock.tokens_ms()
