"""A CSV file as a steward hands it over: opened once, checked to the last byte, described for whoever reads it."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Literal, TypeAlias

from ..data.drafting.delimiter import DELIMITERS
from ..errors import InvalidArgument
from ..frozen import fill, frozen, replace
from .bad_record import mended
from .grammar import Records, check_grammar

BLOCK = 1 << 20
BadRecord: TypeAlias = Literal["refuse", "drop", "null"]
"""What becomes of a record that breaks the grammar: the file is refused, or by the steward's word the record goes."""


@frozen
class Csv:
    r"""Declare how a CSV file is written; nothing about it is guessed from its records.

    `path` is a file, a pattern such as "2024/*.csv" or a list of them, compressed (.gz) or not. `delimiter` is by
    default the one of , ; tab | that occurs most in the line of names, which are public. `header` is False where the
    file has no such line; then `names` are those of its columns, and `delimiter` must be said: the first line is a
    record, and one record must not decide how others are cut. `on_bad_record="drop"` leaves out records that
    break the grammar, `"null"` keeps them without any cell: the steward's word, counted in the store's report.

    >>> import discreet as dp
    >>> dp.Csv("people.csv", delimiter=";", encoding="latin-1").delimiter
    ';'

    Refuses a delimiter or quote that is not one ASCII character, an encoding Python does not know, a file without a
    header whose names or delimiter are not said.
    """

    path: object
    delimiter: str | None = None
    quote: str = '"'
    header: bool = True
    names: tuple[str, ...] = ()
    encoding: str = "utf-8"
    on_bad_record: BadRecord = "refuse"

    def __post_init__(self) -> None:
        for name, letter in (("delimiter", self.delimiter or ","), ("quote", self.quote)):
            if len(letter) != 1 or not letter.isascii() or letter in "\r\n\0":
                raise InvalidArgument(f"{name} must be one ASCII character, got {letter!r}")
        if self.delimiter == self.quote:
            raise InvalidArgument("the delimiter and the quote must differ")
        if self.header == bool(self.names):
            raise InvalidArgument(
                "give the names of the columns where the file has no header, header=False, only then"
            )
        if not self.header and self.delimiter is None:
            raise InvalidArgument(
                'header=False needs delimiter=, such as delimiter=",": without a line of names the delimiter would be '
                "taken from the first record, and one record must not decide how others are cut"
            )
        if self.on_bad_record not in ("refuse", "drop", "null"):
            raise InvalidArgument(
                f"on_bad_record must be refuse, drop or null, got {self.on_bad_record!r}"
            )
        fill(self, names=tuple(self.names), encoding=_encoding(self.encoding))


@frozen
class CsvFile:
    """A well-formed file: where it lies, what separates its fields, the names of its columns, and its records.

    `bad` records broke the grammar and were left out or emptied by the steward's word.
    """

    path: Path
    delimiter: str
    header: tuple[str, ...]
    records: Records
    quote: str = '"'
    named: bool = True
    bad: int = 0

    @property
    def rows(self) -> int:
        """How many records there are, the line of names not counted."""
        return self.records.count


def open_csv(path: str | Path | Csv, workspace: Path | None = None) -> CsvFile:
    """Check a CSV file from its first to its last byte.

    Text that is not UTF-8 is written anew in `workspace`, a private folder. So is a compressed file that zeros follow,
    as tapes leave them, since not every reader stops there; a file whose bad records are to go; one whose lines end in
    LF and CRLF by turns, or in CRLF after a first record with line ends in quotes: readers go by the first they meet.

    Refuses a file that cannot be read, one whose first line does not name its columns (unless `names` do), and
    whatever the grammar refuses.
    """
    form = path if isinstance(path, Csv) else Csv(path)
    place = Path(str(form.path))
    try:
        source, bad = place, 0
        if form.encoding != "utf-8" or _padded(place):
            source = utf8(place, form.encoding, _workspace(workspace))
        delimiter, header = _header(source, form)
        if form.on_bad_record != "refuse":
            source, bad = _mended(
                source, replace(form, delimiter=delimiter), len(header), _workspace(workspace)
            )
        declared = None if form.header else len(header)
        records = check_grammar(_blocks(source), delimiter, form.quote, fields=declared)
        if records.crlf and (
            records.lf or set("\r\n") & set(_first(source, form.quote).rstrip("\r\n"))
        ):
            source, records = (
                _one_end(source, form.quote, _workspace(workspace)),
                replace(records, crlf=False),
            )
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise InvalidArgument(
            f"{place.name} cannot be unpacked: it is damaged, ends too early or is not compressed; see gzip -t"
        ) from None
    except OSError:
        raise InvalidArgument(
            f"{place.name} cannot be read; give the path of a .csv, .tsv or .txt file"
        ) from None
    except InvalidArgument as problem:
        raise InvalidArgument(f"{place.name} cannot be read as CSV: {problem}") from None
    if records.fields != len(header):
        raise InvalidArgument(
            f"{place.name} has {records.fields} fields a record, and {len(header)} names are given"
        )
    return CsvFile(source, delimiter, header, records, form.quote, form.header, bad)


