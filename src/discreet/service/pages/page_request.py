"""Request to a page: session, role and CSRF checks around every handler, or a redirect to the sign-in page.

Pages are for browsers: they accept a session cookie only, never a token in a header. The CSRF token of every
form is checked before its handler sees the form.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import nullcontext
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

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
from .render import is_piece, lessons_installed, page, piece

MAX_FIELDS = 100
"""Fields of a form; a form with more is refused before it is decoded."""

MAX_QUERY_LENGTH = 1800
"""A query string of a page is kept for the return from the sign-in if it is shorter than this.

Path and query together have at most MAX_PATH_LENGTH characters.
"""

MAX_PATH_LENGTH = 2000
MENUS = {
    "analyst": (
        ("Ask", "/workbench"),
        ("Streams", "/streams"),
        ("Dashboards", "/dashboards"),
        ("History", "/history"),
    ),
    "steward": (
        ("Steward", "/steward"),
        ("People", "/people"),
        ("Ask", "/workbench"),
        ("Streams", "/streams"),
        ("Dashboards", "/dashboards"),
    ),
}
"""Pages that the menu shows to each role, before those that are open to all."""

PROVIDER_PATH = "/sign-in/provider"
LIMITED_PATHS = ("/learn", "/telemetry", "/documents", PROVIDER_PATH)
"""Open pages that compute something or ask a provider, so they are limited by address."""


@frozen
class PageRequest:
    """Request to a page; `session` is None only on pages that are open to all."""

    state: State
    request: Request
    form: Mapping[str, str]
    session: Session | None

    @property
    def signed(self) -> Session:
        """Session of the signed-in user; pages that are open to all do not use it."""
        if self.session is None:
            raise NotAllowed("nobody is signed in")
        return self.session

    @property
    def person(self) -> Member:
        """The signed-in user."""
        return self.signed.person

    def show(self, template: str, *, status: int = 200, **words: Any) -> Response:  # noqa: ANN401
        """Respond with a whole page: its menu has the pages that this user's role may open."""
        if self.session is None:
            return page(template, status=status, menu=_open_pages(), **words)
        menu = [*MENUS[self.person.role], *_open_pages()]
        return page(
            template,
            status=status,
            person=self.person,
            csrf=self.session.csrf,
            menu=menu,
            **words,
        )

    def part(self, template: str, *, status: int = 200, **words: Any) -> Response:  # noqa: ANN401
        """Respond with a fragment of a page, which a script inserts."""
        csrf = "" if self.session is None else self.session.csrf
        return piece(template, status=status, csrf=csrf, **words)

    @property
    def wants_part(self) -> bool:
        """True if a script asks for a fragment, to insert it into the open page."""
        return is_piece(self.request.headers)


def _open_pages() -> list[tuple[str, str]]:
    """Return the menu entries of pages that need no session."""
    pages = [("API", "/docs")]
    if lessons_installed():
        pages[:0] = [("Learn", "/learn"), ("Telemetry", "/telemetry")]
    return pages


Handler = Callable[[PageRequest], Response]
Endpoint = Callable[[Request], Awaitable[Response]]


def for_all(state: State, handler: Handler) -> Endpoint:
    """Make an endpoint that is open to all; a session is passed on if there is one."""
    return _endpoint(state, handler, _anybody)


def for_analysts(state: State, handler: Handler) -> Endpoint:
    """Make an endpoint for all signed-in users."""
    return _endpoint(state, handler, _signed_in)


def for_stewards(state: State, handler: Handler) -> Endpoint:
    """Make an endpoint for stewards."""

    def check(session: Session | None) -> None:
        require_steward(_signed_in(session))

    return _endpoint(state, handler, check)


Access = Callable[[State, Handler], Endpoint]
TableRow = tuple[str, str, Handler]
"""Methods, path and handler of a route, such as `("GET POST", "/people", show)`."""


def table_routes(state: State, access: Access, *table: TableRow) -> list[Route]:
    """Return the routes of a table, which all have the same access.

    Law: tests/service/browser/test_every_page.py::test_no_page_is_forgotten
    """
    routes = []
    for methods, path, handler in table:
        routes.append(Route(path, access(state, handler), methods=methods.split()))
    return routes


def _anybody(_session: Session | None) -> None:
    """Check nothing."""


class _SignIn(Exception):
    """Raised without a valid session, so that the browser is sent to the sign-in page."""


def _signed_in(session: Session | None) -> Member:
    if session is None:
        raise _SignIn
    return session.person


def _endpoint(
    state: State, handler: Handler, check: Callable[[Session | None], object]
) -> Endpoint:
    """Return an endpoint that reads the body of a request and handles it in a thread."""

    async def endpoint(request: Request) -> Response:
        body = await request.body() if request.method == "POST" else b""
        return await state.planning_pool.run(_handle, state, request, body, handler, check)

    return endpoint


