"""Name of a stored table as people write it: parts with dots, quoted where a part has a dot."""

from __future__ import annotations

import re

from ...errors import InvalidArgument

_NAME_PART = re.compile(r'"((?:[^"]|"")+)"|`((?:[^`]|``)+)`|([^."`]+)')


def read_table_name(name: object, max_parts: int) -> tuple[str, ...]:
    """Split a table's name into at most so many parts.

    >>> from discreet.engines.sql.table_name import read_table_name
    >>> read_table_name("hr.staff", 2), read_table_name('hr."staff.2024"', 2)
    (('hr', 'staff'), ('hr', 'staff.2024'))
    >>> read_table_name("staff", 3)
    ('staff',)

    Refuses: text that is no name, and names of too many parts.
    """
    parts: list[str] = []
    # A dot in front, so that every part follows one.
    unread = f".{name}" if isinstance(name, str) and name else ""
    while unread.startswith("."):
        part = _NAME_PART.match(unread, 1)
        if part is None:
            break
        parts.append(_unquoted(part))
        unread = unread[part.end() :]
    if unread or not 1 <= len(parts) <= max_parts:
        raise InvalidArgument(
            f'a stored table is named as "staff", "hr.staff" or "hr.`a.b`", got {name!r}'
        )
    return tuple(parts)


def _unquoted(part: re.Match[str]) -> str:
    in_double_quotes, in_backquotes, plain = part.groups()
    if plain:
        return str(plain)
    if in_double_quotes:
        return str(in_double_quotes.replace('""', '"'))
    return str(in_backquotes.replace("``", "`"))
