r"""Spellings of text that a column declares: missing marks, blanks, case and accents, aliases.

A cell's text goes through these steps, in this order:

| step | declared by | what happens |
|---|---|---|
| 1 | `strip=True` | blanks at both ends are left out (`BLANKS`) |
| 2 | `fold=True` | case and accents are taken away by `fold_table` |
| 3 | `null=["n/a"]` | a text of the list is NULL |
| 4 | `aliases={"E.R.": "emergency"}` | a text of the list counts as another one |

Steps 1 and 2 are applied to the texts of the lists as well as to the cell, and then both are
compared. Each step is a function of one cell, and every store writes the same steps in SQL
(`engines.sql.reading.spelled`). Columns of other types declare `null` alone; they compare a cell
without spaces at both ends.

Law: tests/engines/test_spelled.py::TestEveryStoreReadsAsTheOracle
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TypeAlias

from ...arithmetic.rational import read_flag
from ...errors import InvalidArgument
from ...frozen import frozen
from .cell import FALSE, TRUE, read_text, to_python
from .fold_table import fold_text
from .keys import KeyKind, KeyValue, read_key

Aliases: TypeAlias = tuple[tuple[str, str], ...]
MissingMarks: TypeAlias = tuple[str, ...] | None
"""Texts that mean NULL, sorted; None if none are declared."""
BLANKS = " \t\n\v\f\r\x85\u00a0\u1680\u2007\u2009\u200b\u202f\u3000\ufeff"
"""Blanks that `strip=True` leaves out: spaces, tabs, line ends, spaces of no width and no break."""
MAX_SPELLINGS = 1000
"""Most texts that count as another one: a store compares a cell with each of them."""


@frozen
class Spelling:
    """Declared spellings of a column of text, checked."""

    null: MissingMarks
    strip: bool
    fold: bool
    aliases: Aliases | None

    def normal(self, text: str) -> str:
        """Return text after the steps `strip` and `fold`."""
        if self.strip:
            text = text.strip(BLANKS)
        if self.fold:
            text = fold_text(text)
        return text

    @property
    def nulls(self) -> frozenset[str]:
        """The texts that are NULL, as they are after `strip` and `fold`."""
        return _nulls(self)

    @property
    def plain(self) -> bool:
        """True if nothing is declared: a cell's text stays as it is written."""
        return not (self.null or self.strip or self.fold or self.aliases)


@lru_cache(maxsize=256)
def _nulls(spelling: Spelling) -> frozenset[str]:
    return frozenset(map(spelling.normal, spelling.null or ()))


def check_null(null: object) -> MissingMarks:
    """Check the texts that mean NULL; return them sorted, None if there are none.

    >>> from discreet.data.columns.spelling import check_null
    >>> check_null(["n/a", "-"])
    ('-', 'n/a')

    Refuses: a text instead of a list, and entries that are no text; InvalidArgument.
    """
    if null is None:
        return None
    if isinstance(null, str) or not isinstance(null, Iterable):
        raise InvalidArgument(
            f"null must be a list of texts that mean a missing value, such as ['n/a', '-'], got {null!r}"
        )
    texts = set()
    for entry in null:
        text = read_key(entry, "null") if isinstance(entry, str) else None
        if not isinstance(text, str):
            raise InvalidArgument(
                f"null lists texts, such as ['n/a', '-999'], got {entry!r}; put it in quotes"
            )
        texts.add(text)
    return tuple(sorted(texts)) or None


def check_truth_null(null: object) -> MissingMarks:
    """Check the texts that mean NULL in a Boolean column; refuse those that mean yes or no."""
    checked = check_null(null)
    for text in checked or ():
        if text.strip(" ").lower() in TRUE | FALSE:
            raise InvalidArgument(
                f"null: {text!r} means yes or no, so it cannot mean a missing value too; leave it out"
            )
    return checked


def check_spelling(
    null: object, strip: object, fold: object, aliases: object, of: KeyKind = "text"
) -> Spelling:
    """Check the declared spellings of a column of keys or text.

    Refuses: spellings of keys that are no text, an alias that means two things, and an alias that
    means a missing value as well; InvalidArgument.
    """
    pairs = _check_aliases(aliases)
    spelling = Spelling(check_null(null), read_flag(strip, "strip"), read_flag(fold, "fold"), pairs)
    if of != "text" and (spelling.strip or spelling.fold or pairs):
        raise InvalidArgument(
            f"strip, fold and aliases are for lists of text; these keys are {of}; list them as text"
        )
    meanings: dict[str, str] = {}
    for written, meant in pairs or ():
        normal = spelling.normal(written)
        if meanings.setdefault(normal, meant) != meant:
            raise InvalidArgument(
                f"the alias {written!r} means both {meanings[normal]!r} and {meant!r}; keep one"
            )
        if normal in spelling.nulls:
            raise InvalidArgument(
                f"{written!r} is an alias of {meant!r} and means NULL too; keep one"
            )
    return spelling


