"""Seeing and steering the simulator: faults, state, log, and its page."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import (
    FileResponse,
    HTMLResponse,
    JSONResponse,
    RedirectResponse,
    Response,
)
from starlette.routing import Route

from probes.simulator.faults import Fault
from probes.simulator.guard import PAGE_HEADERS
from probes.simulator.live import Clock, LiveModel
from probes.simulator.log import RequestLog
from probes.simulator.page import render_page

_CSS = Path(__file__).with_name("page.css")
_LOG_DEFAULT = 100


def control_routes(
    models: Mapping[str, LiveModel], log: RequestLog, clock: Clock
) -> list[Route]:
    """Everything beside the API itself."""
    desk = _Desk(models, log, clock)
    return [
        Route("/", desk.page),
        Route("/page.css", desk.css),
        Route("/log", desk.log),
        Route("/state", desk.state),
        Route("/faults", desk.faults),
        Route("/faults/off", desk.all_off, methods=["POST"]),
        Route("/faults/{model}/off", desk.model_off, methods=["POST"]),
        Route("/faults/{model}/{fault}", desk.switch, methods=["POST"]),
    ]


class _Desk:
    def __init__(
        self, models: Mapping[str, LiveModel], log: RequestLog, clock: Clock
    ) -> None:
        self._models = models
        self._log = log
        self._clock = clock

    async def page(self, request: Request) -> Response:
        base_url = f"{request.base_url}v1"
        html = render_page(
            list(self._models.values()), self._log, base_url, self._clock.now_s()
        )
        return HTMLResponse(html, headers=PAGE_HEADERS)

    async def css(self, request: Request) -> Response:
        return FileResponse(_CSS, headers={"cache-control": "no-cache"})

    async def log(self, request: Request) -> Response:
        """``?n=`` newest requests, ``?model=`` only its, ``?tokens=1`` every time."""
        query = request.query_params
        count = int(_number(query.get("n")) or _LOG_DEFAULT)
        records = self._log.newest(count, query.get("model"))
        with_tokens = query.get("tokens") == "1"
        return JSONResponse({"requests": [r.as_json(with_tokens) for r in records]})

    async def state(self, request: Request) -> Response:
        return JSONResponse(
            {
                name: {
                    "slots": model.knobs.slots,
                    "batch": model.engine.batch,
                    "background": model.engine.background,
                    "queue_length": model.engine.queue_length,
                }
                for name, model in self._models.items()
            }
        )

    async def faults(self, request: Request) -> Response:
        return JSONResponse(self._faults())

    async def all_off(self, request: Request) -> Response:
        for model in self._models.values():
            model.faults.clear()
        return self._done(request)

    async def model_off(self, request: Request) -> Response:
        self._model(request).faults.clear()
        return self._done(request)

    async def switch(self, request: Request) -> Response:
        """``?value=`` (or ``off``) and ``?for_s=``, in the query or as a form."""
        model = self._model(request)
        try:
            fault = Fault(request.path_params["fault"])
        except ValueError:
            raise HTTPException(404, f"Faults: {', '.join(Fault)}.") from None
        fields = await _fields(request)
        if fields.get("value") == "off":
            model.faults.switch_off(fault)
            return self._done(request)
        value, for_s = _number(fields.get("value")), _number(fields.get("for_s"))
        try:
            model.faults.switch_on(fault, value, self._clock.now_s(), for_s)
        except ValueError as error:
            raise HTTPException(400, str(error)) from None
        return self._done(request)

    def _model(self, request: Request) -> LiveModel:
        try:
            return self._models[request.path_params["model"]]
        except KeyError:
            names = ", ".join(self._models)
            raise HTTPException(404, f"Models: {names}.") from None

    def _faults(self) -> dict[str, Any]:
        now_s = self._clock.now_s()
        return {
            name: {
                fault: {"value": on.value, "until": _iso(on.until_s)}
                for fault, on in model.faults.active(now_s).items()
            }
            for name, model in self._models.items()
        }

    def _done(self, request: Request) -> Response:
        """Back to the page for its forms, the faults as JSON for everybody else."""
        if "text/html" in request.headers.get("accept", ""):
            model = request.path_params.get("model")
            return RedirectResponse(f"/#{model}" if model else "/", 303)
        return JSONResponse(self._faults())


def _iso(at_s: float | None) -> str | None:
    return None if at_s is None else datetime.fromtimestamp(at_s, UTC).isoformat()


def _number(text: str | None) -> float | None:
    if not text:
        return None
    try:
        return float(text)
    except ValueError:
        raise HTTPException(400, f"{text!r} is not a number.") from None


async def _fields(request: Request) -> dict[str, str]:
    form = (await request.body()).decode(errors="replace")
    return dict(parse_qsl(form)) | dict(request.query_params)
