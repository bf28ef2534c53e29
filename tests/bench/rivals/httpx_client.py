"""httpx: sent when its trace says that the body is."""

from __future__ import annotations

import httpx

from tests.bench.rivals.request import BODY, PATH, TIMEOUT_S, Clock


class Rival:
    def __init__(self) -> None:
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
        self._client = httpx.AsyncClient(limits=limits, timeout=TIMEOUT_S)

    async def ask(self, base_url: str, stream_id: str) -> list[float]:
        clock = Clock()

        async def trace(event: str, info: object) -> None:
            if event == "http11.send_request_body.complete":
                clock.sent()

        async with self._client.stream(
            "POST",
            f"{base_url}{PATH}",
            json=BODY,
            headers={"x-stream": stream_id},
            extensions={"trace": trace},
        ) as response:
            async for line in response.aiter_lines():
                clock.line(line)
        return clock.tokens_ms()
