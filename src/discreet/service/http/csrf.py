"""No other site's page may act for somebody signed in here.

Cookies are SameSite=Strict already; beside that every change needs the session's second secret, in the field `csrf` of
a form or in the header `X-CSRF-Token`, and must not come from another origin. Requests with a token need neither.
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
    """Refuse a change that does not carry the session's second secret; `given` is the form's field, if it has one."""
    check_origin(config, request)
    said = given if given is not None else request.headers.get(HEADER, "")
    if not secrets.compare_digest(said.encode("utf-8", "replace"), session.csrf.encode()):
        raise NotAllowed(
            "this change did not come from this service's own page; reload the page and try again"
        )


def check_origin(config: Config, request: HTTPConnection) -> None:
    """Refuse a request that a browser says comes from another site's page."""
    origin = request.headers.get("Origin")
    if origin is not None and origin != config.url:
        raise NotAllowed("this request came from another site's page")