def utf8(place: Path, encoding: str, workspace: Path) -> Path:
    """Write a file's text as UTF-8 into a private folder.

    Refuses text that is not in its declared encoding.
    """
    copy = workspace / f"{len(list(workspace.iterdir()))}.csv"
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        with opened(place) as source, copy.open("xb") as target:
            while block := source.read(BLOCK):
                target.write(decoder.decode(block).encode())
            target.write(decoder.decode(b"", final=True).encode())
    except UnicodeError:
        raise InvalidArgument(
            f"its text is not {encoding}; declare the encoding it was saved in"
        ) from None
    return copy


def opened(place: Path) -> IO[bytes]:
    """Open a file for its bytes, those of a compressed one as they were before."""
    return gzip.open(place, "rb") if place.name.lower().endswith(".gz") else place.open("rb")  # type: ignore[return-value]


def _padded(place: Path) -> bool:
    """Return whether more zeros stand at the end of a compressed file than its last part can end in: nine."""
    if not place.name.lower().endswith(".gz"):
        return False
    with place.open("rb") as file:
        file.seek(max(0, place.stat().st_size - 10))
        return file.read() == bytes(10)


def _mended(source: Path, form: Csv, fields: int, workspace: Path) -> tuple[Path, int]:
    copy = workspace / f"{len(list(workspace.iterdir()))}.csv"
    with opened(source) as file:
        data = file.read().removeprefix(codecs.BOM_UTF8)
    text, bad = mended(
        data, str(form.delimiter), form.quote, fields, keep=form.on_bad_record == "null"
    )
    copy.write_bytes(text)
    return copy, bad


def _one_end(source: Path, quote: str, workspace: Path) -> Path:
    """Write a file that keeps the grammar anew, with LF at the end of every record; what is in quotes stays."""
    copy = workspace / f"{len(list(workspace.iterdir()))}.csv"
    mark, inside, held = quote.encode(), 0, b""
    with copy.open("xb") as target:
        for block in _blocks(source):
            pieces = (held + block).split(mark)
            held = (
                b"\r" if pieces[-1].endswith(b"\r") else b""
            )  # the LF that belongs to it may be in the next block
            pieces[-1] = pieces[-1].removesuffix(held)
            pieces[inside::2] = [piece.replace(b"\r\n", b"\n") for piece in pieces[inside::2]]
            inside = (inside + len(pieces) - 1) % 2
            target.write(mark.join(pieces))
        target.write(held)
    return copy


def _workspace(given: Path | None) -> Path:
    if given is None:
        raise InvalidArgument("such a file is written anew, which needs a private folder")
    return given


def _encoding(name: object) -> str:
    try:
        known = codecs.lookup(str(name)).name
    except LookupError:
        raise InvalidArgument(
            f"there is no encoding {name!r}; try utf-8, latin-1 or cp1252"
        ) from None
    return "utf-8" if known in ("utf-8", "utf-8-sig", "ascii") else known


def _header(place: Path, form: Csv) -> tuple[str, tuple[str, ...]]:
    """Read the line of names, which may hold line ends in quotes; a delimiter inside quotes does not count.

    Without such a line nothing is read: names and delimiter are declared.
    """
    if not form.header:
        return str(form.delimiter), form.names
    text = _first(place, form.quote)
    outside = "".join(text.split(form.quote)[::2])
    delimiter = form.delimiter or max(DELIMITERS, key=outside.count)
    # A line of names that breaks the grammar would go as a bad record, and the first record be taken for it.
    if text:
        check_grammar([text.encode(errors="surrogateescape")], delimiter, form.quote)
    try:
        rows = csv.reader(
            io.StringIO(text, newline=""), delimiter=delimiter, quotechar=form.quote, strict=True
        )
        header = tuple(next(rows, ()))
    except csv.Error:
        header = ()
    if not header or not all(header) or len({label.casefold() for label in header}) < len(header):
        raise InvalidArgument("the first line must name its columns, each with a name of its own")
    return delimiter, header


def _first(place: Path, quote: str) -> str:
    first = b""
    with opened(place) as file:
        for line in file:
            first += line
            if first.count(quote.encode()) % 2 == 0 or len(first) > BLOCK:
                break
    return first.decode("utf-8-sig", errors="surrogateescape")


def _blocks(place: Path) -> Iterator[bytes]:
    """Yield the bytes of a file but for a byte order mark at its start."""
    with opened(place) as file:
        block = file.read(BLOCK).removeprefix(codecs.BOM_UTF8)
        while block:
            yield block
            block = file.read(BLOCK)
