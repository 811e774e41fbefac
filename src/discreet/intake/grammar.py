"""Grammar of a CSV file, checked in one pass over its bytes.

    file     = header { line-end record } [ line-end ]
    record   = field { delimiter field }           as many fields as the header
    field    = plain | quote { other | quote quote } quote
    plain    = { any character but delimiter, quote, LF, CR }
    line-end = LF | CR LF

This is RFC 4180 in UTF-8, for any one-byte delimiter and quote, and either line end. NUL may stand
nowhere. The end of a record follows from the bytes before it and nothing else: no sampling, no
chunks, no repair. A file that breaks the grammar is refused with the number of its record. Nothing
is guessed and nothing dropped, so no record can affect others unnoticed.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidArgument
from ..frozen import frozen

LF = 10
CR = 13
QUOTE = 34

_OPEN = "opens a quote that is never closed"
_INSIDE = 'has a quote inside a field that does not begin with one; write it as "…""…"'
_AFTER = "has text after a closing quote; a quote inside quotes is written twice"
_BARE = "has a carriage return that ends no line; put the field in quotes"
_NUL = "holds a NUL character"
_TEXT = "is not UTF-8 text; save the file as UTF-8"

Bytes: TypeAlias = NDArray[np.uint8]
Flags: TypeAlias = NDArray[np.bool_]
Positions: TypeAlias = NDArray[np.intp]
Problem: TypeAlias = tuple[int, str]
"""The position of a byte that breaks the grammar, and the reason."""


@frozen
class Records:
    """Facts of a well-formed file.

    | field | meaning |
    |---|---|
    | `count` | records below the header (all where there is none) |
    | `fields` | fields of each record |
    | `longest` | bytes of the longest record |
    | `lf`, `crlf` | some lines end in LF, in CRLF |
    | `quoted_ends` | LF or CR occurs inside quotes |
    """

    count: int
    fields: int
    longest: int
    lf: bool
    crlf: bool
    quoted_ends: bool


def check_grammar(
    blocks: Iterable[bytes], delimiter: str = ",", quote: str = '"', *, fields: int | None = None
) -> Records:
    r"""Check the bytes of a CSV file, given in blocks of any size.

    `fields` is the declared number of fields of a file without a header. Its first line is then a
    record like any other: it decides neither how many fields the others have, nor whether a file
    without records is refused.

    >>> from discreet.intake.grammar import check_grammar
    >>> found = check_grammar([b'name,note\nann,"a, ""b"" c"\nbo', b'b,"two\nlines"\n'])
    >>> found.count, found.fields, found.quoted_ends
    (2, 2, True)

    Guarantee: how the file is split into blocks changes nothing.

    Refuses: an open quote, a quote inside a plain field or text after a closing one, a record with
    more or fewer fields than the header, a CR that ends no line, NUL, and text that is not UTF-8;
    each with the number of its record.

    Law: tests/intake/test_grammar.py::TestWhatIsAcceptedMeansOneThing
    """
    scan = _Scan(ord(delimiter), ord(quote), headed=fields is None, fields=fields or 0)
    for block, follower in _followed(blocks):
        scan.take(block, follower)
    return scan.end()


def _followed(blocks: Iterable[bytes]) -> Iterator[tuple[bytes, int]]:
    """Yield each block with the byte that follows it; the end of a file counts as a line end."""
    held = b""
    for block in blocks:
        if block:
            if held:
                yield held, block[0]
            held = block
    if held:
        yield held, LF


@dataclass(slots=True)
class _Scan:
    """State of the check after some bytes; it starts as if a line had just ended."""

    delimiter: int
    quote: int = QUOTE
    headed: bool = True
    """The first line is a header; else `fields` is declared, and every line is a record."""
    decoder: codecs.IncrementalDecoder = field(
        default_factory=codecs.getincrementaldecoder("utf-8")
    )
    records: int = 0
    fields: int = 0
    longest: int = 0
    lf: bool = False
    crlf: bool = False
    quoted_ends: bool = False
    inside: bool = False
    """A quote is open."""
    before: int = LF
    """The last byte so far."""
    begun: int = 0
    """Bytes of the record that has begun."""
    separators: int = 0
    """Delimiters of the record that has begun."""

    def take(self, block: bytes, follower: int) -> None:
        """Check one block; the first problem in it is refused."""
        here = np.frombuffer(block, np.uint8)
        # Neighbours of each byte, across the borders of blocks.
        last = np.array([follower], np.uint8)
        after = np.concatenate([here[1:], last])
        first = np.array([self.before], np.uint8)
        previous = np.concatenate([first, here[:-1]])
        outside = self._outside(here)
        ends = np.flatnonzero(_both(here == LF, outside))
        problems: list[Problem] = []
        if outside is not None:
            problems += self._quote_problems(here, previous, after, outside)
        problems += _control_problems(block, here, after, outside)
        problems += self._text_problems(block)
        problems += self._width_problems(here, outside, ends)
        if problems:
            position, reason = min(problems)
            records_before = int(np.searchsorted(ends, position))
            raise self._refusal(records_before, reason)
        self._advance(here, previous, outside, ends)

    def end(self) -> Records:
        """Check the end of the file: no quote is open; a last record needs no line end."""
        if self.inside:
            raise self._refusal(0, _OPEN)
        if self.decoder.getstate()[0]:
            raise self._refusal(0, _TEXT)
        if self.before == CR:
            raise self._refusal(0, _BARE)
        if self.begun:
            fields = self.separators + 1
            if self.fields and fields != self.fields:
                raise self._refusal(0, self._width_reason(fields))
            self._count(1, fields, self.begun)
        if self.headed and not self.records:
            raise InvalidArgument("the file is empty; its first line must name the columns")
        # The header was counted too, and is no record of data.
        count = self.records - 1 if self.headed else self.records
        return Records(
            count=count,
            fields=self.fields,
            longest=self.longest,
            lf=self.lf,
            crlf=self.crlf,
            quoted_ends=self.quoted_ends,
        )

    def _outside(self, here: Bytes) -> Flags | None:
        """Return which bytes are outside quotes: after an even number of them; None if all are."""
        quotes = here == self.quote
        if not self.inside and not quotes.any():
            return None
        return np.equal(np.logical_xor.accumulate(quotes), self.inside)

    def _quote_problems(
        self, here: Bytes, previous: Bytes, after: Bytes, outside: Flags
    ) -> Iterator[Problem]:
        """Find the first quote that opens inside a plain field, and the first with text after it.

        `previous` and `after` are the bytes before and after each byte of the block.
        """
        quotes = np.flatnonzero(here == self.quote)
        # A byte that closes a quote is outside by itself.
        closes = outside[quotes]
        openers = quotes[~closes]
        closers = quotes[closes]
        # A quote after a quote is a doubled one inside quotes, seen as closing and opening.
        before_quote = [self.delimiter, LF, self.quote]
        after_quote = [self.delimiter, LF, CR, self.quote]
        may_open = np.isin(previous[openers], before_quote)
        may_close = np.isin(after[closers], after_quote)
        yield from _first_problem(openers, ~may_open, _INSIDE)
        yield from _first_problem(closers, ~may_close, _AFTER)

    def _text_problems(self, block: bytes) -> Iterator[Problem]:
        # Bytes of an unfinished character that the decoder keeps from the block before.
        carried = len(self.decoder.getstate()[0])
        try:
            self.decoder.decode(block)
        except UnicodeDecodeError as problem:
            yield max(0, problem.start - carried), _TEXT

    def _width_problems(
        self, here: Bytes, outside: Flags | None, ends: Positions
    ) -> Iterator[Problem]:
        """Count the fields of the records that end in this block, and compare them with the header.

        `outside` says which bytes are outside quotes (None: all); `ends` are the line ends there.
        """
        separators = np.flatnonzero(_both(here == self.delimiter, outside))
        separators_before = np.searchsorted(separators, ends)
        counts = np.diff(separators_before, prepend=0) + 1
        if not len(ends):
            self.separators += len(separators)
            return
        # The first record that ends here may have begun in an earlier block.
        counts[0] += self.separators
        self.fields = self.fields or int(counts[0])
        wrong = counts != self.fields
        if wrong.any():
            first = int(wrong.argmax())
            reason = self._width_reason(int(counts[first]))
            yield int(ends[first]), reason
        self.separators = len(separators) - int(separators_before[-1])

    def _advance(
        self, here: Bytes, previous: Bytes, outside: Flags | None, ends: Positions
    ) -> None:
        """Bring the state from the beginning of a block to its end; `ends` are its line ends."""
        if outside is not None:
            line_ends = (here == LF) | (here == CR)
            if (line_ends & ~outside).any():
                self.quoted_ends = True
            self.inside = not outside[-1]
        unfinished = len(here)
        if len(ends):
            lengths = np.diff(ends, prepend=-1 - self.begun)
            self._count(len(ends), self.fields, int(lengths.max()))
            after_cr = int((previous[ends] == CR).sum())
            self.crlf = self.crlf or after_cr > 0
            self.lf = self.lf or after_cr < len(ends)
            self.begun = 0
            unfinished -= int(ends[-1]) + 1
        self.begun += unfinished
        self.before = int(here[-1])

    def _count(self, records: int, fields: int, longest: int) -> None:
        self.records += records
        self.fields = fields
        self.longest = max(self.longest, longest)

    def _width_reason(self, fields: int) -> str:
        expected = f"{self.fields} names are given"
        if self.headed:
            expected = f"the header has {self.fields}"
        return f"has {fields} fields, {expected}"

    def _refusal(self, records_before: int, reason: str) -> InvalidArgument:
        number = self.records + records_before
        # Records are counted from 1; a header is number 0.
        if not self.headed:
            number += 1
        if number == 0:
            return InvalidArgument(f"the header {reason}")
        return InvalidArgument(f"record {number} {reason}")


def _both(flags: Flags, outside: Flags | None) -> Flags:
    return flags if outside is None else flags & outside


def _first_problem(positions: Positions, wrong: Flags, reason: str) -> Iterator[Problem]:
    if wrong.any():
        yield int(positions[int(wrong.argmax())]), reason


def _control_problems(
    block: bytes, here: Bytes, after: Bytes, outside: Flags | None
) -> Iterator[Problem]:
    """Find a NUL anywhere, and a CR outside quotes that no LF follows."""
    if 0 in block:
        yield block.index(0), _NUL
    if CR in block:
        returns = np.flatnonzero(_both(here == CR, outside))
        yield from _first_problem(returns, after[returns] != LF, _BARE)
