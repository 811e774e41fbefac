"""Stewards and analysts: who they are, what they may reach, and the token that proves it.

A token is 256 random bits, shown once and kept only as its SHA-256: whoever reads the store cannot sign in. A name is
for good, since the ledger remembers it: a revoked name is never given out again.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import time
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Literal, cast, get_args

from ...arithmetic.rational import Number, positive
from ...errors import InvalidArgument, NotAllowed
from ...frozen import frozen
from .store import ServiceStore

Role = Literal["steward", "analyst"]
EVERYTHING = "*"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.@-]{0,63}")
_BY_HASH = (
    "SELECT name, role, datasets, expires, revoked, created FROM discreet_people WHERE token = ?"
)
_BY_NAME = (
    "SELECT name, role, datasets, expires, revoked, created FROM discreet_people WHERE name = ?"
)
_ALL = "SELECT name, role, datasets, expires, revoked, created FROM discreet_people ORDER BY name"


@frozen
class Member:
    """Somebody who may ask; times are seconds since 1970, UTC."""

    name: str
    role: Role
    datasets: tuple[str, ...]
    expires: float | None
    revoked: bool
    created: float

    def may(self, dataset: str) -> bool:
        """Return whether this person may ask about a data set."""
        return dataset in self.datasets or EVERYTHING in self.datasets

    def active(self, now: float | None = None) -> bool:
        """Return whether this person may still come in."""
        return not self.revoked and (self.expires is None or (now or time.time()) < self.expires)

    def over(self, other: Member) -> bool:
        """Return whether this person, a steward, may decide about the other: only within their own data sets."""
        return self.role == "steward" and (
            EVERYTHING in self.datasets or set(other.datasets) <= set(self.datasets)
        )

    def to_json(self) -> dict[str, object]:
        """Return what a steward sees; no token is in it."""
        return {
            "name": self.name,
            "role": self.role,
            "datasets": list(self.datasets),
            "expires": None if self.expires is None else _moment(self.expires),
            "revoked": self.revoked,
            "created": _moment(self.created),
        }


def token_hash(token: str) -> str:
    """Return what is kept of a token: its SHA-256; 256 random bits need no salt.

    >>> from discreet.service.stores.people import token_hash
    >>> token_hash("dsc_example")[:12]
    '618f4b96101f'
    """
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


class Members:
    """The people of a service, in its store."""

    def __init__(self, store: ServiceStore) -> None:
        self._store = store

    def add(
        self, name: str, role: str, datasets: Iterable[str], days: Number | None = None
    ) -> tuple[Member, str]:
        """Take in somebody new; give the person and the token, which is shown this once.

        Refuses names that are no short plain text or taken (also by somebody revoked), unknown roles, no data sets.
        """
        person = _person(name, role, datasets, days)
        token = _token()
        made = self._store.ask(
            "INSERT INTO discreet_people (name, role, datasets, expires, revoked, token, created) "
            "VALUES (?, ?, ?, ?, 0, ?, ?) ON CONFLICT DO NOTHING RETURNING name",
            person.name,
            person.role,
            json.dumps(person.datasets),
            person.expires,
            token_hash(token),
            person.created,
        )
        if not made:
            raise InvalidArgument(
                f"{name} is taken; names are for good, since the ledger remembers them: choose another"
            )
        return person, token

    def renew(self, name: str, days: Number | None = None) -> str:
        """Return a new token; the old one and all sessions made with it end."""
        token = _token()
        found = self._store.ask(
            "UPDATE discreet_people SET token = ?, expires = ? WHERE name = ? AND revoked = 0 RETURNING name",
            token_hash(token),
            _end(days),
            name,
        )
        if not found:
            raise _nobody(name)
        return token

    def revoke(self, name: str) -> None:
        """Shut somebody out for good, at once."""
        if not self._store.ask(
            "UPDATE discreet_people SET revoked = 1 WHERE name = ? RETURNING name", name
        ):
            raise _nobody(name)

    def holder(self, token: str) -> Member | None:
        """Find who holds a token; None if nobody does, or it expired, or was revoked."""
        return self._active(self._store.ask(_BY_HASH, token_hash(token)))

    def find_signed(self, name: str, token: str) -> Member | None:
        """Find a person by name who still has the token of this hash."""
        return self._active(self._store.ask(_BY_NAME + " AND token = ?", name, token))

    def find(self, name: str) -> Member:
        """Find a person by name, revoked or not; refuses a name that is not known."""
        rows = self._store.ask(_BY_NAME, name)
        if not rows:
            raise _nobody(name)
        return _read(rows[0])

    def all(self) -> tuple[Member, ...]:
        """List everybody, revoked people too, by name."""
        return tuple(_read(row) for row in self._store.ask(_ALL))

    @staticmethod
    def _active(rows: Sequence[tuple[object, ...]]) -> Member | None:
        person = _read(rows[0]) if rows else None
        return person if person is not None and person.active() else None


def _person(name: object, role: object, datasets: Iterable[str], days: Number | None) -> Member:
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise InvalidArgument(
            "a name is 1 to 64 letters a-z, digits and _ . @ -, and starts with a letter or digit"
        )
    if role not in get_args(Role):
        raise InvalidArgument(f"role must be one of {', '.join(get_args(Role))}")
    reach = tuple(dict.fromkeys(datasets))
    if not reach or not all(isinstance(one, str) for one in reach):
        raise InvalidArgument(
            f"{name} needs data sets: a list of their names, or {EVERYTHING!r} for all"
        )
    return Member(name, cast("Role", role), reach, _end(days), revoked=False, created=time.time())


def _end(days: Number | None) -> float | None:
    if days is None:
        return None
    span = positive(days, "days")
    if span > 36_525:
        raise InvalidArgument(
            "days must be at most 36525, a hundred years; leave it out for no end"
        )
    return time.time() + float(span) * 86_400


def _token() -> str:
    return "dsc_" + secrets.token_urlsafe(32)


def _read(row: tuple[object, ...]) -> Member:
    name, role, datasets, expires, revoked, created = row
    reach = tuple(json.loads(str(datasets)))
    end = None if expires is None else float(cast("float", expires))
    return Member(
        str(name), cast("Role", role), reach, end, bool(revoked), float(cast("float", created))
    )


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def _nobody(name: str) -> NotAllowed:
    return NotAllowed(f"there is nobody named {name[:64]!r} here who is not revoked")
