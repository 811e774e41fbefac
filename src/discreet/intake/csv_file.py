"""A CSV file as a steward hands it over: opened once, checked to the last byte, described for whoever reads it."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from ..data.infer.sniff import DELIMITERS
from ..errors import InvalidArgument
from .grammar import Records, check_grammar

__all__ = ["CsvFile", "open_csv"]

BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class CsvFile:
    """A well-formed file: where it lies, what separates its fields, the names of its columns, and its records."""

    path: Path
    delimiter: str
    header: tuple[str, ...]
    records: Records


def open_csv(path: str | Path) -> CsvFile:
    """Check a CSV file from its first to its last byte.

    The delimiter is the one that occurs most in the header line: the names of columns are public, no other line is
    asked.

    Refuses a file that cannot be read, one whose first line does not name its columns, and whatever the grammar
    refuses.
    """
    place = Path(path)
    try:
        delimiter, header = _header(place)
        records = check_grammar(_blocks(place), delimiter)
    except (OSError, EOFError, zlib.error):  # the last two: a compressed file that ends too early, or is none
        raise InvalidArgument(f"{place.name} cannot be read; give the path of a .csv, .tsv or .txt file") from None
    except InvalidArgument as problem:
        raise InvalidArgument(f"{place.name} cannot be read as CSV: {problem}") from None
    return CsvFile(place, delimiter, header, records)


def _header(place: Path) -> tuple[str, tuple[str, ...]]:
    """Read the first record, whose quoted names may hold line ends; a delimiter inside quotes does not count."""
    first = b""
    with _opened(place) as file:
        for line in file:
            first += line
            if first.count(b'"') % 2 == 0 or len(first) > BLOCK:
                break
    text = first.decode("utf-8-sig", errors="replace")
    outside = "".join(text.split('"')[::2])
    delimiter = max(DELIMITERS, key=outside.count)
    try:
        header = tuple(next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True), ()))
    except csv.Error:
        header = ()
    if not header or not all(header) or len({label.casefold() for label in header}) < len(header):
        raise InvalidArgument("the first line must name its columns, each with a name of its own")
    return delimiter, header


def _blocks(place: Path) -> Iterator[bytes]:
    """Yield the bytes of a file but for a byte order mark at its start."""
    with _opened(place) as file:
        block = file.read(BLOCK).removeprefix(codecs.BOM_UTF8)
        while block:
            yield block
            block = file.read(BLOCK)


def _opened(place: Path) -> IO[bytes]:
    return gzip.open(place, "rb") if place.name.lower().endswith(".gz") else place.open("rb")  # type: ignore[return-value]
