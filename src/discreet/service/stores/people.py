"""Users of the service, stewards and analysts: their data sets, and the tokens that authenticate them.

A token is 256 random bits, shown once and stored as its SHA-256 and as a SCRAM verifier for
PostgreSQL's clients: reading the store does not help to sign in. A name is permanent, since the
ledger records it: a revoked name is never given to another user.
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
from ..postgres.scram import Verifier, make_verifier, read_verifier, unknown_verifier
from .store import ServiceStore

Role = Literal["steward", "analyst"]
EVERYTHING = "*"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.@-]{0,63}")
SUBJECT = re.compile(r"[\x20-\x7e]{1,255}")
"""Identifier of a person at an OpenID provider (OpenID Connect Core 1.0, section 2)."""
MAX_DAYS = 36_525
"""Longest validity of a token: a hundred years."""

_TAKEN = "this subject is bound to another user here; unbind it there first"

_SELECT = "SELECT name, role, datasets, expires, revoked, created FROM discreet_people "
_BY_HASH = _SELECT + "WHERE token = ?"
_BY_NAME = _SELECT + "WHERE name = ?"
_ALL = _SELECT + "ORDER BY name"


@frozen
class Member:
    """User of the service; times are seconds since 1970, UTC."""

    name: str
    role: Role
    datasets: tuple[str, ...]
    expires: float | None
    revoked: bool
    created: float

    def may(self, dataset: str) -> bool:
        """Return whether this user may ask about a data set."""
        return dataset in self.datasets or EVERYTHING in self.datasets

    def active(self, now: float | None = None) -> bool:
        """Return whether this user may still sign in."""
        if self.revoked:
            return False
        if self.expires is None:
            return True
        return (now or time.time()) < self.expires

    def over(self, other: Member) -> bool:
        """Return whether this user is a steward of all data sets of the other, and so may manage them."""
        if self.role != "steward":
            return False
        return EVERYTHING in self.datasets or set(other.datasets) <= set(self.datasets)

    def to_json(self) -> dict[str, object]:
        """Return the facts that a steward sees; no token is among them."""
        expires = None if self.expires is None else iso_time(self.expires)
        return {
            "name": self.name,
            "role": self.role,
            "datasets": list(self.datasets),
            "expires": expires,
            "revoked": self.revoked,
            "created": iso_time(self.created),
        }


def token_hash(token: str) -> str:
    """Return the stored form of a token: its SHA-256; 256 random bits need no salt.

    >>> from discreet.service.stores.people import token_hash
    >>> token_hash("dsc_example")[:12]
    '618f4b96101f'
    """
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


class Members:
    """Users of the service in its store."""

    def __init__(self, store: ServiceStore) -> None:
        self._store = store

    def add(
        self, name: str, role: str, datasets: Iterable[str], days: Number | None = None
    ) -> tuple[Member, str]:
        """Add a user; return the user and the token, which is shown this once.

        Refuses: a name that is no short plain text or is taken, also by a revoked user; an unknown role; no
        data sets.
        """
        person = _person(name, role, datasets, days)
        token = _token()
        # One statement decides whether the name is free, so two stewards cannot both get it.
        added = self._store.ask(
            "INSERT INTO discreet_people (name, role, datasets, expires, revoked, token, created) "
            "VALUES (?, ?, ?, ?, 0, ?, ?) ON CONFLICT DO NOTHING RETURNING name",
            person.name,
            person.role,
            json.dumps(person.datasets),
            person.expires,
            token_hash(token),
            person.created,
        )
        if not added:
            raise InvalidArgument(
                f"{name} is taken; names are for good, since the ledger remembers them: choose another"
            )
        self._keep_verifier(name, token)
        return person, token

    def renew(self, name: str, days: Number | None = None) -> str:
        """Return a new token; the old one and all sessions made with it end.

        It holds for `days` days; without them it has no end, also where the old one had.
        """
        token = _token()
        changed = self._store.ask(
            "UPDATE discreet_people SET token = ?, expires = ? "
            "WHERE name = ? AND revoked = 0 RETURNING name",
            token_hash(token),
            _expiry(days),
            name,
        )
        if not changed:
            raise _unknown_user(name)
        self._keep_verifier(name, token)
        return token

    def _keep_verifier(self, name: str, token: str) -> None:
        """Store the SCRAM verifier of a token; it is valid only beside the token's own hash."""
        self._store.ask(
            "INSERT INTO discreet_verifiers (name, token, verifier) VALUES (?, ?, ?) ON CONFLICT (name) "
            "DO UPDATE SET token = excluded.token, verifier = excluded.verifier",
            name,
            token_hash(token),
            make_verifier(token).to_json(),
        )

    def verifier(self, name: str) -> tuple[Verifier, str]:
        """Return the SCRAM verifier of a user and the hash of the token.

        An unknown user gets a verifier that no token satisfies, and "". Tokens of older releases
        have no verifier, so their users are unknown here until the token is renewed.
        """
        rows = self._store.ask(
            "SELECT v.verifier, v.token FROM discreet_verifiers v "
            "JOIN discreet_people p ON p.name = v.name AND p.token = v.token WHERE p.name = ?",
            name,
        )
        if rows:
            return read_verifier(str(rows[0][0])), str(rows[0][1])
        return unknown_verifier(self._wire_secret(), name), ""

    def _wire_secret(self) -> bytes:
        """Return the secret behind the salts of unknown users, the same for all workers and restarts."""
        # No user has an empty name, so the row is nobody's.
        self._store.ask(
            "INSERT INTO discreet_verifiers (name, token, verifier) VALUES ('', '', ?) ON CONFLICT DO NOTHING",
            secrets.token_hex(32),
        )
        rows = self._store.ask("SELECT verifier FROM discreet_verifiers WHERE name = ''")
        return bytes.fromhex(str(rows[0][0]))

    def revoke(self, name: str) -> None:
        """Revoke a user for good, at once: every request looks the user up anew."""
        changed = self._store.ask(
            "UPDATE discreet_people SET revoked = 1 WHERE name = ? RETURNING name", name
        )
        if not changed:
            raise _unknown_user(name)

    def bind(self, name: str, issuer: str, subject: str | None) -> None:
        """Bind the `subject` that a provider gives somebody to a user; None takes a binding away.

        All sessions of the user end. Refuses: a revoked or unknown user, a subject that is no plain
        text of 1 to 255 letters, and one that is bound to another user who is not revoked.
        """
        if self.find(name).revoked:
            raise _unknown_user(name)
        if subject is not None and not SUBJECT.fullmatch(subject):
            raise InvalidArgument("a subject is 1 to 255 plain letters, as the provider gives it")
        for holder, bound in self.subjects(issuer).items():
            # Refused before anything changes; the insert below decides where two bind at once.
            if bound == subject and holder != name and not self.find(holder).revoked:
                raise NotAllowed(_TAKEN)
        # Somebody who was revoked and taken in anew keeps the identity under the new name.
        self._store.ask(
            "DELETE FROM discreet_identities WHERE issuer = ? AND (person = ? OR (subject = ? AND "
            "person IN (SELECT name FROM discreet_people WHERE revoked = 1)))",
            issuer,
            name,
            subject,
        )
        self._store.ask("DELETE FROM discreet_sessions WHERE person = ?", name)
        if subject is None:
            return
        # One statement decides whose it is; read back, since a repeated insert returns nothing.
        self._store.ask(
            "INSERT INTO discreet_identities (issuer, subject, person) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            issuer,
            subject,
            name,
        )
        if self.subjects(issuer).get(name) != subject:
            raise NotAllowed(_TAKEN)

    def subjects(self, issuer: str) -> dict[str, str]:
        """Return the subjects of all users who are bound to an identity of a provider."""
        asked = "SELECT person, subject FROM discreet_identities WHERE issuer = ?"
        return {str(name): str(subject) for name, subject in self._store.ask(asked, issuer)}

    def holder(self, token: str) -> Member | None:
        """Find the active user of a token; None if it is unknown, expired or revoked."""
        # Looked up by hash: the time of the comparison tells nothing about the token.
        return self.find_by_hash(token_hash(token))

    def find_by_hash(self, hashed: str) -> Member | None:
        """Find the active user whose token has this hash."""
        return self._active(self._store.ask(_BY_HASH, hashed))

    def find_signed(self, name: str, token: str) -> Member | None:
        """Find an active user by name whose token still has this hash."""
        return self._active(self._store.ask(_BY_NAME + " AND token = ?", name, token))

    def find(self, name: str) -> Member:
        """Find a user by name, revoked or not; refuses an unknown name."""
        rows = self._store.ask(_BY_NAME, name)
        if not rows:
            raise _unknown_user(name)
        return _read(rows[0])

    def all(self) -> tuple[Member, ...]:
        """List all users, revoked ones too, by name."""
        return tuple(_read(row) for row in self._store.ask(_ALL))

    @staticmethod
    def _active(rows: Sequence[tuple[object, ...]]) -> Member | None:
        if not rows:
            return None
        person = _read(rows[0])
        return person if person.active() else None


