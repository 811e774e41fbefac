"""Columns of keys: a closed public list, yes or no, or free text that only a private selection may show."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import ClassVar, Literal

from ...arithmetic.rational import whole
from ...errors import InvalidArgument
from ...frozen import fill, frozen
from .amount import call
from .cell import absent, key_number, text, truth
from .keys import KeyKind, KeyValue, few, key_kind, listed, other_key, read_key
from .nulls import Nulls, flag, nulls

_READERS: dict[KeyKind, Callable[[object], KeyValue | None]] = {
    "text": text,
    "integer": key_number,
    "boolean": truth,
}


@frozen(init=False, repr=False)
class Category:
    """Declare a closed public list of keys, all text, all whole numbers or all booleans; every one always appears.

    A value outside the list is NULL, or with `other` a key of its own: `other=True` is the key 'other' of a list of
    text, `other="Z"` or `other=-1` names it. Text matches exactly, letter by letter; NULL itself is never 'other'.

    >>> import discreet as dp
    >>> region = dp.Category(["N", "S", "E", "W"], other=True)
    >>> region.keys(), region.read("S"), region.read("s"), region.read(None)
    (('N', 'S', 'E', 'W', 'other'), 'S', 'other', None)

    Refuses an empty list, duplicates, mixed kinds, floats, None.
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
        keys, of = listed(values)
        extra = other_key(other, keys, of)
        every = keys if extra is None else (*keys, extra)
        stand_in = None if default is None else read_key(default, "default")
        if stand_in is not None and (key_kind(stand_in) != of or stand_in not in every):
            raise InvalidArgument(f"default must be one of the declared keys, got {default!r}")
        nulls(stand_in, flag(null_key, "null_key"))
        fields = {
            "values": keys,
            "of": of,
            "other": extra,
            "default": stand_in,
            "null_key": null_key,
        }
        fill(self, **fields)

    def __repr__(self) -> str:
        return call(
            "Category",
            list(self.values),
            other=self.other,
            default=self.default,
            null_key=self.null_key or None,
        )

    @property
    def nulls(self) -> Nulls:
        """The rule for NULL: drop, default or key."""
        return nulls(self.default, self.null_key)

    def read(self, value: object) -> KeyValue | None:
        """Return which key a stored value counts as; None is NULL."""
        if absent(value):
            return self.default
        key = _READERS[self.of](value)
        if key is not None and key in self.values:
            return key
        return self.default if self.other is None else self.other

    def keys(self, most: int | None = None) -> tuple[KeyValue | None, ...]:
        """List every key in the declared order, then the other key, then None if NULL is a key."""
        every = (
            *self.values,
            *(() if self.other is None else (self.other,)),
            *((None,) if self.null_key else ()),
        )
        few(len(every), most, "this Category")
        return every


@frozen(init=False, repr=False)
class Boolean:
    """Declare yes or no: booleans, 1 and 0, and the words true t yes y, false f no n; all else is NULL.

    >>> import discreet as dp
    >>> dp.Boolean().keys(), dp.Boolean().read("No"), dp.Boolean(null_key=True).keys()
    ((False, True), False, (False, True, None))
    """

    kind: ClassVar[Literal["boolean"]] = "boolean"
    default: bool | None
    null_key: bool

    def __init__(self, *, default: bool | None = None, null_key: bool = False) -> None:
        stand_in = None if default is None else flag(default, "default")
        nulls(stand_in, flag(null_key, "null_key"))
        fill(self, default=stand_in, null_key=null_key)

    def __repr__(self) -> str:
        return call("Boolean", default=self.default, null_key=self.null_key or None)

    @property
    def nulls(self) -> Nulls:
        """The rule for NULL: drop, default or key."""
        return nulls(self.default, self.null_key)

    def read(self, value: object) -> bool | None:
        """Return what a stored value counts as; None is NULL."""
        found = truth(value)
        return self.default if found is None else found

    def keys(self, most: int | None = None) -> tuple[bool | None, ...]:
        """List no, yes, and None if NULL is a key."""
        every = (False, True, None) if self.null_key else (False, True)
        few(len(every), most, "Boolean()")
        return every


@frozen(init=False, repr=False)
class Text:
    """Declare free text, cut after `max_length` characters; its keys are unknown, so showing one needs δ.

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
        longest = whole(max_length, "max_length", least=1, most=2**31 - 1)
        stand_in = None if default is None else read_key(default, "default")
        if stand_in is not None and (not isinstance(stand_in, str) or len(stand_in) > longest):
            raise InvalidArgument(
                f"default must be text of at most {longest} characters, got {default!r}"
            )
        nulls(stand_in, flag(null_key, "null_key"))
        fill(self, max_length=longest, default=stand_in, null_key=null_key)

    def __repr__(self) -> str:
        return call(
            "Text", max_length=self.max_length, default=self.default, null_key=self.null_key or None
        )

    @property
    def nulls(self) -> Nulls:
        """The rule for NULL: drop, default or key."""
        return nulls(self.default, self.null_key)

    def read(self, value: object) -> str | None:
        """Return what a stored value counts as; None is NULL."""
        found = text(value)
        return self.default if found is None else found[: self.max_length]

    def keys(self, most: int | None = None) -> tuple[None, ...]:  # noqa: ARG002
        """Refuse: the keys of free text are not public."""
        raise InvalidArgument(
            "free text has no public list of keys; declare Category([...]), take the keys from a public table, "
            "or let δ select them"
        )
