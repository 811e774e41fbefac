"""The application: from a configuration to something that uvicorn can serve.

guard ─► session and token (door) ─► route ─► handler in a thread, or job and grid ─► response
  └── host, size, headers            └── refusals become JSON; what breaks becomes one constant word
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from ..errors import DiscreetError
from ..wire.reply import refusal_to_json, status_of
from .api.endpoint import Reply
from .api.routes import api_routes, send
from .config import CONFIG_VARIABLE, Config, read_config
from .http.audit_log import place_of
from .http.authentication import Unauthenticated
from .http.middleware import guard_app
from .http.rate_limit import TooMany
from .jobs.planning_pool import WorkerFailed
from .pages.routes import routes as page_routes
from .state import State, open_state

SWITCH = 0.0005
"""Seconds after which a thread that computes lets others go on: a request changes threads some thirty times, and would
wait for each thread that draws noise five milliseconds every time."""
SELDOM = (50_000, 10, 10)
"""How seldom garbage is looked for, and never among what is there before the first request: all threads stand still for
it, a tenth of a second each time an answer of thousands of numbers is made."""


def from_environment() -> ASGIApp:
    """Build the application of the configuration that the environment names; for uvicorn's workers."""
    sys.setswitchinterval(SWITCH)
    app = build_app(read_config(os.environ[CONFIG_VARIABLE]))
    gc.collect()
    gc.freeze()
    gc.set_threshold(*SELDOM)
    return app


def build_app(config: Config, state: State | None = None) -> ASGIApp:
    """Build the application; everything that can be missing is opened, and refused, here and not at a request."""
    held = open_state(config) if state is None else state

    @asynccontextmanager
    async def life(_: Starlette) -> AsyncIterator[None]:
        held.jobs.start()
        try:
            yield
        finally:
            await run_in_threadpool(held.close)

    app = Starlette(
        routes=[*api_routes(held), *page_routes(held)],
        lifespan=life,
        exception_handlers={
            DiscreetError: _handle_refusal(held),
            TooMany: _too_many,
            HTTPException: _http,
            Exception: _broken(held),
        },
    )
    app.router.redirect_slashes = False
    return guard_app(app, config, held.metrics)


Handler = Callable[[Request, Exception], Awaitable[Response]]


def _handle_refusal(state: State) -> Handler:
    async def refused(request: Request, raised: Exception) -> Response:
        refusal = raised if isinstance(raised, DiscreetError) else DiscreetError()
        status = 401 if isinstance(refusal, Unauthenticated) else status_of(refusal)
        _note(state, request, status)
        headers = {"WWW-Authenticate": "Bearer"} if status == 401 else {}
        headers |= {"Retry-After": "1"} if status == 503 else {}
        return send(Reply(refusal_to_json(refusal), status, headers))

    return refused


async def _too_many(_request: Request, refusal: Exception) -> Response:
    seconds = refusal.seconds if isinstance(refusal, TooMany) else 1
    body = {"error": {"kind": "NotAllowed", "message": str(refusal)}}
    return send(Reply(body, 429, {"Retry-After": str(seconds)}))


async def _http(_request: Request, refusal: Exception) -> Response:
    status = refusal.status_code if isinstance(refusal, HTTPException) else 400
    words = {404: "there is nothing here", 405: "this path is not used with this method"}
    words |= {408: "the body did not come in time; send it at once", 413: "the body is too large"}
    message = words.get(status, "the request is not understood")
    body = {"error": {"kind": "InvalidArgument", "message": f"{message}; see /api/v1/openapi.json"}}
    return send(Reply(body, status, dict(getattr(refusal, "headers", None) or {})))


def _broken(state: State) -> Handler:
    async def broken(request: Request, problem: Exception) -> Response:
        place = problem.place if isinstance(problem, WorkerFailed) else place_of(problem)
        _note(state, request, 500, f"error {place}")
        return send(Reply(refusal_to_json(None), 500))

    return broken


def _note(state: State, request: Request, status: int, verb: str = "") -> None:
    """Write a refusal to the audit log: who, what way, which data set; never what was sent."""
    known = request.state
    state.log.write(
        verb or getattr(known, "verb", "enter"),
        who=getattr(known, "person", ""),
        dataset=getattr(known, "dataset", ""),
        status=status,
    )
