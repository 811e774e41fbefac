"""Public keys: values that may name a group, read from a declared list.

A key is text, a whole number of at most 64 bits, or a boolean. All keys of one column are of one
kind and differ. A column may declare one more key that stands for all values outside its list.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias

from ...arithmetic.rational import INT64_HIGH, INT64_LOW
from ...errors import InvalidArgument
from .cell import to_python

KeyValue: TypeAlias = str | int | bool
KeyKind: TypeAlias = Literal["text", "integer", "boolean"]
KEYS = "keys are text, whole numbers or booleans, such as ['N', 'S', 'E', 'W']"


def key_kind(key: KeyValue) -> KeyKind:
    """Return the kind of a key; True and 1 are different keys.

    >>> from discreet.data.columns.keys import key_kind
    >>> key_kind(True), key_kind(1), key_kind("1")
    ('boolean', 'integer', 'text')
    """
    # In Python a bool is an int, so it is asked for first.
    if isinstance(key, bool):
        return "boolean"
    if isinstance(key, int):
        return "integer"
    return "text"


def read_key(value: object, name: str) -> KeyValue:
    """Read one declared key.

    >>> from discreet.data.columns.keys import read_key
    >>> read_key(1.5, "values")
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: values: 1.5 is no key; keys are text, whole numbers or booleans, such as ['N', ...

    Refuses: other types, None (`null_key=True` is the way), numbers beyond 64 bits, and text that
    no store can hold; InvalidArgument.
    """
    key = to_python(value)
    if key is None:
        raise InvalidArgument(
            f"{name}: None is no key; say null_key=True to make NULL a key of its own"
        )
    if not isinstance(key, str | int):
        raise InvalidArgument(f"{name}: {value!r} is no key; {KEYS}")
    if isinstance(key, str):
        # PostgreSQL holds no NUL in text, and UTF-8 has no surrogates.
        if any(letter == "\0" or "\ud800" <= letter <= "\udfff" for letter in key):
            raise InvalidArgument(
                f"{name}: {key!r} holds a character that not every store can hold; {KEYS}"
            )
        return str(key)
    if not INT64_LOW <= key <= INT64_HIGH:
        raise InvalidArgument(f"{name}: {key} does not fit in 64 bits; declare it as text")
    if isinstance(key, bool):
        return key
    return int(key)


def read_keys(values: Iterable[object]) -> tuple[tuple[KeyValue, ...], KeyKind]:
    """Read a closed list of keys of one kind, without duplicates, and return its kind too.

    >>> from discreet.data.columns.keys import read_keys
    >>> read_keys(["N", "S"])
    (('N', 'S'), 'text')
    """
    # A text is iterable too, but its letters are hardly meant as keys.
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InvalidArgument(f"Category takes a list of keys, got {values!r}; {KEYS}")
    keys = tuple(read_key(value, "values") for value in values)
    kinds = {key_kind(key) for key in keys}
    if not keys:
        raise InvalidArgument(f"Category needs at least one key; {KEYS}")
    if len(kinds) > 1:
        mixed = " and ".join(sorted(kinds))
        raise InvalidArgument(f"the keys mix {mixed}; use one kind, such as text, for all")
    if len(set(keys)) < len(keys):
        repeated = next(key for key in keys if keys.count(key) > 1)
        raise InvalidArgument(f"the key {repeated!r} is listed more than once; list each key once")
    return keys, kinds.pop()


def other_key(other: object, keys: tuple[KeyValue, ...], of: KeyKind) -> KeyValue | None:
    """Read the key for all values outside the list; False means that there is none.

    >>> from discreet.data.columns.keys import other_key
    >>> other_key(True, ("N", "S"), "text"), other_key(-1, (1, 2), "integer"), other_key(False, (1, 2), "integer")
    ('other', -1, None)
    """
    if other is False or other is None:
        return None
    if of == "boolean":
        raise InvalidArgument(
            "nothing is outside yes and no, so there is no other key; leave `other` out"
        )
    if other is True and of == "integer":
        raise InvalidArgument(
            "the other key of a list of whole numbers needs a number of its own, such as other=-1"
        )
    key = read_key("other" if other is True else other, "other")
    if key_kind(key) != of or key in keys:
        raise InvalidArgument(
            f"other must be {of} as the listed keys are, and none of them, got {key!r}"
        )
    return key
