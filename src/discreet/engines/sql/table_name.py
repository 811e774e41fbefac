"""Where a table lies, as people write it: parts with dots between them, quoted where a part holds a dot itself."""

from __future__ import annotations

import re

from ...errors import InvalidArgument

_PART = re.compile(r'"((?:[^"]|"")+)"|`((?:[^`]|``)+)`|([^."`]+)')


def read_place(place: object, most: int) -> tuple[str, ...]:
    """Take a table's name apart, into at most so many parts.

    >>> from discreet.engines.sql.table_name import read_place
    >>> read_place("hr.staff", 2), read_place('hr."staff.2024"', 2), read_place("staff", 3)
    (('hr', 'staff'), ('hr', 'staff.2024'), ('staff',))

    Refuses what is no name.
    """
    parts: list[str] = []
    rest = f".{place}" if isinstance(place, str) and place else ""
    while rest.startswith(".") and (found := _PART.match(rest, 1)):
        double, back, plain = found.groups()
        parts.append(plain or (double or "").replace('""', '"') or (back or "").replace("``", "`"))
        rest = rest[found.end() :]
    if rest or not 1 <= len(parts) <= most:
        raise InvalidArgument(
            f'a stored table is named as "staff", "hr.staff" or "hr.`a.b`", got {place!r}'
        )
    return tuple(parts)
