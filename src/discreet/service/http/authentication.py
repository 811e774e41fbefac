"""The door: from a request to a person, or no entry.

A program shows its token in `Authorization: Bearer`; a page its session's cookie, and for a change the session's second
secret. Whatever is wrong with a token or a session, the word is the same; who fails too often is told to wait,
who shows a token that opens never is.
"""

from __future__ import annotations

from starlette.requests import HTTPConnection

from ...errors import NotAllowed
from ...frozen import frozen
from ..state import State
from ..stores.people import Member
from .csrf import check_csrf
from .rate_limit import TooMany
from .session import Session, read_cookie

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
LONGEST_TOKEN = 200
MARK = "Idempotency-Key"


class Unauthenticated(NotAllowed):
    """No token, or none that opens: the answer is 401."""


@frozen
class Admission:
    """Who came in; `session` only if by the page's cookie."""

    person: Member
    session: Session | None = None


def enter(state: State, request: HTTPConnection) -> Admission:
    """Find who sends a request; blocks.

    Refuses no token, a wrong, expired or revoked one, a forged session, a change without the session's second secret,
    and more requests than the limits allow.
    """
    found = (
        _by_token(state, request)
        if "Authorization" in request.headers
        else _by_cookie(state, request)
    )
    if found is None:
        state.limits.failure(address_of(request))
        raise Unauthenticated(
            "no entry: show a valid token in the header 'Authorization: Bearer dsc_…', or sign in"
        )
    _count(state, request, found.person.name)
    return found


def _count(state: State, request: HTTPConnection, person: str) -> None:
    """Count a request; one that was sent before is let in when others have to wait."""
    try:
        state.limits.request(person)
    except TooMany:
        mark = request.headers.get(MARK, "")
        if not mark or len(mark) > LONGEST_TOKEN or state.jobs.shelf.marked(person, mark) is None:
            raise
        state.limits.again(person)


def session_of(state: State, request: HTTPConnection) -> Session | None:
    """Find the page's session of a request, if it has one; blocks."""
    secret = read_cookie(state.config, request)
    return None if not secret or len(secret) > LONGEST_TOKEN else state.sessions.find(secret)


def require_steward(person: Member) -> None:
    """Refuse everybody who is no steward."""
    if person.role != "steward":
        raise NotAllowed("this is for stewards; ask one of them")


def address_of(request: HTTPConnection) -> str:
    """Return the address of the other end; headers that claim another are not read here."""
    return request.client.host if request.client is not None else ""


def _by_token(state: State, request: HTTPConnection) -> Admission | None:
    scheme, _, token = request.headers["Authorization"].partition(" ")
    if scheme.lower() != "bearer" or not token.startswith("dsc_") or len(token) > LONGEST_TOKEN:
        return None
    person = state.people.holder(token)
    return None if person is None else Admission(person)


def _by_cookie(state: State, request: HTTPConnection) -> Admission | None:
    session = session_of(state, request)
    if session is None:
        return None
    if request.scope["method"] not in SAFE:
        check_csrf(state.config, request, session)
    return Admission(session.person, session)