def _person(name: object, role: object, datasets: Iterable[str], days: Number | None) -> Member:
    """Return a new user; refuse an invalid name or role, and no data sets."""
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise InvalidArgument(
            "a name is 1 to 64 letters a-z, digits and _ . @ -, and starts with a letter or digit"
        )
    if role not in get_args(Role):
        raise InvalidArgument(f"role must be one of {', '.join(get_args(Role))}")
    # Without duplicates, in the order given.
    names = tuple(dict.fromkeys(datasets))
    if not names or not all(isinstance(dataset, str) for dataset in names):
        raise InvalidArgument(
            f"{name} needs data sets: a list of their names, or {EVERYTHING!r} for all"
        )
    return Member(
        name, cast("Role", role), names, _expiry(days), revoked=False, created=time.time()
    )


def _expiry(days: Number | None) -> float | None:
    """Return the moment at which a token ends, so many days from now; None for no end."""
    if days is None:
        return None
    validity = positive(days, "days")
    if validity > MAX_DAYS:
        raise InvalidArgument(
            f"days must be at most {MAX_DAYS}, a hundred years; leave it out for no end"
        )
    return time.time() + float(validity) * 86_400


def _token() -> str:
    return "dsc_" + secrets.token_urlsafe(32)


def _read(row: tuple[object, ...]) -> Member:
    """Return a user from a row of the store."""
    name, role, datasets, expires, revoked, created = row
    return Member(
        name=str(name),
        role=cast("Role", role),
        datasets=tuple(json.loads(str(datasets))),
        expires=None if expires is None else float(cast("float", expires)),
        revoked=bool(revoked),
        created=float(cast("float", created)),
    )


def iso_time(seconds: float) -> str:
    """Write a time in seconds since 1970 as ISO 8601 in UTC, to the second."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def _unknown_user(name: str) -> NotAllowed:
    return NotAllowed(f"there is nobody named {name[:64]!r} here who is not revoked")
