"""Authentication: from a request to a user, by bearer token or by session cookie.

A program sends its token in `Authorization: Bearer`. A page sends its session cookie, and for a change
also the CSRF token of the session. Whatever is wrong with a token or a session, the message is the
same. Failures are rate limited by address, requests with a valid token or session by user only.
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
    """No token, or no valid one: status 401."""


@frozen
class Admission:
    """The authenticated user; `session` is set only for a session cookie."""

    person: Member
    session: Session | None = None


def enter(state: State, request: HTTPConnection) -> Admission:
    """Authenticate a request and count it against its user's rate limit; waits for the store.

    Refuses: no token, a wrong, expired or revoked one, a forged session, a change without the CSRF token,
    and more requests than the rate limits allow.
    """
    if "Authorization" in request.headers:
        found = _by_token(state, request)
    else:
        found = _by_cookie(state, request)
    if found is None:
        state.limits.failure(address_of(request))
        raise Unauthenticated(
            "no entry: show a valid token in the header 'Authorization: Bearer dsc_…', or sign in"
        )
    _count(state, request, found.person.name)
    return found


def _count(state: State, request: HTTPConnection, person: str) -> None:
    """Count a request against its user's rate limit.

    Above the limit, one whose idempotency key is known is counted against a second limit, for
    retries.
    """
    try:
        state.limits.request(person)
    except TooMany:
        mark = request.headers.get(MARK, "")
        if not mark or len(mark) > LONGEST_TOKEN:
            raise
        # A retry costs no query, so a known idempotency key has a limit of its own.
        if state.jobs.job_store.marked(person, mark) is None:
            raise
        state.limits.again(person)


def session_of(state: State, request: HTTPConnection) -> Session | None:
    """Return the session of a request's cookie, if there is one; waits for the store."""
    secret = read_cookie(state.config, request)
    if not secret or len(secret) > LONGEST_TOKEN:
        return None
    return state.sessions.find(secret)


def require_steward(person: Member) -> None:
    """Refuse everyone who is not a steward."""
    if person.role != "steward":
        raise NotAllowed("this is for stewards; ask one of them")


def address_of(request: HTTPConnection) -> str:
    """Return the address of the client; forwarding headers can be forged and are not read here."""
    if request.client is None:
        return ""
    return request.client.host


def _by_token(state: State, request: HTTPConnection) -> Admission | None:
    """Return the user of the bearer token; None if the token is not valid."""
    scheme, _, token = request.headers["Authorization"].partition(" ")
    if scheme.lower() != "bearer" or not token.startswith("dsc_") or len(token) > LONGEST_TOKEN:
        return None
    person = state.people.holder(token)
    if person is None:
        return None
    return Admission(person)


def _by_cookie(state: State, request: HTTPConnection) -> Admission | None:
    """Return the user of the session cookie, None without one; a change needs the CSRF token."""
    session = session_of(state, request)
    if session is None:
        return None
    if request.scope["method"] not in SAFE:
        check_csrf(state.config, request, session)
    return Admission(session.person, session)
