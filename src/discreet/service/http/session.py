"""Sessions of the page: a random id in a cookie that scripts cannot read, kept hashed on the server.

A session ends by signing out, after its hours, and as soon as its person is revoked, expires or gets a new token.
"""

from __future__ import annotations

import secrets
import time
from typing import cast

from starlette.requests import HTTPConnection
from starlette.responses import Response

from ...frozen import field, frozen
from ..config import Config
from ..stores.people import Member, Members, token_hash
from ..stores.store import ServiceStore


@frozen
class Session:
    """Somebody signed in on the page; `id` is the secret of the cookie, `csrf` the one of the forms."""

    id: str = field(repr=False)
    csrf: str = field(repr=False)
    person: Member
    expires: float


class Sessions:
    """The open sessions, in the service's store."""

    def __init__(self, store: ServiceStore, people: Members, hours: float) -> None:
        self._store = store
        self._people = people
        self._seconds = hours * 3600

    def open(self, token: str) -> Session | None:
        """Sign in with a token; None if nobody holds it."""
        person = self._people.holder(token)
        if person is None:
            return None
        made = Session(
            secrets.token_urlsafe(32),
            secrets.token_urlsafe(32),
            person,
            time.time() + self._seconds,
        )
        self._store.ask("DELETE FROM discreet_sessions WHERE expires < ?", time.time())
        self._store.ask(
            "INSERT INTO discreet_sessions (id, person, csrf, token, expires) VALUES (?, ?, ?, ?, ?) "
            "ON CONFLICT DO NOTHING",
            token_hash(made.id),
            person.name,
            made.csrf,
            token_hash(token),
            made.expires,
        )
        return made

    def find(self, secret: str) -> Session | None:
        """Find the session of a cookie; None if it is forged, ended or expired, or its person may not come in."""
        rows = self._store.ask(
            "SELECT person, csrf, token, expires FROM discreet_sessions WHERE id = ? AND expires > ?",
            token_hash(secret),
            time.time(),
        )
        if not rows:
            return None
        name, csrf, token, expires = rows[0]
        person = self._people.find_signed(str(name), str(token))
        return (
            None
            if person is None
            else Session(secret, str(csrf), person, float(cast("float", expires)))
        )

    def close(self, secret: str) -> None:
        """Sign out."""
        self._store.ask("DELETE FROM discreet_sessions WHERE id = ?", token_hash(secret))


def cookie_name(config: Config) -> str:
    """Name the cookie; `__Host-` makes browsers refuse it from any other host, and needs https."""
    return "__Host-discreet" if config.secure else "discreet"


def read_cookie(config: Config, request: HTTPConnection) -> str | None:
    """Read the secret of a session from a request."""
    return request.cookies.get(cookie_name(config))


def set_cookie(config: Config, response: Response, session: Session) -> None:
    """Hand the secret of a session to a browser."""
    response.set_cookie(
        cookie_name(config),
        session.id,
        max_age=max(0, int(session.expires - time.time())),
        path="/",
        secure=config.secure,
        httponly=True,
        samesite="strict",
    )


def drop_cookie(config: Config, response: Response) -> None:
    """Tell a browser to forget the session."""
    response.delete_cookie(
        cookie_name(config), path="/", secure=config.secure, httponly=True, samesite="strict"
    )
