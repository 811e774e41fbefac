"""CSV files: a steward's options, and a check of the whole file before any store reads it.

`open_csv` checks a file to its last byte and describes it. It refuses a file with records that
break the grammar; if the steward allows it, such records are dropped or emptied in a private copy.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Literal, TypeAlias

from ..data.drafting.delimiter import DELIMITERS
from ..errors import InvalidArgument
from ..frozen import fill, frozen, replace
from .grammar import Records, check_grammar

BLOCK = 1 << 20
"""Bytes that are read at a time."""
_PADDING = 10
"""Zeros at the end of a compressed file that cannot belong to its last member: it has up to nine."""
BadRecord: TypeAlias = Literal["refuse", "drop", "null"]
"""Treatment of a record that breaks the grammar.

The file is refused; or, as the steward allows, the record is dropped or its cells are NULL."""


@frozen
class Csv:
    r"""Declare the format of a CSV file; nothing about it is guessed from its records.

    `path` is a file, a pattern such as "2024/*.csv" or a list of them, compressed (.gz) or not.
    `delimiter` is by default the one of , ; tab | that occurs most in the line of names, which are
    public. `header` is False where the file has no such line. Then `names` are those of its
    columns, and `delimiter` must be given: the first line is a record, and one record must not
    decide how others are split. `on_bad_record="drop"` leaves out records that break the grammar,
    `"null"` keeps them without any cell. The steward decides, and the store's report counts them.

    >>> import discreet as dp
    >>> dp.Csv("people.csv", delimiter=";", encoding="latin-1").delimiter
    ';'

    Refuses: a delimiter or quote that is not one ASCII character, an encoding Python does not know,
    a file without a header whose names or delimiter are not given.
    """

    path: object
    delimiter: str | None = None
    quote: str = '"'
    header: bool = True
    names: tuple[str, ...] = ()
    encoding: str = "utf-8"
    on_bad_record: BadRecord = "refuse"

    def __post_init__(self) -> None:
        # An empty text is no delimiter; only None asks for the one of the line of names.
        delimiter = "," if self.delimiter is None else self.delimiter
        for name, letter in (("delimiter", delimiter), ("quote", self.quote)):
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
    """A well-formed file: its path, its delimiter, the names of its columns, and its records.

    `bad` records broke the grammar and were dropped or emptied, as the steward allowed.
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
        """The number of records, without the line of names."""
        return self.records.count


def open_csv(path: str | Path | Csv, workspace: Path | None = None) -> CsvFile:
    """Check a CSV file from its first to its last byte.

    These files are written anew in `workspace`, a private folder:

    - a file with another declared `encoding` than UTF-8;
    - a compressed file that zeros follow, as tapes leave them, since not every reader stops there;
    - a file whose bad records are to be dropped or emptied, even if it has none;
    - one whose lines end in LF and in CRLF, or in CRLF after a first record with line ends in
      quotes, since readers go by the first line end they meet.

    Refuses: a file that cannot be read, one whose first line does not name its columns (unless
    `names` do), one of these without a `workspace`, and everything that the grammar refuses,
    unless `on_bad_record` allows it.

    Law: tests/intake/test_csv_file.py::test_what_cannot_be_read_is_refused_in_our_words
    """
    options = path if isinstance(path, Csv) else Csv(path)
    given = Path(str(options.path))
    try:
        file = _checked_file(given, options, workspace)
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise InvalidArgument(
            f"{given.name} cannot be unpacked: it is damaged, ends too early or is not compressed; see gzip -t"
        ) from None
    except FileNotFoundError:
        raise InvalidArgument(f"{given} cannot be read: there is no such file") from None
    except OSError:
        raise InvalidArgument(
            f"{given.name} cannot be read; give the path of a .csv, .tsv or .txt file"
        ) from None
    except InvalidArgument as problem:
        raise InvalidArgument(f"{given.name} cannot be read as CSV: {problem}") from None
    if file.records.fields != len(file.header):
        raise InvalidArgument(
            f"{given.name} has {file.records.fields} fields a record, and {len(file.header)} names are given"
        )
    return file


