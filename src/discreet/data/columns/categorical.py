"""Key columns: a closed public list, a boolean, or free text.

Values of free text are shown only by private partition selection, or as keys of a public table.

Law: tests/data/test_columns.py::TestCategory, tests/data/test_columns.py::TestEveryColumn
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import ClassVar, Literal

from ...arithmetic.rational import read_flag, whole
from ...errors import InvalidArgument
from ...frozen import field, fill, frozen
from .cell import is_null, read_boolean, read_key_number, read_text
from .declared import DeclaredColumn, call, check_nulls, few
from .keys import KeyKind, KeyValue, key_kind, other_key, read_key, read_keys
from .label import Labels, check_label, check_labels
from .spelling import (
    Aliases,
    MissingMarks,
    Spelling,
    check_keys,
    check_spelling,
    check_text,
    check_truth_null,
    is_missing,
    key_by_spelling,
)

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

    Declared spellings of text (`spelling`) widen that: `strip=True` and `fold=True` leave out blanks
    at both ends, case and accents; `aliases={"E.R.": "emergency"}` says what a spelling means;
    `null=["n/a"]` lists texts that are NULL.

    `label` and `labels={0: "woman", 1: "man"}` are words for people: no question changes by them.

    >>> import discreet as dp
    >>> region = dp.Category(["N", "S", "E", "W"], other=True)
    >>> region.keys(), region.read("S"), region.read("s"), region.read(None)
    (('N', 'S', 'E', 'W', 'other'), 'S', 'other', None)
    >>> ward = dp.Category(["emergency", "surgery"], aliases={"E.R.": "emergency"}, fold=True, strip=True)
    >>> ward.read(" Emergency"), ward.read("e.r."), ward.read("ICU")
    ('emergency', 'emergency', None)

    Refuses: an empty list, duplicates, mixed kinds, floats, None, and spellings that contradict
    each other or the list; InvalidArgument.
    """

    kind: ClassVar[Literal["category"]] = "category"
    values: tuple[KeyValue, ...]
    of: KeyKind
    other: KeyValue | None
    default: KeyValue | None
    null_key: bool
    null: MissingMarks
    strip: bool
    fold: bool
    aliases: Aliases | None
    label: str | None = field(compare=False)
    labels: Labels | None = field(compare=False)

    def __init__(
        self,
        values: Iterable[KeyValue],
        *,
        other: KeyValue = False,
        default: KeyValue | None = None,
        null_key: bool = False,
        null: Iterable[str] | None = None,
        strip: bool = False,
        fold: bool = False,
        aliases: Mapping[str, str] | None = None,
        label: str | None = None,
        labels: Mapping[KeyValue, str] | None = None,
    ) -> None:
        keys, of = read_keys(values)
        outside = other_key(other, keys, of)
        every = keys if outside is None else (*keys, outside)
        default_key = None if default is None else read_key(default, "default")
        if default_key is not None and (key_kind(default_key) != of or default_key not in every):
            raise InvalidArgument(f"default must be one of the declared keys, got {default!r}")
        has_null_key = check_nulls(default_key, null_key)
        spelling = check_spelling(null, strip, fold, aliases, of)
        check_keys(spelling, keys, outside)
        fill(
            self,
            values=keys,
            of=of,
            other=outside,
            default=default_key,
            null_key=has_null_key,
            null=spelling.null,
            strip=spelling.strip,
            fold=spelling.fold,
            aliases=spelling.aliases,
            label=check_label(label),
            labels=check_labels(labels, every),
        )

    def __repr__(self) -> str:
        options = self.options()
        del options["values"], options["of"]
        return call("Category", list(self.values), **options)

    @property
    def spelling(self) -> Spelling:
        """The declared spellings of text."""
        return Spelling(self.null, self.strip, self.fold, self.aliases)

    def read(self, value: object) -> KeyValue | None:
        """Return the key that a stored value counts as; None is NULL."""
        # NULL itself is never the other key, so it is asked for first.
        if is_null(value) or self._is_missing(value):
            return self.default
        key = self._key(value)
        if key is not None:
            return key
        if self.other is None:
            return self.default
        return self.other

    def _is_missing(self, value: object) -> bool:
        if self.null is None:
            return False
        if self.of != "text":
            return is_missing(value, self.null)
        text = read_text(value)
        return text is not None and self.spelling.normal(text) in self.spelling.nulls

    def _key(self, value: object) -> KeyValue | None:
        """Return the listed key of a stored value, None if it has none."""
        key = _READERS[self.of](value)
        is_spelled = self.strip or self.fold or self.aliases is not None
        if not isinstance(key, str) or not is_spelled:
            return key if key is not None and key in self.values else None
        spelling = self.spelling
        return key_by_spelling(spelling, self.values).get(spelling.normal(key))

    def keys(self, most: int | None = None) -> tuple[KeyValue | None, ...]:
        """List every key in the declared order, then the other key, then None if NULL is a key.

        Refuses: more than `most` keys, if that is given.
        """
        keys: list[KeyValue | None] = list(self.values)
        if self.other is not None:
            keys.append(self.other)
        if self.null_key:
            keys.append(None)
        few(len(keys), most, "this Category")
        return tuple(keys)


