"""What a file or rows look like: the names of the columns, a guess of each one's kind, and its extremes.

Everything here is read from the data, so it is as private as the data: a guess goes into a draft for the steward, and
extremes only when the steward asks for them. No refusal carries a value.
"""

from __future__ import annotations

import csv
import gzip
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from itertools import islice
from pathlib import Path
from typing import IO, Any, TypeAlias

from ...errors import InvalidArgument
from ...frozen import frozen
from ..columns.cell import absent, moment, native, number, truth
from ..columns.column import ColumnType
from ..unit import read_name
from .delimiter import DELIMITERS
from .forms import form_of, proposal
from .source_rows import frame_rows, stored_rows

InferSource: TypeAlias = Any
"""The path of a CSV, Parquet or DuckDB file (FILE.duckdb#TABLE), a table of PostgreSQL (postgresql://…#TABLE), a data
frame, or rows as mappings."""
FIRST_ROWS = 1000
"""Kinds are guessed from this many rows, unless extremes are wanted too."""
CODE = re.compile(r"[+-]?0[0-9]+|[+-]?[0-9]{19,}")
"""Leading zeros or too many digits for 64 bits: a code to compare, not a number to add up."""
MOST_FORMS = 40
DECIMALS = re.compile(r"[+-]?[0-9]*\.([0-9]{1,4})")
NUMBERS: frozenset[ColumnType] = frozenset({"integer", "real"})


@dataclass(slots=True)
class Look:
    """What one column looks like so far."""

    kinds: frozenset[ColumnType] = frozenset(
        {"boolean", "integer", "real", "date", "timestamp", "text"}
    )
    numbers: tuple[float, float] | None = None
    times: tuple[datetime, datetime] | None = None
    longest: int = 0
    forms: set[str] = field(default_factory=set)
    """Forms of the cells that are text; no more than a few are kept, since a form that is rare proposes nothing."""
    places: int = 0
    """The most decimals of a cell."""

    @property
    def proposal(self) -> tuple[ColumnType, str] | None:
        """The kind and the declaration that would read all text cells seen so far, if they are no plain text."""
        return (
            proposal(self.forms) if self.kind == "text" and len(self.forms) < MOST_FORMS else None
        )

    @property
    def kind(self) -> ColumnType:
        """The narrowest kind all values seen so far fit; text if there were none."""
        order: tuple[ColumnType, ...] = ("boolean", "integer", "real", "date", "timestamp")
        return next((kind for kind in order if kind in self.kinds and len(self.kinds) < 6), "text")

    def take(self, value: object) -> None:
        """Look at one more value."""
        if _blank(value):
            return
        self.kinds &= _kinds(value)
        self.longest = max(self.longest, len(str(value)))
        if isinstance(value, str) and len(self.forms) < MOST_FORMS:
            self.forms.add(form_of(value))
        self.places = max(self.places, _decimals(str(value)))
        x, time = number(value), moment(value)
        if x is not None and abs(x) != float("inf"):
            self.numbers = (
                (x, x)
                if self.numbers is None
                else (min(x, self.numbers[0]), max(x, self.numbers[1]))
            )
        if time is not None:
            self.times = (
                (time, time)
                if self.times is None
                else (min(time, self.times[0]), max(time, self.times[1]))
            )


@frozen
class Looks:
    """What all columns look like, and the most rows of one person if an id was given."""

    columns: dict[str, Look]
    most_rows: int | None


def look(source: InferSource, *, every_row: bool = False, person: str | None = None) -> Looks:
    """Look at a CSV file with a header, or at rows as mappings: the first 1,000 rows, or every one.

    >>> rows = [{"age": "37", "paid": "12.50", "zip": "0152"}, {"age": "41", "paid": "", "zip": "0481"}]
    >>> [look.kind for look in look(rows).columns.values()]
    ['integer', 'real', 'text']

    Refuses a file that cannot be read, one without a header, names no column can have, an id that is no column.
    """
    names, rows = _table(source)
    if person is not None and person not in names:
        raise InvalidArgument(
            f"there is no column {person!r} to tell people by; there are {', '.join(names)}"
        )
    looks, people = {name: Look() for name in names}, Counter[str]()
    for row in rows if every_row else islice(rows, FIRST_ROWS):
        for name in names:
            looks[name].take(row.get(name))
        if person is not None and every_row and not _blank(row.get(person)):
            people[str(row[person])] += 1
    return Looks(looks, max(people.values(), default=None))


