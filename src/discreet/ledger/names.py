"""Names and reasons: short printable text that every store can hold."""

from __future__ import annotations

import re

from ..errors import InvalidArgument

# Limits of stored texts; the index of names in PostgreSQL holds 200 characters too.
LONGEST_WHO = 200
LONGEST_TEXT = 2000
# PostgreSQL holds no NUL in text, and UTF-8 has no surrogates.
_NOT_STORABLE = re.compile("[\0\ud800-\udfff]")


def read_who(value: object) -> str:
    """Check the name of a person.

    >>> from discreet.ledger.names import read_who
    >>> read_who("ann@example.org")
    'ann@example.org'
    >>> read_who("*")
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: who must be a printable name of at most 200 characters, and not '*'; got '*'

    Refuses: the empty name, surrounding spaces and control characters, with InvalidArgument.
    """
    if not isinstance(value, str) or not _is_name(value):
        shown = repr(value)[:60]
        raise InvalidArgument(
            f"who must be a printable name of at most {LONGEST_WHO} characters, and not '*'; got {shown}"
        )
    return value


def _is_name(text: str) -> bool:
    if not text.isprintable() or not 0 < len(text) <= LONGEST_WHO:
        return False
    # A star is everyone who is not named (`terms.OTHERS`), so nobody can have it as a name.
    return text == text.strip() and text != "*"


def read_text(value: object, name: str) -> str:
    r"""Check a text that is only stored.

    >>> from discreet.ledger.names import read_text
    >>> read_text("weekly report,\nsecond try", "why")
    'weekly report,\nsecond try'

    Refuses: other types, more than 2000 characters, and characters that no store can hold;
    InvalidArgument.
    """
    if not isinstance(value, str) or len(value) > LONGEST_TEXT:
        kind = f"{len(value)} characters" if isinstance(value, str) else type(value).__name__
        raise InvalidArgument(
            f"{name} must be text of at most {LONGEST_TEXT} characters, got {kind}"
        )
    if _NOT_STORABLE.search(value):
        raise InvalidArgument(f"{name} holds a character that no store can hold; leave it out")
    return value
