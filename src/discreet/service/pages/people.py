"""Pages about users: sign in with a token and out; stewards add, renew and revoke, and see a token once."""

from __future__ import annotations

import time

from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from ...errors import DiscreetError
from ...frozen import frozen
from ...wire.json_text import write_json
from ...wire.reply import status_of
from ..api import people as crew
from ..api.endpoint import ApiCall
from ..http.authentication import address_of
from ..http.csrf import check_origin
from ..http.session import drop_cookie, set_cookie
from ..state import State
from ..stores.people import EVERYTHING, Member
from .number_text import day_of
from .page_request import (
    PageRequest,
    for_all,
    for_analysts,
    for_stewards,
    local_path,
    table_routes,
    to,
)
from .refusal_view import Refusal, refusal_of

WRONG = (
    "Nobody holds this token, or it has expired or been revoked. "
    "Check it, or ask your steward for a new one."
)
"""One message for all reasons, so that a guess learns nothing."""


def sign_routes(state: State) -> list[Route]:
    """Return the routes to sign in and out."""
    return [
        *table_routes(
            state,
            for_all,
            ("GET", "/", _home),
            ("GET", "/sign-in", _ask),
            ("POST", "/sign-in", _open),
        ),
        *table_routes(
            state,
            for_analysts,
            ("POST", "/sign-out", _close),
        ),
    ]


def _home(visit: PageRequest) -> Response:
    if visit.session is None:
        return to("/sign-in")
    return to("/steward" if visit.person.role == "steward" else "/workbench")


def _ask(visit: PageRequest) -> Response:
    asked = visit.request.query_params
    ended = asked.get("ended") == "1" and visit.session is None
    return show_sign_in(visit, asked.get("next"), ended=ended)


def show_sign_in(
    visit: PageRequest,
    next_page: str | None,
    *,
    wrong: str = "",
    ended: bool = False,
    status: int = 200,
) -> Response:
    """Show the sign-in page; `ended` says that a session has ended, `wrong` why a sign-in failed."""
    provider = visit.state.provider
    return visit.show(
        "sign_in.html",
        status=status,
        here="Sign in",
        wrong=wrong,
        ended=ended,
        next=local_path(next_page),
        provider="" if provider is None else provider.options.label,
    )


def _open(visit: PageRequest) -> Response:
    """Open a session; all wrong tokens get one message, and an address that fails too often must wait."""
    state = visit.state
    check_origin(state.config, visit.request)
    token = visit.form.get("token", "").strip()
    session = state.sessions.open(token) if 0 < len(token) <= 200 else None
    if session is None:
        state.limits.failure(address_of(visit.request))
        state.log.write("sign-in", status=401)
        return show_sign_in(visit, visit.form.get("next"), wrong=WRONG, status=401)
    state.log.write("sign-in", who=session.person.name, status=303)
    if visit.session is not None:
        state.sessions.close(visit.session.id)
    response = to(local_path(visit.form.get("next")))
    set_cookie(state.config, response, session)
    return response


def _close(visit: PageRequest) -> Response:
    if "everywhere" in visit.form:
        visit.state.sessions.close_all(visit.person.name)
    else:
        visit.state.sessions.close(visit.signed.id)
    response: RedirectResponse = to("/sign-in")
    drop_cookie(visit.state.config, response)
    return response


def crowd_routes(state: State) -> list[Route]:
    """Return the routes of the people's page."""
    return table_routes(
        state,
        for_stewards,
        ("GET", "/people", _page),
        ("POST", "/people", _add),
        ("POST", "/people/{person}/renew", _renew),
        ("POST", "/people/{person}/identity", _bind),
        ("POST", "/people/{person}/revoke", _revoke),
    )


@frozen
class PersonRow:
    """One person in the list, as text: data sets (`reach`), first and last day, and state."""

    name: str
    role: str
    reach: str
    since: str
    until: str
    state: str
    subject: str


def _page(
    visit: PageRequest,
    *,
    status: int = 200,
    token: str = "",
    name: str = "",
    refusal: Refusal | None = None,
) -> Response:
    """Show the list of users, perhaps with a new token or with a refusal."""
    seen = [one for one in visit.state.people.all() if visit.person.over(one)]
    provider = visit.state.provider
    subjects = {} if provider is None else visit.state.people.subjects(provider.options.issuer)
    return visit.show(
        "people.html",
        status=status,
        here="People",
        members=[_row(one, subjects.get(one.name, "")) for one in seen],
        bound=provider is not None,
        datasets=visit.state.datasets.allowed(visit.person),
        everything=EVERYTHING in visit.person.datasets,
        token=token,
        name=name,
        refusal=refusal,
        entered=visit.form,
    )


def _row(person: Member, subject: str) -> PersonRow:
    """Return a user as the list shows it, with the subject of the provider or ""."""
    state = "active" if person.active(time.time()) else "expired"
    if person.revoked:
        state = "revoked"
    reach = "all data sets" if EVERYTHING in person.datasets else ", ".join(person.datasets)
    until = "no end" if person.expires is None else day_of(person.expires)
    since = day_of(person.created)
    return PersonRow(person.name, person.role, reach, since, until, state, subject)


def _call(visit: PageRequest, fields: dict[str, object]) -> ApiCall:
    """Word a form as the API's own request, so that its checks are the only ones."""
    return ApiCall(visit.person, dict(visit.request.path_params), {}, write_json(fields).encode())


def _add(visit: PageRequest) -> Response:
    """Add a user from the form by the API's own function, and show the token."""
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
        words = refusal_of(refusal)
        return _page(visit, status=status_of(refusal), refusal=words)
    visit.state.log.write("people add", who=visit.person.name, status=201)
    return _show_token(visit, made)


def _renew(visit: PageRequest) -> Response:
    made = crew.renew_token(visit.state, _call(visit, {})).body
    visit.state.log.write("people renew", who=visit.person.name, status=201)
    return _show_token(visit, made)


def _show_token(visit: PageRequest, made: object) -> Response:
    """Show a new token, in this page only: the store keeps no more than its hash and verifier."""
    fields = made if isinstance(made, dict) else {}
    return _page(visit, token=str(fields["token"]), name=str(fields["name"]))


def _bind(visit: PageRequest) -> Response:
    subject = visit.form.get("subject", "").strip() or None
    crew.bind_identity(visit.state, _call(visit, {"subject": subject}))
    visit.state.log.write("people bind", who=visit.person.name, status=200)
    return to("/people")


def _revoke(visit: PageRequest) -> Response:
    crew.revoke_person(visit.state, _call(visit, {}))
    visit.state.log.write("people revoke", who=visit.person.name, status=200)
    return to("/people")