def _checked_file(given: Path, options: Csv, workspace: Path | None) -> CsvFile:
    """Check a file by its options, and describe it; write it anew where `open_csv` says so."""
    source = given
    if options.encoding != "utf-8" or _is_padded(given):
        source = _copy_as_utf8(given, options.encoding, _required(workspace))
    delimiter, header = _header(source, options)
    bad = 0
    if options.on_bad_record != "refuse":
        declared = replace(options, delimiter=delimiter)
        source, bad = _copy_mended(source, declared, len(header), _required(workspace))
    # Without a header the given names say how many fields a record has.
    fields = None if options.header else len(header)
    records = check_grammar(_blocks(source), delimiter, options.quote, fields=fields)
    if records.crlf and (records.lf or _has_quoted_ends(source, options.quote)):
        source = _copy_with_lf(source, options.quote, _required(workspace))
        records = replace(records, crlf=False)
    return CsvFile(source, delimiter, header, records, options.quote, options.header, bad)


def _has_quoted_ends(path: Path, quote: str) -> bool:
    """Return whether the first record of a file has a line end inside quotes."""
    first = _first_record(path, quote).rstrip("\r\n")
    return "\r" in first or "\n" in first


def _copy_as_utf8(path: Path, encoding: str, workspace: Path) -> Path:
    """Write a file's text as UTF-8 into a private folder.

    Refuses: text that is not in its declared encoding.
    """
    copy = _new_file(workspace)
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        with _open_bytes(path) as source, copy.open("xb") as target:
            while block := source.read(BLOCK):
                target.write(decoder.decode(block).encode())
            target.write(decoder.decode(b"", final=True).encode())
    except UnicodeError:
        raise InvalidArgument(
            f"its text is not {encoding}; declare the encoding it was saved in"
        ) from None
    return copy


def _new_file(workspace: Path) -> Path:
    number = len(list(workspace.iterdir()))
    return workspace / f"{number}.csv"


def _open_bytes(path: Path) -> IO[bytes]:
    """Open a file for reading bytes; a compressed file is unpacked."""
    if path.name.lower().endswith(".gz"):
        return gzip.open(path, "rb")  # type: ignore[return-value]
    return path.open("rb")


def _is_padded(path: Path) -> bool:
    """Return whether a compressed file ends in more zeros than its last member can end in."""
    if not path.name.lower().endswith(".gz"):
        return False
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _PADDING))
        return file.read() == bytes(_PADDING)


def _copy_mended(source: Path, options: Csv, fields: int, workspace: Path) -> tuple[Path, int]:
    """Write a file anew with its bad records dropped or emptied, as `options` say.

    Returns the copy in `workspace` and the number of bad records. `fields` is the number of fields
    of a good record.
    """
    copy = _new_file(workspace)
    # The whole file at once: a bad record is found only by looking ahead.
    with _open_bytes(source) as file:
        data = file.read().removeprefix(codecs.BOM_UTF8)
    keep = options.on_bad_record == "null"
    text, bad = mend_records(data, str(options.delimiter), options.quote, fields, keep=keep)
    copy.write_bytes(text)
    return copy, bad


def _copy_with_lf(source: Path, quote: str, workspace: Path) -> Path:
    """Write a file that keeps the grammar anew, with LF at the end of every record.

    Text in quotes stays as it is.
    """
    copy = _new_file(workspace)
    mark = quote.encode()
    # The pieces between quotes are outside and inside by turns: 0 if the first is outside.
    first_outside = 0
    held = b""
    with copy.open("xb") as target:
        for block in _blocks(source):
            pieces = (held + block).split(mark)
            # The LF that belongs to a CR at the end may be in the next block.
            held = b"\r" if pieces[-1].endswith(b"\r") else b""
            pieces[-1] = pieces[-1].removesuffix(held)
            outside = pieces[first_outside::2]
            pieces[first_outside::2] = [piece.replace(b"\r\n", b"\n") for piece in outside]
            first_outside = (first_outside + len(pieces) - 1) % 2
            target.write(mark.join(pieces))
        target.write(held)
    return copy


def _required(workspace: Path | None) -> Path:
    if workspace is None:
        raise InvalidArgument("such a file is written anew, which needs a private folder")
    return workspace


def _encoding(name: object) -> str:
    """Return the usual name of an encoding of text.

    Refuses: names that Python does not know, codecs that do not turn bytes into text (rot13, hex),
    and those of single names, which read a file by its blocks (idna, punycode).
    """
    label = str(name)
    try:
        # `lookup` also finds codecs that are no encodings of text; `encode` refuses them.
        "a".encode(label)
        known = codecs.lookup(label).name
        codecs.getincrementaldecoder(label)
    except (LookupError, UnicodeError, ValueError):
        known = ""
    if known in ("", "idna", "punycode"):
        raise InvalidArgument(
            f"there is no encoding {name!r} of text files; try utf-8, latin-1 or cp1252"
        )
    # ASCII is UTF-8 too, and a byte order mark is skipped in any case.
    return "utf-8" if known in ("utf-8", "utf-8-sig", "ascii") else known


