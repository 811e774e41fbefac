"""ASGI application of the service: builds it from a configuration, so that uvicorn can serve it.

It also starts and stops the threads of jobs and streams and the PostgreSQL listener of the worker.

middleware ─► session or token ─► route ─► handler in a thread, or job and timing grid ─► response
  └── host, size, headers           └── refusals become JSON; other errors one constant message
"""

from __future__ import annotations

import atexit
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
from .config import CONFIG_VARIABLE, POSTGRES_VARIABLE, Config, read_config
from .http.audit_log import place_of
from .http.authentication import Unauthenticated
from .http.middleware import guard_app
from .http.rate_limit import TooMany
from .jobs.planning_pool import WorkerFailed
from .pages.routes import routes as page_routes
from .postgres.listener import listening
from .state import State, open_state

SWITCH_SECONDS = 0.0005
"""Longest time for which a computing thread keeps the interpreter lock while others wait.

A request changes threads some thirty times. Python's default of five milliseconds would be waited for at
each change while another thread draws noise.
"""

GC_THRESHOLDS = (50_000, 10, 10)
"""Garbage collection thresholds, higher than Python's default.

A collection stops all threads: a tenth of a second each time an answer of thousands of numbers is made.
"""

HTTP_MESSAGES = {
    404: "there is nothing here",
    405: "this path is not used with this method",
    408: "the body did not come in time; send it at once",
    413: "the body is too large",
}

Handler = Callable[[Request, Exception], Awaitable[Response]]


def from_environment() -> ASGIApp:
    """Build the application of the configuration that DISCREET_CONFIG names; for uvicorn's workers.

    It also tunes thread switching and garbage collection of the process.
    """
    sys.setswitchinterval(SWITCH_SECONDS)
    config = read_config(os.environ[CONFIG_VARIABLE])
    app = build_app(config, postgres=os.environ.get(POSTGRES_VARIABLE, ""))
    # Objects that exist before the first request live as long as the process. Frozen ones are not
    # examined again by later collections.
    gc.collect()
    gc.freeze()
    # At the end all are examined once more: extension modules report what is still frozen as leaked.
    atexit.register(gc.unfreeze)
    gc.set_threshold(*GC_THRESHOLDS)
    return app


def build_app(config: Config, state: State | None = None, *, postgres: str = "") -> ASGIApp:
    """Build the application; `state` is opened from the configuration if it is not given.

    `postgres` is address and port of the PostgreSQL listener, such as 127.0.0.1:5433; "" for none.

    Refuses: all that `open_state` refuses, here and not at the first request.
    """
    if state is None:
        state = open_state(config)
    opened = state

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        opened.jobs.start()
        opened.streams.start()
        try:
            async with listening(opened, postgres):
                yield
        finally:
            # Closing waits for running jobs, so it must not block the event loop.
            await run_in_threadpool(opened.close)

    app = Starlette(
        routes=[*api_routes(opened), *page_routes(opened)],
        lifespan=lifespan,
        exception_handlers={
            DiscreetError: _refusal_handler(opened),
            TooMany: _handle_too_many,
            HTTPException: _handle_http_error,
            Exception: _failure_handler(opened),
        },
    )
    app.router.redirect_slashes = False
    return guard_app(app, config, opened.metrics)


def _refusal_handler(state: State) -> Handler:
    """Return the handler that turns errors of the library into JSON replies with their status."""

    async def handle(request: Request, raised: Exception) -> Response:
        refusal = raised if isinstance(raised, DiscreetError) else DiscreetError()
        status = status_of(refusal)
        if isinstance(refusal, Unauthenticated):
            status = 401
        _log_error(state, request, status)
        headers = {}
        if status == 401:
            headers["WWW-Authenticate"] = "Bearer"
        if status == 503:
            headers["Retry-After"] = "1"
        return send(Reply(refusal_to_json(refusal), status, headers))

    return handle


async def _handle_too_many(_request: Request, refusal: Exception) -> Response:
    seconds = refusal.seconds if isinstance(refusal, TooMany) else 1
    body = {"error": {"kind": "NotAllowed", "message": str(refusal)}}
    return send(Reply(body, 429, {"Retry-After": str(seconds)}))


async def _handle_http_error(_request: Request, refusal: Exception) -> Response:
    """Turn an HTTP error of the framework, such as 404, into a JSON reply."""
    status = refusal.status_code if isinstance(refusal, HTTPException) else 400
    reason = HTTP_MESSAGES.get(status, "the request is not understood")
    message = f"{reason}; see /api/v1/openapi.json"
    body = {"error": {"kind": "InvalidArgument", "message": message}}
    headers = getattr(refusal, "headers", None) or {}
    return send(Reply(body, status, dict(headers)))


def _failure_handler(state: State) -> Handler:
    """Return the handler that turns unexpected errors into status 500 with a constant message."""

    async def handle(request: Request, problem: Exception) -> Response:
        # The log gets the place in the program only: the message of an error may quote data.
        if isinstance(problem, WorkerFailed):
            code_place = problem.place
        else:
            code_place = place_of(problem)
        _log_error(state, request, 500, f"error {code_place}")
        return send(Reply(refusal_to_json(None), 500))

    return handle


def _log_error(state: State, request: Request, status: int, verb: str = "") -> None:
    """Write a refusal or failure to the audit log: user, data set, status and verb, never the request's body.

    Of a failure the verb is its place in the program; "enter" where nobody was recognised yet.
    """
    known = request.state
    state.log.write(
        verb or getattr(known, "verb", "enter"),
        who=getattr(known, "person", ""),
        dataset=getattr(known, "dataset", ""),
        status=status,
    )