@frozen(init=False, repr=False)
class Boolean(DeclaredColumn):
    """Boolean column: booleans, 1 and 0, and the texts true t yes y 1, false f no n 0.

    Case and spaces at both ends of a text do not matter. Everything else is NULL.

    `null=["n/a"]` lists texts that count as missing rather than unreadable in a report.

    >>> import discreet as dp
    >>> dp.Boolean().keys(), dp.Boolean().read("No"), dp.Boolean(null_key=True).keys()
    ((False, True), False, (False, True, None))
    """

    kind: ClassVar[Literal["boolean"]] = "boolean"
    default: bool | None
    null_key: bool
    null: MissingMarks
    label: str | None = field(compare=False)
    labels: Labels | None = field(compare=False)

    def __init__(
        self,
        *,
        default: bool | None = None,
        null_key: bool = False,
        null: Iterable[str] | None = None,
        label: str | None = None,
        labels: Mapping[bool, str] | None = None,
    ) -> None:
        checked_default = None if default is None else read_flag(default, "default")
        fill(
            self,
            default=checked_default,
            null_key=check_nulls(checked_default, null_key),
            null=check_truth_null(null),
            label=check_label(label),
            labels=check_labels(labels, (False, True)),
        )

    def read(self, value: object) -> bool | None:
        """Return the boolean that a stored value counts as; None is NULL."""
        # Missing marks never mean yes or no, so they are unreadable anyway.
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
    """Free-text column, cut after `max_length` characters.

    No list of its values is public. An answer can show them as keys only if they come from a public
    table, or by private partition selection, which needs a δ above 0.

    `strip`, `fold`, `aliases` and `null` come first, as for a Category; a value is then text as
    these steps write it.

    >>> import discreet as dp
    >>> dp.Text(max_length=5).read("Trondheim")
    'Trond'
    >>> dp.Text(20, strip=True, fold=True, aliases={"NYC": "new york"}).read(" nyc ")
    'new york'
    """

    kind: ClassVar[Literal["text"]] = "text"
    max_length: int
    default: str | None
    null_key: bool
    null: MissingMarks
    strip: bool
    fold: bool
    aliases: Aliases | None
    label: str | None = field(compare=False)

    def __init__(
        self,
        max_length: int,
        *,
        default: str | None = None,
        null_key: bool = False,
        null: Iterable[str] | None = None,
        strip: bool = False,
        fold: bool = False,
        aliases: Mapping[str, str] | None = None,
        label: str | None = None,
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
        spelling = check_spelling(null, strip, fold, aliases)
        if not spelling.plain:
            check_text(spelling, longest, default_text)
        fill(
            self,
            max_length=longest,
            default=default_text,
            null_key=has_null_key,
            null=spelling.null,
            strip=spelling.strip,
            fold=spelling.fold,
            aliases=spelling.aliases,
            label=check_label(label),
        )

    @property
    def spelling(self) -> Spelling:
        """The declared spellings of text."""
        return Spelling(self.null, self.strip, self.fold, self.aliases)

    def read(self, value: object) -> str | None:
        """Return the text that a stored value counts as; None is NULL."""
        stored = read_text(value)
        if stored is None:
            return self.default
        spelling = self.spelling
        if not spelling.plain:
            normal = spelling.normal(stored)
            if normal in spelling.nulls:
                return self.default
            stored = str(key_by_spelling(spelling, ()).get(normal, normal))
        return stored[: self.max_length]

    def keys(self, most: int | None = None) -> tuple[None, ...]:  # noqa: ARG002
        """Refuse: the keys of free text are not public."""
        raise InvalidArgument(
            "free text has no public list of keys; declare Category([...]), take the keys from a public table, "
            "or let δ select them"
        )
