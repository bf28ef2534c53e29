"""The simulator as one ASGI application: OpenAI's API, the faults and the page."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from probes.simulator.chat import ChatCompletions
from probes.simulator.control import control_routes
from probes.simulator.guard import Guard
from probes.simulator.knobs import Knobs
from probes.simulator.live import Clock, LiveModel
from probes.simulator.log import RequestLog
from probes.simulator.wire import ApiError


def build_app(
    models: Sequence[Knobs], api_key: str | None = None, loopback_only: bool = True
) -> Starlette:
    """An application that serves ``models``, for one event loop.

    With ``api_key`` the API asks for it as a bearer token. ``loopback_only`` refuses
    every Host that is not this machine.
    """
    clock = Clock()
    log = RequestLog()
    live = {knobs.name: LiveModel(knobs, clock) for knobs in models}

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        tasks = [asyncio.create_task(model.run()) for model in live.values()]
        yield
        for task in tasks:
            task.cancel()

    api = [
        Route("/models", _ModelList(live, int(clock.now_s())), methods=["GET"]),
        Route("/chat/completions", ChatCompletions(live, log, clock), methods=["POST"]),
    ]
    return Starlette(
        routes=[
            Mount("/v1", routes=api, middleware=[Middleware(_Api, api_key=api_key)]),
            *control_routes(live, log, clock),
        ],
        middleware=[Middleware(Guard, loopback_only=loopback_only)],
        lifespan=lifespan,
    )


class _ModelList:
    def __init__(self, models: dict[str, LiveModel], created: int) -> None:
        self._body = {
            "object": "list",
            "data": [
                {
                    "id": name,
                    "object": "model",
                    "created": created,
                    "owned_by": "simulator",
                    "max_model_len": model.knobs.max_context_tokens,
                }
                for name, model in models.items()
            ],
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await JSONResponse(self._body)(scope, receive, send)


class _Api:
    """Checks the key, and gives every error of the API in OpenAI's form."""

    def __init__(self, app: ASGIApp, api_key: str | None) -> None:
        self._app = app
        self._api_key = api_key

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            self._check_key(Request(scope))
            await self._app(scope, receive, send)
        except ApiError as error:
            await error_response(error)(scope, receive, send)
        except HTTPException as error:
            known = ApiError(error.status_code, f"{error.detail}.")
            await error_response(known)(scope, receive, send)

    def _check_key(self, request: Request) -> None:
        if self._api_key is None:
            return
        scheme, _, key = request.headers.get("authorization", "").partition(" ")
        right = hmac.compare_digest(key.strip().encode(), self._api_key.encode())
        if scheme.lower() != "bearer" or not right:
            raise ApiError(401, "Incorrect API key provided.", code="invalid_api_key")


def error_response(error: ApiError) -> Response:
    """``error`` as OpenAI would send it."""
    headers = {}
    if error.retry_after_s is not None:
        headers["retry-after"] = str(error.retry_after_s)
    return Response(error.body(), error.status, headers, "application/json")
