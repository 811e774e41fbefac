"""Pages to sign in with a token, and to sign out."""

from __future__ import annotations

from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from ..http.authentication import address_of
from ..http.csrf import check_origin
from ..http.session import drop_cookie, set_cookie
from ..state import State
from .page_request import PageRequest, for_all, for_analysts, local_path, to

WRONG = "Nobody holds this token, or it has expired or been revoked. Check it, or ask your steward for a new one."


def sign_routes(state: State) -> list[Route]:
    """Return the routes of the door."""
    return [
        Route("/", for_all(state, _home), methods=["GET"]),
        Route("/sign-in", for_all(state, _ask), methods=["GET"]),
        Route("/sign-in", for_all(state, _open), methods=["POST"]),
        Route("/sign-out", for_analysts(state, _close), methods=["POST"]),
    ]


def _home(visit: PageRequest) -> Response:
    if visit.session is None:
        return to("/sign-in")
    return to("/steward" if visit.person.role == "steward" else "/workbench")


def _ask(visit: PageRequest) -> Response:
    asked = visit.request.query_params
    ended = asked.get("ended") == "1" and visit.session is None
    return visit.show(
        "sign_in.html", here="Sign in", wrong="", ended=ended, next=local_path(asked.get("next"))
    )


def _open(visit: PageRequest) -> Response:
    """Open a session; a wrong token gets one word for all reasons, and an address that fails too often must wait."""
    state, address = visit.state, address_of(visit.request)
    check_origin(state.config, visit.request)
    token = visit.form.get("token", "").strip()
    session = state.sessions.open(token) if 0 < len(token) <= 200 else None
    if session is None:
        state.limits.failure(address)
        state.log.write("sign-in", status=401)
        next_page = local_path(visit.form.get("next"))
        return visit.show(
            "sign_in.html", status=401, here="Sign in", wrong=WRONG, ended=False, next=next_page
        )
    state.log.write("sign-in", who=session.person.name, status=303)
    if visit.session is not None:
        state.sessions.close(visit.session.id)
    response = to(local_path(visit.form.get("next")))
    set_cookie(state.config, response, session)
    return response


def _close(visit: PageRequest) -> Response:
    visit.state.sessions.close(visit.signed.id)
    response: RedirectResponse = to("/sign-in")
    drop_cookie(visit.state.config, response)
    return response
