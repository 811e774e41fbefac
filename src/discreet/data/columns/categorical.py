"""Key columns: a closed public list, a boolean, or free text.

Values of free text are shown only by private partition selection.

Law: tests/data/test_columns.py::TestCategory, tests/data/test_columns.py::TestEveryColumn
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import ClassVar, Literal

from ...arithmetic.rational import read_flag, whole
from ...errors import InvalidArgument
from ...frozen import fill, frozen
from .cell import is_null, read_boolean, read_key_number, read_text
from .declared import DeclaredColumn, call, check_nulls, few
from .keys import KeyKind, KeyValue, key_kind, other_key, read_key, read_keys

_READERS: dict[KeyKind, Callable[[object], KeyValue | None]] = {
    "text": read_text,
    "integer": read_key_number,
    "boolean": read_boolean,
}


@frozen(init=False, repr=False)
class Category(DeclaredColumn):
    """Column with a closed public list of keys: all text, all integers or all booleans.

    Every key always appears in a result. A value outside the list is NULL, or with `other` a key of
    its own: `other=True` is the key 'other' of a list of text, `other="Z"` or `other=-1` names it.
    Text matches exactly, letter by letter; NULL itself is never 'other'.

    >>> import discreet as dp
    >>> region = dp.Category(["N", "S", "E", "W"], other=True)
    >>> region.keys(), region.read("S"), region.read("s"), region.read(None)
    (('N', 'S', 'E', 'W', 'other'), 'S', 'other', None)

    Refuses: an empty list, duplicates, mixed kinds, floats, None; InvalidArgument.
    """

    kind: ClassVar[Literal["category"]] = "category"
    values: tuple[KeyValue, ...]
    of: KeyKind
    other: KeyValue | None
    default: KeyValue | None
    null_key: bool

    def __init__(
        self,
        values: Iterable[KeyValue],
        *,
        other: KeyValue = False,
        default: KeyValue | None = None,
        null_key: bool = False,
    ) -> None:
        keys, of = read_keys(values)
        outside = other_key(other, keys, of)
        every = keys if outside is None else (*keys, outside)
        default_key = None if default is None else read_key(default, "default")
        if default_key is not None and (key_kind(default_key) != of or default_key not in every):
            raise InvalidArgument(f"default must be one of the declared keys, got {default!r}")
        has_null_key = check_nulls(default_key, null_key)
        fill(self, values=keys, of=of, other=outside, default=default_key, null_key=has_null_key)

    def __repr__(self) -> str:
        return call(
            "Category",
            list(self.values),
            other=self.other,
            default=self.default,
            null_key=self.null_key or None,
        )

    def read(self, value: object) -> KeyValue | None:
        """Return the key that a stored value counts as; None is NULL."""
        # NULL itself is never the other key, so it is asked for first.
        if is_null(value):
            return self.default
        key = _READERS[self.of](value)
        if key is not None and key in self.values:
            return key
        if self.other is None:
            return self.default
        return self.other

    def keys(self, most: int | None = None) -> tuple[KeyValue | None, ...]:
        """List every key in the declared order, then the other key, then None if NULL is a key."""
        keys: list[KeyValue | None] = list(self.values)
        if self.other is not None:
            keys.append(self.other)
        if self.null_key:
            keys.append(None)
        few(len(keys), most, "this Category")
        return tuple(keys)


@frozen(init=False, repr=False)
class Boolean(DeclaredColumn):
    """Boolean column: booleans, 1 and 0, true t yes y, false f no n; everything else is NULL.

    >>> import discreet as dp
    >>> dp.Boolean().keys(), dp.Boolean().read("No"), dp.Boolean(null_key=True).keys()
    ((False, True), False, (False, True, None))
    """

    kind: ClassVar[Literal["boolean"]] = "boolean"
    default: bool | None
    null_key: bool

    def __init__(self, *, default: bool | None = None, null_key: bool = False) -> None:
        checked_default = None if default is None else read_flag(default, "default")
        fill(self, default=checked_default, null_key=check_nulls(checked_default, null_key))

    def read(self, value: object) -> bool | None:
        """Return the boolean that a stored value counts as; None is NULL."""
        stored = read_boolean(value)
        if stored is None:
            return self.default
        return stored

    def keys(self, most: int | None = None) -> tuple[bool | None, ...]:
        """List no, yes, and None if NULL is a key."""
        keys = (False, True, None) if self.null_key else (False, True)
        few(len(keys), most, "Boolean()")
        return keys


@frozen(init=False, repr=False)
class Text(DeclaredColumn):
    """Free-text column, cut after `max_length` characters; its keys are unknown, so they need δ.

    >>> import discreet as dp
    >>> dp.Text(max_length=5).read("Trondheim")
    'Trond'
    """

    kind: ClassVar[Literal["text"]] = "text"
    max_length: int
    default: str | None
    null_key: bool

    def __init__(
        self, max_length: int, *, default: str | None = None, null_key: bool = False
    ) -> None:
        # The largest length that engines take as a 32-bit integer in `substring`.
        longest = whole(max_length, "max_length", least=1, most=2**31 - 1)
        default_text = None if default is None else read_key(default, "default")
        fits = isinstance(default_text, str) and len(default_text) <= longest
        if default_text is not None and not fits:
            raise InvalidArgument(
                f"default must be text of at most {longest} characters, got {default!r}"
            )
        has_null_key = check_nulls(default_text, null_key)
        fill(self, max_length=longest, default=default_text, null_key=has_null_key)

    def read(self, value: object) -> str | None:
        """Return the text that a stored value counts as; None is NULL."""
        stored = read_text(value)
        if stored is None:
            return self.default
        return stored[: self.max_length]

    def keys(self, most: int | None = None) -> tuple[None, ...]:  # noqa: ARG002
        """Refuse: the keys of free text are not public."""
        raise InvalidArgument(
            "free text has no public list of keys; declare Category([...]), take the keys from a public table, "
            "or let δ select them"
        )