def _header(path: Path, options: Csv) -> tuple[str, tuple[str, ...]]:
    """Read the delimiter and the line of names, which may hold line ends in quotes.

    A delimiter inside quotes does not count. Without such a line nothing is read: names and
    delimiter are declared.
    """
    if not options.header:
        return str(options.delimiter), options.names
    text = _first_record(path, options.quote)
    outside = "".join(text.split(options.quote)[::2])
    delimiter = options.delimiter or max(DELIMITERS, key=outside.count)
    # A line of names that breaks the grammar would be dropped as a bad record, and the first record
    # be taken for the names.
    if text:
        check_grammar([text.encode(errors="surrogateescape")], delimiter, options.quote)
    header = _names(text, delimiter, options.quote)
    distinct = {label.casefold() for label in header}
    if not header or not all(header) or len(distinct) < len(header):
        raise InvalidArgument("the first line must name its columns, each with a name of its own")
    return delimiter, header


def _names(text: str, delimiter: str, quote: str) -> tuple[str, ...]:
    lines = io.StringIO(text, newline="")
    try:
        rows = csv.reader(lines, delimiter=delimiter, quotechar=quote, strict=True)
        return tuple(next(rows, ()))
    except csv.Error:
        return ()


def _first_record(path: Path, quote: str) -> str:
    """Read the first record: lines up to one after which no quote is open."""
    first = b""
    with _open_bytes(path) as file:
        for line in file:
            first += line
            # A quote that is never closed must not read the whole file as one record.
            if first.count(quote.encode()) % 2 == 0 or len(first) > BLOCK:
                break
    return first.decode("utf-8-sig", errors="surrogateescape")


def _blocks(path: Path) -> Iterator[bytes]:
    """Yield the bytes of a file but for a byte order mark at its start."""
    with _open_bytes(path) as file:
        block = file.read(BLOCK).removeprefix(codecs.BOM_UTF8)
        while block:
            yield block
            block = file.read(BLOCK)


def mend_records(
    data: bytes, delimiter: str, quote: str, fields: int, *, keep: bool
) -> tuple[bytes, int]:
    r"""Return a file without its bad records, or with empty ones (`keep`), and their number.

    A record is the shortest well-formed one that begins here. Where none does (a stray or open
    quote, too many or too few fields, a bare CR, NUL, text that is not UTF-8), the bytes up to the
    next LF are one bad record, and the next line begins anew. So a bad record affects at most its
    own line. But a quote that is opened by mistake and closed by another one later still joins the
    lines between, if they make one record of the right width.

    >>> from discreet.intake.csv_file import mend_records
    >>> mend_records(b'a,b\n1,2\n3\n"4,5\n6,"7"\n', ",", '"', 2, keep=False)
    (b'a,b\n1,2\n6,"7"\n', 2)
    >>> mend_records(b'a,b\n3\n', ",", '"', 2, keep=True)
    (b'a,b\n,\n', 1)
    """
    pattern = _record_pattern(delimiter, quote, fields)
    # One empty field is written in quotes, since an empty line is no record.
    empty = (quote * 2).encode()
    if fields > 1:
        empty = delimiter.encode() * (fields - 1)
    records: list[bytes] = []
    position = 0
    bad = 0
    while position < len(data):
        match = pattern.match(data, position)
        if match and _is_text(match[0]):
            records.append(match[0])
            position = match.end()
            continue
        bad += 1
        end = data.find(b"\n", position)
        position = len(data) if end < 0 else end + 1
        if keep:
            records.append(empty + b"\n")
    return b"".join(records), bad


def _record_pattern(delimiter: str, quote: str, fields: int) -> re.Pattern[bytes]:
    """Return the regular expression of one record of so many fields, with its line end.

    The groups are atomic, so that no record is tried in several ways: time is linear.
    """
    d = re.escape(delimiter)
    q = re.escape(quote)
    quoted = rf"{q}(?>[^{q}\0]+|{q}{q})*+{q}"
    plain = rf"[^{d}{q}\r\n\0]*+"
    field = rf"(?>{quoted}|{plain})"
    record = field
    if fields > 1:
        record = rf"{field}(?:{d}{field}){{{fields - 1}}}"
    elif fields == 1:
        # An empty line is no record of one field.
        record = rf"(?!\r?\n|\Z){field}"
    return re.compile(rf"{record}(?:\r?\n|\Z)".encode())


def _is_text(record: bytes) -> bool:
    try:
        record.decode()
    except UnicodeDecodeError:
        return False
    return True
