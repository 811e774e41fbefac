"""A visit to a page: who came, with what form; or the way to the sign-in page.

Pages are for browsers: they know sessions only, never tokens in headers. Every form is checked for the session's second
secret before its handler sees it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import nullcontext
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from ...errors import DiscreetError, InvalidArgument, NotAllowed
from ...frozen import frozen
from ...wire.reply import BROKEN, status_of
from ..http.authentication import address_of, require_steward, session_of
from ..http.csrf import FIELD, check_csrf
from ..http.rate_limit import TooMany
from ..http.session import Session
from ..state import State
from ..stores.people import Member
from .refusal_view import word_refusal
from .render import is_piece, page, piece

MOST_FIELDS = 100
LONGEST_BACK = 1800
ROOMS = {
    "analyst": (
        ("Workbench", "/workbench"),
        ("History", "/history"),
        ("Learn", "/learn"),
        ("API", "/docs"),
    ),
    "steward": (
        ("Steward’s room", "/steward"),
        ("People", "/people"),
        ("Workbench", "/workbench"),
        ("Learn", "/learn"),
        ("API", "/docs"),
    ),
}
LESSONS = ("/learn", "/telemetry")
PUBLIC = (("Learn", "/learn"), ("API", "/docs"))


@frozen
class PageRequest:
    """One request to a page; `session` is None only in rooms that are open to all."""

    state: State
    request: Request
    form: Mapping[str, str]
    session: Session | None

    @property
    def signed(self) -> Session:
        """The session of who came; rooms that are open to all do not ask."""
        if self.session is None:
            raise NotAllowed("nobody is signed in")
        return self.session

    @property
    def person(self) -> Member:
        """Who came."""
        return self.signed.person

    def show(self, template: str, *, status: int = 200, **words: Any) -> Response:  # noqa: ANN401
        """Answer with a page that names the visitor and the rooms that are theirs."""
        if self.session is None:
            return page(template, status=status, rooms=PUBLIC, **words)
        rooms = ROOMS[self.person.role]
        return page(
            template,
            status=status,
            person=self.person,
            csrf=self.session.csrf,
            rooms=rooms,
            **words,
        )

    def part(self, template: str, *, status: int = 200, **words: Any) -> Response:  # noqa: ANN401
        """Answer with a part of a page."""
        return piece(
            template, status=status, csrf="" if self.session is None else self.session.csrf, **words
        )

    @property
    def wants_part(self) -> bool:
        """Whether a script asks, which puts a part into the page it has."""
        return is_piece(self.request.headers)


Handler = Callable[[PageRequest], Response]
Endpoint = Callable[[Request], Awaitable[Response]]


def for_all(state: State, handler: Handler) -> Endpoint:
    """Let everybody in; whoever is signed in is known."""
    return _endpoint(state, handler, _anybody)


def for_analysts(state: State, handler: Handler) -> Endpoint:
    """Let everybody in who is signed in."""
    return _endpoint(state, handler, _signed_in)


def for_stewards(state: State, handler: Handler) -> Endpoint:
    """Let stewards in."""
    return _endpoint(state, handler, lambda session: require_steward(_signed_in(session)))


def _anybody(_session: Session | None) -> None:
    """Check nothing."""


class _SignIn(Exception):
    """Nobody is signed in, or no more."""


def _signed_in(session: Session | None) -> Member:
    if session is None:
        raise _SignIn
    return session.person


def _endpoint(
    state: State, handler: Handler, check: Callable[[Session | None], object]
) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        body = await request.body() if request.method == "POST" else b""
        return await state.desk.run(_handle, state, request, body, handler, check)

    return endpoint


def _handle(
    state: State,
    request: Request,
    body: bytes,
    handler: Handler,
    check: Callable[[Session | None], object],
) -> Response:
    visit = PageRequest(state, request, {}, session_of(state, request))
    try:
        _count(state, visit)
        check(visit.session)
        form = read_form(body) if request.method == "POST" else {}
        if request.method == "POST" and visit.session is not None:
            check_csrf(state.config, request, visit.session, form.get(FIELD, ""))
        with state.turns.turn(_whose(visit)) if _is_counted(visit) else nullcontext():
            return handler(PageRequest(state, request, form, visit.session))
    except _SignIn:
        return _sign_in(request)
    except TooMany as wait:
        return _refusal(visit, "TooMany", str(wait), 429)
    except DiscreetError as refusal:
        return _refusal(visit, type(refusal).__name__, str(refusal), status_of(refusal))
    except Exception as broken:  # noqa: BLE001 - whatever it says may tell about data
        who = "" if visit.session is None else visit.session.person.name
        state.log.write(f"error {type(broken).__name__}", who=who, status=500)
        return _refusal(visit, "", BROKEN, 500)


def _count(state: State, visit: PageRequest) -> None:
    """Count a visit: a person's by name, a stranger's by address."""
    if visit.session is not None:
        state.limits.request(visit.session.person.name)
    elif _is_counted(visit):
        state.limits.stranger(address_of(visit.request))


def _is_counted(visit: PageRequest) -> bool:
    """Return whether a visit counts: whoever only comes to sign in is not counted among strangers."""
    return visit.session is not None or visit.request.url.path.startswith(LESSONS)


def _whose(visit: PageRequest) -> str:
    """Name whose turn a visit takes; no name of a person has a space."""
    return f"at {address_of(visit.request)}" if visit.session is None else visit.session.person.name


def _refusal(visit: PageRequest, kind: str, message: str, status: int) -> Response:
    words = word_refusal(kind, message)
    if visit.wants_part:
        return visit.part("piece_refusal.html", status=status, refusal=words)
    return visit.show("refusal.html", status=status, refusal=words)


def _sign_in(request: Request) -> Response:
    """Lead to the sign-in page, and back afterwards to what may be looked at again."""
    came = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    back = came if request.method == "GET" and not is_piece(request.headers) else _page_of(request)
    return to("/sign-in", next=back, ended="1")


def _page_of(request: Request) -> str:
    """Return the page a script spoke for, with what stood in its address: the question is there after signing in."""
    came = urlsplit(request.headers.get("Referer", ""))
    return local_path(
        came.path + (f"?{came.query}" if came.query and len(came.query) < LONGEST_BACK else "")
    )


def to(path: str, **query: str) -> RedirectResponse:
    """Send the browser on, by GET."""
    words = urlencode({name: value for name, value in query.items() if value}, quote_via=quote)
    return RedirectResponse(path + (f"?{words}" if words else ""), 303)


def local_path(path: str | None) -> str:
    """Read where to go next: only ever a page of this service.

    >>> from discreet.service.pages.page_request import local_path
    >>> local_path("/workbench/people"), local_path("//elsewhere.example"), local_path("https://elsewhere.example")
    ('/workbench/people', '/', '/')
    """
    safe = (
        path is not None
        and path.startswith("/")
        and not path.startswith(("//", "/\\"))
        and path.isprintable()
    )
    return path if safe and path is not None and len(path) <= 2000 else "/"


def read_form(body: bytes) -> dict[str, str]:
    """Read the fields of a form; the last of equal names counts.

    >>> from discreet.service.pages.page_request import read_form
    >>> read_form(b"sql=SELECT+1&spend=%CE%B5")
    {'sql': 'SELECT 1', 'spend': 'ε'}

    Refuses more than a hundred fields and bytes that are no UTF-8.
    """
    try:
        return dict(
            parse_qsl(
                body.decode("ascii"),
                keep_blank_values=True,
                max_num_fields=MOST_FIELDS,
                errors="strict",
            )
        )
    except (UnicodeDecodeError, ValueError):
        raise InvalidArgument("this form cannot be read; reload the page and try again") from None
