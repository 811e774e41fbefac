"""Rule for NULL: one for each column, declared, the same on every engine.

A stored value is first read as its column's type (`cell`). NULL, NaN and every value that cannot be
read are NULL. Then

    drop      NULL is absent: COUNT(column) skips it, SUM adds nothing,
              a row with a NULL key is in no group
    default   NULL counts as one public value of the column, everywhere
    key       as drop, but rows with a NULL key are one group of their own, which always appears
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from ...errors import InvalidArgument

Nulls: TypeAlias = Literal["drop", "default", "key"]


def read_flag(value: object, name: str) -> bool:
    """Read a boolean option.

    >>> from discreet.data.columns.nulls import read_flag
    >>> read_flag("no", "null_key")
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: null_key must be True or False, got 'no'
    """
    if not isinstance(value, bool):
        raise InvalidArgument(f"{name} must be True or False, got {value!r}")
    return value


def nulls(default: object, null_key: bool) -> Nulls:
    """Return the rule that a default and a NULL key declare together.

    >>> from discreet.data.columns.nulls import nulls
    >>> nulls(None, False), nulls(0, False), nulls(None, True)
    ('drop', 'default', 'key')

    Refuses: both at once, with InvalidArgument.
    """
    if default is not None and null_key:
        raise InvalidArgument(
            "default and null_key=True exclude each other: with a default no NULL is left; drop one"
        )
    if default is not None:
        return "default"
    if null_key:
        return "key"
    return "drop"
