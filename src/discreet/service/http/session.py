"""Session cookies of the pages: a random id that scripts cannot read, stored hashed.

The cookie is HttpOnly and SameSite=Strict, and Secure under https. A session ends by signing out, after its
hours, when its user signs out everywhere, and as soon as the user is revoked, expires, gets a new token or
another identity.
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
    """Session of a signed-in user; `id` is the secret of the cookie, `csrf` the one of the forms."""

    id: str = field(repr=False)
    csrf: str = field(repr=False)
    person: Member
    expires: float


class Sessions:
    """Open sessions in the service's store."""

    def __init__(self, store: ServiceStore, people: Members, hours: float) -> None:
        self._store = store
        self._people = people
        self._seconds = hours * 3600

    def open(self, token: str) -> Session | None:
        """Sign in with a token; None if no active user holds it."""
        return self._open(token_hash(token))

    def open_as(self, issuer: str, subject: str) -> Session | None:
        """Sign in by an identity that a provider has proved; None if it is bound to no active user."""
        rows = self._store.ask(
            "SELECT p.token FROM discreet_people p JOIN discreet_identities i ON i.person = p.name "
            "WHERE i.issuer = ? AND i.subject = ?",
            issuer,
            subject,
        )
        return self._open(str(rows[0][0])) if rows else None

    def _open(self, hashed: str) -> Session | None:
        """Open a session of the active user whose token has this hash."""
        person = self._people.find_by_hash(hashed)
        if person is None:
            return None
        session = Session(
            id=secrets.token_urlsafe(32),
            csrf=secrets.token_urlsafe(32),
            person=person,
            expires=time.time() + self._seconds,
        )
        # Every sign-in removes expired sessions, so the table needs no cleaning of its own.
        self._store.ask("DELETE FROM discreet_sessions WHERE expires < ?", time.time())
        # The hash of the token ties the session to it: a renewed token ends its sessions.
        self._store.ask(
            "INSERT INTO discreet_sessions (id, person, csrf, token, expires) "
            "VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            token_hash(session.id),
            person.name,
            session.csrf,
            hashed,
            session.expires,
        )
        return session

    def find(self, secret: str) -> Session | None:
        """Find the session of a cookie.

        None if the cookie is forged, the session ended or expired, or its user is no longer active.
        """
        rows = self._store.ask(
            "SELECT person, csrf, token, expires FROM discreet_sessions "
            "WHERE id = ? AND expires > ?",
            token_hash(secret),
            time.time(),
        )
        if not rows:
            return None
        name, csrf, token, expires = rows[0]
        person = self._people.find_signed(str(name), str(token))
        if person is None:
            return None
        return Session(secret, str(csrf), person, float(cast("float", expires)))

    def close(self, secret: str) -> None:
        """Sign out."""
        self._store.ask("DELETE FROM discreet_sessions WHERE id = ?", token_hash(secret))

    def close_all(self, person: str) -> None:
        """Sign a user out everywhere."""
        self._store.ask("DELETE FROM discreet_sessions WHERE person = ?", person)


def cookie_name(config: Config) -> str:
    """Name the cookie; the prefix `__Host-` makes browsers refuse it from any other host."""
    # Browsers accept the prefix only together with Secure, hence only under https.
    return "__Host-discreet" if config.secure else "discreet"


def read_cookie(config: Config, request: HTTPConnection) -> str | None:
    """Read the secret of a session from the cookie of a request."""
    return request.cookies.get(cookie_name(config))


def set_cookie(config: Config, response: Response, session: Session) -> None:
    """Send the secret of a session to a browser, as a cookie that ends with the session."""
    remaining = int(session.expires - time.time())
    response.set_cookie(
        cookie_name(config),
        session.id,
        max_age=max(0, remaining),
        path="/",
        secure=config.secure,
        httponly=True,
        samesite="strict",
    )


def drop_cookie(config: Config, response: Response) -> None:
    """Tell a browser to delete the cookie."""
    # Browsers delete a cookie only if its attributes are those it was set with.
    response.delete_cookie(
        cookie_name(config), path="/", secure=config.secure, httponly=True, samesite="strict"
    )