def _handle(
    state: State,
    request: Request,
    body: bytes,
    handler: Handler,
    check: Callable[[Session | None], object],
) -> Response:
    """Check rate limit, session, role and CSRF token, call the handler, show refusals as pages."""
    visit = PageRequest(state, request, {}, session_of(state, request))
    try:
        _count(state, visit)
        check(visit.session)
        form: dict[str, str] = {}
        if request.method == "POST":
            form = read_form(body)
            # Without a session there is nothing that another site's page could misuse.
            if visit.session is not None:
                check_csrf(state.config, request, visit.session, form.get(FIELD, ""))
        turn = state.turns.turn(_turn_owner(visit)) if _is_counted(visit) else nullcontext()
        with turn:
            return handler(PageRequest(state, request, form, visit.session))
    except _SignIn:
        return _sign_in(request)
    except TooMany as wait:
        return _refusal(visit, "TooMany", str(wait), 429)
    except DiscreetError as refusal:
        return _refusal(visit, type(refusal).__name__, str(refusal), status_of(refusal))
    except Exception as broken:  # noqa: BLE001 - its message may tell about data
        who = "" if visit.session is None else visit.session.person.name
        state.log.write(f"error {type(broken).__name__}", who=who, status=500)
        return _refusal(visit, "", BROKEN, 500)


def _count(state: State, visit: PageRequest) -> None:
    """Count a request against the rate limit: of a user by name, else by address."""
    if visit.session is not None:
        state.limits.request(visit.session.person.name)
    elif _is_counted(visit):
        state.limits.stranger(address_of(visit.request))


def _is_counted(visit: PageRequest) -> bool:
    """Return whether a request is limited; without a session, only LIMITED_PATHS are."""
    return visit.session is not None or visit.request.url.path.startswith(LIMITED_PATHS)


def _turn_owner(visit: PageRequest) -> str:
    """Return the key of the concurrency limit: a user's name, or an address marked by a space."""
    if visit.session is not None:
        return visit.session.person.name
    # No name of a user has a space, so an address can never take a user's turns.
    return f"at {address_of(visit.request)}"


def _refusal(visit: PageRequest, kind: str, message: str, status: int) -> Response:
    words = word_refusal(kind, message)
    if visit.wants_part:
        return visit.part("piece_refusal.html", status=status, refusal=words)
    return visit.show("refusal.html", status=status, refusal=words)


def _sign_in(request: Request) -> Response:
    """Redirect to the sign-in page, and from there back to a page that GET can show again."""
    if request.method == "GET" and not is_piece(request.headers):
        back = _with_query(request.url.path, request.url.query)
    else:
        back = _page_of(request)
    return to("/sign-in", next=back, ended="1")


def _page_of(request: Request) -> str:
    """Return the page whose script sent the request, with its query string unless it is long.

    The query string has the question, which is then still in the editor after the sign-in.
    """
    came_from = urlsplit(request.headers.get("Referer", ""))
    query = came_from.query if len(came_from.query) < MAX_QUERY_LENGTH else ""
    return local_path(_with_query(came_from.path, query))


def to(path: str, **query: str) -> RedirectResponse:
    """Redirect the browser by GET (303); empty fields of the query are left out."""
    given = {name: value for name, value in query.items() if value}
    return RedirectResponse(_with_query(path, urlencode(given, quote_via=quote)), 303)


def _with_query(path: str, query: str) -> str:
    return f"{path}?{query}" if query else path


def local_path(path: str | None) -> str:
    """Return a path of this service to redirect to; "/" for any other address (open redirect).

    >>> from discreet.service.pages.page_request import local_path
    >>> local_path("/workbench/people"), local_path("//elsewhere.example")
    ('/workbench/people', '/')
    >>> local_path("https://elsewhere.example")
    '/'
    """
    if path is None or len(path) > MAX_PATH_LENGTH or not path.isprintable():
        return "/"
    # Browsers read "//host" and "/\host" as addresses of another host.
    if not path.startswith("/") or path.startswith(("//", "/\\")):
        return "/"
    return path


def read_form(body: bytes) -> dict[str, str]:
    """Read the fields of a form; the last of equal names counts.

    >>> from discreet.service.pages.page_request import read_form
    >>> read_form(b"sql=SELECT+1&spend=%CE%B5")
    {'sql': 'SELECT 1', 'spend': 'ε'}

    Refuses: more than a hundred fields, bytes beyond ASCII, and encoded text that is no UTF-8.
    """
    try:
        fields = parse_qsl(
            body.decode("ascii"),
            keep_blank_values=True,
            max_num_fields=MAX_FIELDS,
            errors="strict",
        )
    except (UnicodeDecodeError, ValueError):
        raise InvalidArgument("this form cannot be read; reload the page and try again") from None
    return dict(fields)