def _check_aliases(aliases: object) -> Aliases | None:
    """Check that aliases map text to text; return the pairs sorted, None if there are none."""
    if aliases is None:
        return None
    if not isinstance(aliases, Mapping):
        raise InvalidArgument(
            f"aliases maps spellings to what they mean, such as {{'E.R.': 'emergency'}}, got {aliases!r}"
        )
    pairs = []
    for written, meant in aliases.items():
        if not isinstance(written, str) or not isinstance(meant, str):
            raise InvalidArgument(
                f"aliases maps text to text, such as {{'E.R.': 'emergency'}}, got {written!r}: {meant!r}"
            )
        pairs.append((str(read_key(written, "aliases")), str(read_key(meant, "aliases"))))
    # Sorted, so that equal declarations are equal values with one fingerprint.
    return tuple(sorted(pairs)) or None


def check_keys(spelling: Spelling, keys: tuple[KeyValue, ...], other: KeyValue | None) -> None:
    """Check spellings against the listed keys of a Category.

    Refuses: an alias of a key that is not listed, an alias that is another listed key, a key that
    means NULL too, keys that become one by strip and fold, and more than 1,000 spellings that
    differ from their keys; InvalidArgument.
    """
    if spelling.plain:
        return
    every = keys if other is None else (*keys, other)
    for written, meant in spelling.aliases or ():
        if meant not in every:
            raise InvalidArgument(
                f"the alias {written!r} stands for {meant!r}, which is not a listed key; list it"
            )
    seen: dict[str, str] = {}
    for key in map(_key_text, keys):
        normal = spelling.normal(key)
        if normal in seen:
            raise InvalidArgument(
                f"strip and fold make one key of {seen[normal]!r} and {key!r}; list one, or leave fold out"
            )
        if normal in spelling.nulls:
            raise InvalidArgument(f"{key!r} is a listed key and means NULL too; keep one")
        seen[normal] = key
    for written, meant in spelling.aliases or ():
        if seen.get(spelling.normal(written), meant) != meant:
            raise InvalidArgument(
                f"{written!r} is a listed key and an alias of {meant!r} too; keep one"
            )
    count = sum(written != meant for written, meant in spellings_of(spelling, keys))
    if count > MAX_SPELLINGS:
        raise InvalidArgument(
            f"{count} spellings count as another key, more than {MAX_SPELLINGS}; "
            "list the keys as they are written, or after strip and fold"
        )


def _key_text(key: KeyValue) -> str:
    # Keys that are no text are read as text only to be compared with the missing marks.
    return str(read_text(key))


@lru_cache(maxsize=256)
def spellings_of(
    spelling: Spelling, keys: tuple[KeyValue, ...]
) -> tuple[tuple[str, KeyValue], ...]:
    """List the texts, after strip and fold, that count as a key: the keys themselves and aliases.

    >>> from discreet.data.columns.spelling import check_spelling, spellings_of
    >>> spellings_of(check_spelling(None, False, True, {"E.R.": "Ward"}), ("Ward",))
    (('ward', 'Ward'), ('e.r.', 'Ward'))
    """
    meanings: dict[str, KeyValue] = {}
    for key in keys:
        meanings[spelling.normal(str(key))] = key
    for written, meant in spelling.aliases or ():
        meanings[spelling.normal(written)] = meant
    return tuple(meanings.items())


@lru_cache(maxsize=256)
def key_by_spelling(spelling: Spelling, keys: tuple[KeyValue, ...]) -> dict[str, KeyValue]:
    """Return the key of each text of `spellings_of`, by the text after strip and fold."""
    return dict(spellings_of(spelling, keys))


def check_text(spelling: Spelling, max_length: int, default: object) -> None:
    """Check spellings of free text.

    Refuses: an alias for, or a default of, a text that is too long, that another step would change,
    or that is an alias or a missing mark itself; more than 1,000 aliases; InvalidArgument.
    """
    written_normal = {spelling.normal(written): meant for written, meant in spelling.aliases or ()}
    if len(written_normal) > MAX_SPELLINGS:
        raise InvalidArgument(
            f"there are {len(written_normal)} aliases, more than {MAX_SPELLINGS}; declare a Category"
        )
    targets = [meant for _, meant in spelling.aliases or ()]
    if isinstance(default, str):
        targets.append(default)
    for meant in targets:
        normal = spelling.normal(meant)
        if len(meant) > max_length or normal != meant:
            raise InvalidArgument(
                f"{meant!r} must be text of at most {max_length} characters as strip and fold write it; "
                f"write {normal[:max_length]!r}"
            )
        if normal in spelling.nulls or written_normal.get(normal, normal) != normal:
            raise InvalidArgument(f"{meant!r} means NULL or has an alias itself; keep one meaning")


def is_missing(value: object, null: MissingMarks) -> bool:
    """Return whether a cell's text, without spaces at both ends, is declared to mean NULL.

    It is for columns of other kinds than text. Integers are compared as digits, truths as true and
    false; a stored fraction or time is compared with no mark.

    >>> from discreet.data.columns.spelling import is_missing
    >>> is_missing(" n/a ", ("n/a",)), is_missing(-999, ("-999",)), is_missing(-999.0, ("-999",))
    (True, True, False)
    """
    if null is None:
        return False
    text = read_text(to_python(value))
    if text is None:
        return False
    return text.strip(" ") in _stripped(null)


@lru_cache(maxsize=256)
def _stripped(null: tuple[str, ...]) -> frozenset[str]:
    """Return missing marks without spaces at both ends, once for all cells of a column."""
    return frozenset(entry.strip(" ") for entry in null)
