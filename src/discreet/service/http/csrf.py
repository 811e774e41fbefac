"""CSRF protection: refuses changes that another site's page makes a signed-in browser send.

The session cookie is SameSite=Strict already. In addition every change needs the session's CSRF token, in the
form field `csrf` or the header `X-CSRF-Token`, and must not come from another origin. Requests with a bearer
token need neither: browsers do not add that token by themselves.
"""

from __future__ import annotations

import secrets

from starlette.requests import HTTPConnection

from ...errors import NotAllowed
from ..config import Config
from .session import Session

FIELD = "csrf"
HEADER = "X-CSRF-Token"


def check_csrf(
    config: Config, request: HTTPConnection, session: Session, given: str | None = None
) -> None:
    """Refuse a change without the session's CSRF token; `given` is the form's field, if it has one.

    Refuses: another origin, and a missing or wrong token, with NotAllowed.
    """
    check_origin(config, request)
    if given is None:
        given = request.headers.get(HEADER, "")
    # Compared in constant time, as bytes: text with non-ASCII characters would raise.
    sent = given.encode("utf-8", "replace")
    if not secrets.compare_digest(sent, session.csrf.encode()):
        raise NotAllowed(
            "this change did not come from this service's own page; reload the page and try again"
        )


def check_origin(config: Config, request: HTTPConnection) -> None:
    """Refuse a request whose header Origin names another site."""
    origin = request.headers.get("Origin")
    # Browsers send Origin with every change across sites; other clients may leave it out.
    if origin is not None and origin != config.url:
        raise NotAllowed("this request came from another site's page")
