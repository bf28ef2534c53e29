"""``POST /v1/chat/completions``: an ASGI endpoint that writes tokens on time."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Literal
from uuid import uuid4

from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from probes.simulator.answer import Plan, plan_answer, troubles
from probes.simulator.knobs import jitter
from probes.simulator.live import Clock, LiveModel
from probes.simulator.log import Record, RequestLog, Stamp
from probes.simulator.tokens import answer_text, render_prompt
from probes.simulator.wire import (
    ApiError,
    ChatRequest,
    ChunkWriter,
    Usage,
    completion,
    parse_chat,
)

Reason = Literal["stop", "length"]


class ChatCompletions:
    """Routes each request to its model, and gives up when the client goes away."""

    def __init__(
        self, models: Mapping[str, LiveModel], log: RequestLog, clock: Clock
    ) -> None:
        self._models = models
        self._log = log
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Raises ``ApiError`` before the first byte; see ``app.error_response``."""
        body = await Request(scope, receive).body()
        received = Stamp.now()
        chat = parse_chat(body)
        model = self._models.get(chat.model)
        if model is None:
            raise ApiError(
                404,
                f"The model '{chat.model}' does not exist.",
                code="model_not_found",
                param="model",
            )
        exchange = _Exchange(chat, model, self._clock, received)
        self._log.add(exchange.record)
        exchange.refuse_if_planned()
        await _unless_disconnected(exchange, receive, send)


async def _unless_disconnected(
    exchange: _Exchange, receive: Receive, send: Send
) -> None:
    answering = asyncio.ensure_future(exchange.answer(send))
    leaving = asyncio.ensure_future(_disconnected(receive))
    try:
        await asyncio.wait({answering, leaving}, return_when="FIRST_COMPLETED")
    finally:
        leaving.cancel()
        if not answering.done():
            answering.cancel()
            exchange.record.outcome = "disconnected"
    if answering.done():
        answering.result()


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


class _Exchange:
    """One request and its answer."""

    def __init__(
        self, chat: ChatRequest, model: LiveModel, clock: Clock, received: Stamp
    ) -> None:
        knobs = model.knobs
        prompt = render_prompt(chat.messages)
        wanted = chat.max_tokens or knobs.answer_tokens
        tokens = wanted if chat.ignore_eos else min(wanted, knobs.answer_tokens)
        _check_context(len(prompt) + wanted, knobs.max_context_tokens)
        cached = model.cache.take(prompt)
        self._random = model.next_random()
        met = troubles(knobs, model.faults, self._random, clock.now_s())
        self._plan: Plan = plan_answer(
            knobs, met, self._random, len(prompt) - cached, tokens
        )
        self._chat, self._model, self._clock = chat, model, clock
        self._created = received.wall_ns // 1_000_000_000
        self._reason: Reason = "length" if tokens == chat.max_tokens else "stop"
        self._usage = Usage(
            prompt_tokens=len(prompt), cached_tokens=cached, completion_tokens=tokens
        )
        self.record = Record(
            id=f"chatcmpl-{uuid4().hex}",
            model=knobs.name,
            stream=chat.stream,
            received=received,
            prompt_tokens=len(prompt),
            cached_tokens=cached,
        )

    def refuse_if_planned(self) -> None:
        status = self._plan.refuse_status
        if status is None:
            return
        self.record.outcome = str(status)
        if status == 429:
            raise ApiError(
                429,
                "Rate limit reached: a fault of the simulated endpoint.",
                kind="requests",
                code="rate_limit_exceeded",
                retry_after_s=self._plan.retry_after_s,
            )
        raise ApiError(
            status,
            "The server had an error: a fault of the simulated endpoint.",
            kind="server_error",
        )

    async def answer(self, send: Send) -> None:
        entered_s = self._clock.now_s()
        self.record.queue_length = self._model.engine.queue_length
        async with self._model.slot(self._plan.prefill_s) as admitted_s:
            self.record.batch = self._model.engine.batch
            self.record.queued_ms = round((admitted_s - entered_s) * 1000.0, 3)
            first_due_s = admitted_s + self._plan.prefill_s
            if self._chat.stream:
                await self._stream(send, first_due_s)
            else:
                await self._whole(send, first_due_s)
        self.record.outcome = self._plan.outcome

    async def _stream(self, send: Send, due_s: float) -> None:
        plan, record = self._plan, self.record
        chunks = ChunkWriter(
            record.id, self._created, record.model, self._chat.include_usage
        )
        await send(_start(record.id, b"text/event-stream; charset=utf-8"))
        await send(_part(chunks.role()))
        for index in range(plan.cut_after or plan.tokens):
            due_s = await self._token_due(index, due_s)
            await send(_part(chunks.token(index)))
            record.token_written(self._clock.now_s() - due_s)
        if plan.cut_after is None:
            await send(_part(chunks.end(self._reason, self._usage)))
            await send({"type": "http.response.body"})

    async def _whole(self, send: Send, due_s: float) -> None:
        plan, record = self._plan, self.record
        for index in range(plan.cut_after or plan.tokens):
            due_s = await self._token_due(index, due_s)
        text = answer_text(plan.tokens)
        body = completion(
            record.id, self._created, record.model, text, self._reason, self._usage
        )
        await send(_start(record.id, b"application/json", len(body)))
        if plan.cut_after is None:
            await send({"type": "http.response.body", "body": body})
        else:
            await send(_part(body[: len(body) // 2]))
        record.token_written(self._clock.now_s() - due_s)

    async def _token_due(self, index: int, due_s: float) -> float:
        """Wait for token ``index``; ``due_s`` is when the one before it was due.

        The next deadline counts from the last deadline, not from now, so that being
        late once does not shift the rest of the answer.
        """
        if index:
            sigma = self._model.knobs.jitter_sigma
            due_s += self._model.step_s() * jitter(self._random, sigma)
            if index == self._plan.stall_at:
                due_s += self._plan.stall_s
        await self._clock.wait_until(due_s)
        return due_s


def _check_context(tokens: int, limit: int) -> None:
    if tokens > limit:
        raise ApiError(
            400,
            f"This model's context has {limit} tokens; you asked for {tokens}.",
            code="context_length_exceeded",
            param="messages",
        )


def _start(
    answer_id: str, content_type: bytes, length: int | None = None
) -> dict[str, object]:
    headers = [
        (b"content-type", content_type),
        (b"cache-control", b"no-cache"),
        (b"x-request-id", answer_id.encode()),
    ]
    if length is not None:
        headers.append((b"content-length", str(length).encode()))
    return {"type": "http.response.start", "status": 200, "headers": headers}


def _part(body: bytes) -> dict[str, object]:
    return {"type": "http.response.body", "body": body, "more_body": True}