def _table(source: InferSource) -> tuple[list[str], Iterator[Mapping[str, object]]]:
    if isinstance(source, str | Path):
        stored = stored_rows(str(source))
        return _file(Path(source)) if stored is None else (_names(stored[0]), stored[1])
    frame = frame_rows(source)
    if frame is not None:
        return _names(frame[0]), frame[1]
    rows = iter(source)
    first = next(rows, None)
    if not isinstance(first, Mapping):
        raise InvalidArgument(
            "infer takes the path of a CSV file, or at least one row as a mapping of names to values"
        )
    return _names(list(first)), _chain(first, rows)


def _chain(
    first: Mapping[str, object], rows: Iterator[Mapping[str, object]]
) -> Iterator[Mapping[str, object]]:
    yield first
    yield from rows


def _file(path: Path) -> tuple[list[str], Iterator[Mapping[str, object]]]:
    rows = _csv_rows(path)
    header = next(rows, [])
    names = _names(header)
    if all(number(name) is not None or moment(name) is not None for name in names):
        raise InvalidArgument(
            f"the first line of {path.name} looks like values; infer needs a first line of names"
        )
    return names, (dict(zip(names, row, strict=False)) for row in rows)


def _csv_rows(path: Path) -> Iterator[list[str]]:
    try:
        with _text(path) as lines:
            first = lines.readline()
            lines.seek(0)
            yield from csv.reader(lines, delimiter=max(DELIMITERS, key=first.count))
    except (OSError, EOFError, zlib.error, csv.Error):
        raise InvalidArgument(
            f"{path.name} cannot be read as CSV; give a text file with one header line"
        ) from None


def _text(path: Path) -> IO[str]:
    """Open a text file, compressed or not."""
    if path.name.lower().endswith(".gz"):
        return gzip.open(path, "rt", encoding="utf-8-sig", errors="replace", newline="")
    return path.open(encoding="utf-8-sig", errors="replace", newline="")


def _names(header: list[object] | list[str]) -> list[str]:
    names = []
    for place, name in enumerate(header, start=1):
        try:
            names.append(read_name(name, f"column {place}"))
        except (
            InvalidArgument
        ):  # the refusal would show the name, which is a value if there is no header
            raise InvalidArgument(
                f"column {place} needs a printable name of at most 63 bytes without quotes"
            ) from None
    if not names or len({name.casefold() for name in names}) < len(names):
        raise InvalidArgument(
            "the columns need names that differ, also in lower case; infer reads them from the header"
        )
    return names


def _blank(value: object) -> bool:
    return absent(value) or (isinstance(value, str) and not value.strip(" "))


def _decimals(word: str) -> int:
    """Count the decimals of a numeral, 0 for all else; many are none that anybody wrote."""
    found = DECIMALS.fullmatch(word.strip(" "))
    return len(found[1]) if found else 0


def _kinds(value: object) -> frozenset[ColumnType]:
    if isinstance(value, str):
        return _kinds_of_text(value.strip(" ")) | {"text"}
    plain = native(value)
    if isinstance(plain, bool):
        return frozenset({"boolean"})
    if isinstance(plain, date):
        return (
            frozenset({"timestamp"})
            if isinstance(plain, datetime)
            else frozenset({"date", "timestamp"})
        )
    x = number(plain)
    if x is None:
        return frozenset({"text"})
    return NUMBERS if isinstance(x, int) else frozenset({"real"})


def _kinds_of_text(word: str) -> frozenset[ColumnType]:
    if CODE.fullmatch(word):
        return frozenset()
    x = number(word)
    if x is not None:
        return NUMBERS if isinstance(x, int) else frozenset({"real"})
    if truth(word) is not None:
        return frozenset({"boolean"})
    if moment(word) is not None:
        return frozenset({"date", "timestamp"}) if len(word) == 10 else frozenset({"timestamp"})
    return frozenset()
