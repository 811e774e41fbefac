"""Table of all API endpoints under /api/v1; routes and the OpenAPI document follow from it.

The endpoints of verbs follow from `wire/verbs/table.py`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from ...wire.verbs.table import VERBS
from ..http.authentication import MARK, enter, require_steward
from ..state import State
from ..stores.people import Member
from . import budget, dashboards, streams, verbs
from . import people as crew
from .endpoint import ApiCall, Endpoint, Reply
from .openapi import document
from .record import make_record
from .verbs import verb_endpoint

ROOT = "/api/v1"

# A function named in the table gives the endpoint its operation id: renaming it breaks clients.
ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint("GET", "/me", "Say who is asking.", crew.get_me, gives="Person"),
    Endpoint(
        "GET",
        "/datasets",
        "List the data sets of this person.",
        crew.list_datasets,
        gives="DataSets",
    ),
    Endpoint(
        "GET",
        "/datasets/{name}",
        "Give the public facts of a data set.",
        crew.describe_dataset,
        gives="DataSet",
    ),
    Endpoint(
        "GET",
        "/datasets/{name}/values/{table}/{column}",
        "List a public column's values.",
        crew.list_values,
        gives="Values",
    ),
    *(
        verb_endpoint(verb, "/datasets/{name}/" + (verb.path or verb.name))
        for verb in VERBS.values()
    ),
    Endpoint(
        "GET",
        "/jobs/{job}",
        "Say how far a job is, or what came of it.",
        verbs.get_job,
        gives="Job",
    ),
    Endpoint(
        "DELETE",
        "/jobs/{job}",
        "Stop a job; what was charged stays charged.",
        verbs.cancel_job,
        status=(202,),
    ),
    Endpoint(
        "GET",
        "/datasets/{name}/left",
        "Say what may still be spent.",
        budget.get_left,
        gives="Left",
    ),
    Endpoint(
        "GET", "/datasets/{name}/spent", "Say what was spent.", budget.get_spent, gives="Spent"
    ),
    Endpoint(
        "GET",
        "/datasets/{name}/history",
        "List the last entries: one's own, a steward everybody's.",
        budget.list_history,
        gives="History",
        query=("last",),
    ),
    Endpoint(
        "GET",
        "/datasets/{name}/receipt/{number}",
        "Give the receipt of a charge, by one's own number; to stewards by the ledger's, or as `ana:2`.",
        budget.get_receipt,
        gives="Receipt",
    ),
    Endpoint(
        "GET",
        "/datasets/{name}/streams",
        "List the standing reports.",
        streams.list_streams,
        gives="Streams",
    ),
    Endpoint(
        "GET",
        "/datasets/{name}/streams/{stream}",
        "Show what a standing report has published.",
        streams.show_stream,
        gives="StreamSums",
        query=("by", "last", "from", "to", "level", "joint"),
    ),
    Endpoint(
        "GET",
        "/datasets/{name}/streams/{stream}/terms",
        "Give the stored terms of a standing report.",
        streams.get_terms,
        gives="StreamTerms",
    ),
    Endpoint(
        "GET",
        "/datasets/{name}/streams/{stream}/totals",
        "Give stored running totals.",
        streams.get_totals,
        gives="StreamTotals",
        query=("first",),
    ),
    Endpoint(
        "POST",
        "/datasets/{name}/streams/{stream}/close",
        "Close the days that are due.",
        streams.close_stream,
        who="steward",
        gives="StreamSums",
    ),
    Endpoint(
        "POST",
        "/datasets/{name}/streams/{stream}/stop",
        "Stop a standing report for good.",
        streams.stop_stream,
        who="steward",
        takes="StopRequest",
        gives="StreamState",
    ),
    Endpoint(
        "GET",
        "/datasets/{name}/dashboards",
        "List the dashboards: one's own, and shared ones.",
        dashboards.list_dashboards,
        gives="Dashboards",
    ),
    Endpoint(
        "POST",
        "/datasets/{name}/dashboards",
        "Make a dashboard of one's own answers.",
        dashboards.make_dashboard,
        takes="DashboardRequest",
        gives="Dashboard",
        status=(201,),
    ),
    Endpoint(
        "GET",
        "/datasets/{name}/dashboards/{dashboard}",
        "Show a dashboard.",
        dashboards.show_dashboard,
        gives="DashboardShown",
    ),
    Endpoint(
        "POST",
        "/datasets/{name}/dashboards/{dashboard}",
        "Change one's own dashboard.",
        dashboards.change_dashboard,
        takes="DashboardRequest",
        gives="Dashboard",
    ),
    Endpoint(
        "DELETE",
        "/datasets/{name}/dashboards/{dashboard}",
        "Delete one's own dashboard; a steward takes a shared one back.",
        dashboards.remove_dashboard,
        gives="Dashboard",
    ),
    Endpoint(
        "GET",
        "/datasets/{name}/dashboards/{dashboard}/refresh",
        "Say what asking each answer of one's own dashboard again would cost.",
        dashboards.price_refresh,
        gives="RefreshPrices",
    ),
    Endpoint(
        "POST",
        "/datasets/{name}/dashboards/{dashboard}/refresh",
        "Ask answers of one's own dashboard again, at their price.",
        dashboards.refresh_dashboard,
        takes="RefreshRequest",
        gives="Refreshed",
        keyed=True,
    ),
    Endpoint("GET", "/jobs", "List all open jobs.", verbs.list_jobs, who="steward", gives="Jobs"),
    Endpoint("GET", "/people", "List the people.", crew.list_people, who="steward", gives="People"),
    Endpoint(
        "POST",
        "/people",
        "Take in somebody new.",
        crew.add_person,
        who="steward",
        takes="PersonRequest",
        gives="NewPerson",
        status=(201,),
    ),
    Endpoint(
        "POST",
        "/people/{person}/token",
        "Give a new token.",
        crew.renew_token,
        who="steward",
        takes="TokenRequest",
        gives="Token",
        status=(201,),
    ),
    Endpoint(
        "POST",
        "/people/{person}/identity",
        "Bind somebody to an identity of the provider.",
        crew.bind_identity,
        who="steward",
        takes="IdentityRequest",
        gives="Identity",
    ),
    Endpoint(
        "DELETE",
        "/people/{person}",
        "Shut somebody out for good.",
        crew.revoke_person,
        who="steward",
        gives="Person",
    ),
    Endpoint(
        "POST",
        "/datasets/{name}/allow",
        "Give an allowance.",
        budget.set_allowance,
        who="steward",
        takes="AllowanceRequest",
        gives="Allowed",
        status=(201,),
    ),
    Endpoint(
        "POST",
        "/datasets/{name}/record",
        "Make the public record.",
        make_record,
        who="steward",
        takes="RecordRequest",
        gives="PublicRecord",
    ),
    Endpoint(
        "GET",
        "/datasets/{name}/ledger/verify",
        "Prove the chain.",
        budget.verify_ledger,
        who="steward",
        gives="Verified",
    ),
    Endpoint(
        "GET",
        "/datasets/{name}/ledger/export",
        "Give the chain as lines of JSON.",
        budget.export_ledger,
        who="steward",
    ),
)


def api_routes(state: State) -> list[BaseRoute]:
    """Return the routes of the API: ENDPOINTS, and without a token health, metrics and OpenAPI."""
    # Made once: the document depends on the configuration alone.
    described = document(ENDPOINTS, ROOT, state.config)

    async def health(_: Request) -> Response:
        return send(crew.get_health(state))

    async def metrics(_: Request) -> Response:
        return send(Reply(state.metrics.text(), kind="text/plain; version=0.0.4"))

    async def openapi(_: Request) -> Response:
        return send(Reply(described))

    routes: list[BaseRoute] = [
        Route(ROOT + "/health", health, methods=["GET"]),
        Route("/metrics", metrics, methods=["GET"]),
        Route(ROOT + "/openapi.json", openapi, methods=["GET"]),
    ]
    for endpoint in ENDPOINTS:
        respond = _responder(state, endpoint)
        routes.append(Route(ROOT + endpoint.path, respond, methods=[endpoint.method]))
    return routes


def send(reply: Reply) -> Response:
    """Convert a reply to a response of Starlette."""
    return Response(reply.content(), reply.status, dict(reply.headers), reply.kind)


def _responder(state: State, endpoint: Endpoint) -> Callable[[Request], Awaitable[Response]]:
    """Return the function that authenticates, runs the endpoint and writes the audit log.

    Law: tests/service/test_security.py::TestTheDoor
    """

    async def respond(request: Request) -> Response:
        # Authentication comes first: nothing of a stranger's body is read.
        person = await run_in_threadpool(_authenticate, state, request, endpoint)
        request.state.person = person.name
        request.state.verb = f"{endpoint.method} {endpoint.path}"
        call = await _read_call(request, person)
        dataset = call.path.get("name", "")
        if dataset not in state.datasets.names:
            # Text of unknown data sets stays out of the audit log.
            dataset = ""
        request.state.dataset = dataset
        if endpoint.waiter is not None:
            reply = await endpoint.waiter(state, call)
        else:
            reply = await _run_blocking(state, request, call, endpoint)
        state.log.write(
            request.state.verb, who=person.name, dataset=request.state.dataset, status=reply.status
        )
        return send(reply)

    return respond


async def _run_blocking(state: State, request: Request, call: ApiCall, endpoint: Endpoint) -> Reply:
    """Run a handler in a thread, and tell it when the client disconnects."""
    # Free work has threads of its own, so that long work does not hold up short requests.
    run = state.planning_pool.run if endpoint.in_planning_pool else run_in_threadpool
    disconnection = asyncio.ensure_future(_watch_disconnect(request, call))
    try:
        return await run(_handle, state, call, endpoint)
    finally:
        disconnection.cancel()


async def _watch_disconnect(request: Request, call: ApiCall) -> None:
    """Set `call.gone` when the client disconnects: free work for it then stops.

    Law: tests/service/test_stopping.py::TestWhoHangsUp
    """
    message = await request.receive()
    while message["type"] != "http.disconnect":
        message = await request.receive()
    call.gone.set()


def _handle(state: State, call: ApiCall, endpoint: Endpoint) -> Reply:
    """Run the handler; work outside the planning pool takes one of its person's slots.

    Refuses: a data set that is not among the person's, in the same words as an unknown one. A
    dashboard has an address of its own, so its handler checks it.
    """
    handler = endpoint.handler
    assert handler is not None  # noqa: S101 - the caller runs an endpoint with a waiter itself
    if "name" in call.path and "dashboard" not in call.path:
        state.datasets.check(call.person, call.dataset)
    if endpoint.in_planning_pool:
        # The planning pool has a queue and limits for each person of its own.
        return handler(state, call)
    with state.turns.turn(call.person.name):
        return handler(state, call)


def _authenticate(state: State, request: Request, endpoint: Endpoint) -> Member:
    person = enter(state, request).person
    if endpoint.who == "steward":
        require_steward(person)
    return person


async def _read_call(request: Request, person: Member) -> ApiCall:
    """Read the body; the middleware ends requests whose body comes too slowly."""
    body = await request.body()
    query = dict(request.query_params)
    key = request.headers.get(MARK, "")
    return ApiCall(person, request.path_params, query, body, key)
