"""Pages about users for stewards: add, renew, revoke; a token is shown once."""

from __future__ import annotations

import time
from datetime import UTC, datetime

from starlette.responses import Response
from starlette.routing import Route

from ...errors import DiscreetError
from ...frozen import frozen
from ...wire.json_text import write_json
from ...wire.reply import status_of
from ..api import people as crew
from ..api.endpoint import ApiCall
from ..state import State
from ..stores.people import EVERYTHING, Member
from .page_request import PageRequest, for_stewards, to
from .refusal_view import Refusal, word_refusal


def crowd_routes(state: State) -> list[Route]:
    """Return the routes of the people's page."""
    return [
        Route("/people", for_stewards(state, _page), methods=["GET"]),
        Route("/people", for_stewards(state, _add), methods=["POST"]),
        Route("/people/{person}/renew", for_stewards(state, _renew), methods=["POST"]),
        Route("/people/{person}/revoke", for_stewards(state, _revoke), methods=["POST"]),
    ]


@frozen
class PersonRow:
    """One person in the list."""

    name: str
    role: str
    reach: str
    since: str
    until: str
    state: str


def _page(
    visit: PageRequest,
    *,
    status: int = 200,
    token: str = "",
    name: str = "",
    refusal: Refusal | None = None,
) -> Response:
    seen = [one for one in visit.state.people.all() if visit.person.over(one)]
    return visit.show(
        "people.html",
        status=status,
        here="People",
        members=[_row(one) for one in seen],
        datasets=visit.state.datasets.allowed(visit.person),
        everything=EVERYTHING in visit.person.datasets,
        token=token,
        name=name,
        refusal=refusal,
        entered=visit.form,
    )


def _row(person: Member) -> PersonRow:
    state = "active" if person.active(time.time()) else "expired"
    if person.revoked:
        state = "revoked"
    reach = "all data sets" if EVERYTHING in person.datasets else ", ".join(person.datasets)
    until = "no end" if person.expires is None else _day(person.expires)
    return PersonRow(person.name, person.role, reach, _day(person.created), until, state)


def _day(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d")


def _call(visit: PageRequest, fields: dict[str, object]) -> ApiCall:
    """Word a form as the API's own request, so that its checks are the only ones."""
    return ApiCall(visit.person, dict(visit.request.path_params), {}, write_json(fields).encode())


def _add(visit: PageRequest) -> Response:
    form = visit.form
    reach = [name for name in form if name.startswith("dataset-")]
    fields: dict[str, object] = {
        "name": form.get("name", "").strip(),
        "role": form.get("role", "analyst"),
        "datasets": [name.removeprefix("dataset-") for name in reach],
        "days": form.get("days", "").strip() or None,
    }
    try:
        made = crew.add_person(visit.state, _call(visit, fields)).body
    except DiscreetError as refusal:
        words = word_refusal(type(refusal).__name__, str(refusal))
        return _page(visit, status=status_of(refusal), refusal=words)
    visit.state.log.write("people add", who=visit.person.name, status=201)
    return _show_token(visit, made)


def _renew(visit: PageRequest) -> Response:
    made = crew.renew_token(visit.state, _call(visit, {})).body
    visit.state.log.write("people renew", who=visit.person.name, status=201)
    return _show_token(visit, made)


def _show_token(visit: PageRequest, made: object) -> Response:
    """Show the token this once: it stands in this page only, and is kept nowhere."""
    fields = made if isinstance(made, dict) else {}
    return _page(visit, token=str(fields["token"]), name=str(fields["name"]))


def _revoke(visit: PageRequest) -> Response:
    crew.revoke_person(visit.state, _call(visit, {}))
    visit.state.log.write("people revoke", who=visit.person.name, status=200)
    return to("/people")
