"""The grammar of a CSV file, checked in one pass over its bytes.

    file     = header { line-end record } [ line-end ]
    record   = field { delimiter field }           as many fields as the header
    field    = plain | quote { other | quote quote } quote
    plain    = { any character but delimiter, quote, LF, CR }
    line-end = LF | CR LF

This is RFC 4180 in UTF-8, for any one-byte delimiter and quote, and either line end. Where a record ends follows from
the bytes before it and nothing else: no sampling, no chunks, no repair. What the grammar does not allow is refused with
the number of its record; nothing is guessed and nothing dropped, so no record can take others with it unnoticed.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidArgument
from ..frozen import frozen

LF, CR, QUOTE = 10, 13, 34

_OPEN = "opens a quote that is never closed"
_INSIDE = 'has a quote inside a field that does not begin with one; write it as "…""…"'
_AFTER = "has text after a closing quote; a quote inside quotes is written twice"
_BARE = "has a carriage return that ends no line; put the field in quotes"
_NUL = "holds a NUL character"
_TEXT = "is not UTF-8 text; save the file as UTF-8"


@frozen
class Records:
    """What a well-formed file holds.

    `count` records below the header (all where there is none), of `fields` fields each, the longest of `longest`
    bytes; whether lines end in LF, in CRLF or in both, and whether LF or CR stands inside quotes.
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
    r"""Check the bytes of a CSV file, handed over in blocks of any size.

    `fields` is the declared number of fields of a file without a header. Its first line is then a record like any
    other: it decides neither how many fields the others have, nor whether a file without records is refused.

    >>> from discreet.intake.grammar import check_grammar
    >>> found = check_grammar([b'name,note\nann,"a, ""b"" c"\nbo', b'b,"two\nlines"\n'])
    >>> found.count, found.fields, found.quoted_ends
    (2, 2, True)

    Refuses an open quote, a quote inside a plain field or text after a closing one, a record with more or fewer fields
    than the header, a CR that ends no line, NUL, and text that is not UTF-8; each with the number of its record.
    """
    scan = _Scan(ord(delimiter), ord(quote), headed=fields is None, fields=fields or 0)
    for block, follower in _followed(blocks):
        scan.take(block, follower)
    return scan.end()


def _followed(blocks: Iterable[bytes]) -> Iterator[tuple[bytes, int]]:
    """Yield each block with the byte that follows it; the end of a file counts as the end of a line."""
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
    """What is known after some bytes: it starts as if a line had just ended."""

    delimiter: int
    quote: int = QUOTE
    headed: bool = True
    """Whether the first line is a header; else `fields` is declared, and every line is a record."""
    decoder: codecs.IncrementalDecoder = field(
        default_factory=codecs.getincrementaldecoder("utf-8")
    )
    records: int = 0
    fields: int = 0
    longest: int = 0
    ends: set[str] = field(default_factory=set)
    quoted_ends: bool = False
    inside: bool = False
    before: int = LF
    begun: int = 0
    """Bytes of the record that has begun."""
    separators: int = 0
    """Delimiters of the record that has begun."""

    def take(self, block: bytes, follower: int) -> None:
        """Judge one block; what is wrong first is refused."""
        here = np.frombuffer(block, np.uint8)
        after = np.concatenate([here[1:], np.array([follower], np.uint8)])
        previous = np.concatenate([np.array([self.before], np.uint8), here[:-1]])
        outside = self._outside(here)
        stops = np.flatnonzero(_both(here == LF, outside))
        wrong = [
            *self._quotes(here, previous, after, outside),
            *_controls(block, here, after, outside),
        ]
        wrong += [*self._text(block), *self._ragged(here, outside, stops)]
        if wrong:
            place, what = min(wrong)
            raise self._refusal(int(np.searchsorted(stops, place)), what)
        self._advance(here, previous, outside, stops)

    def end(self) -> Records:
        """Judge the end of the file: no quote is open, and a last record without a line end counts as it is."""
        if self.inside:
            raise self._refusal(0, _OPEN)
        if self.decoder.getstate()[0]:
            raise self._refusal(0, _TEXT)
        if self.before == CR:
            raise self._refusal(0, _BARE)
        if self.begun:
            if self.fields and self.separators + 1 != self.fields:
                raise self._refusal(0, self._misfit(self.separators + 1))
            self._count(1, self.separators + 1, self.begun)
        if self.headed and not self.records:
            raise InvalidArgument("the file is empty; its first line must name the columns")
        count = self.records - 1 if self.headed else self.records
        return Records(
            count,
            self.fields,
            self.longest,
            "lf" in self.ends,
            "crlf" in self.ends,
            self.quoted_ends,
        )

    def _outside(self, here: NDArray[np.uint8]) -> NDArray[np.bool_] | None:
        """Return which bytes leave us outside quotes: those after an even number of them; None if all do."""
        quotes = here == self.quote
        if not self.inside and not quotes.any():
            return None
        return np.equal(np.logical_xor.accumulate(quotes), self.inside)

    def _quotes(
        self,
        here: NDArray[np.uint8],
        previous: NDArray[np.uint8],
        after: NDArray[np.uint8],
        outside: NDArray[np.bool_] | None,
    ) -> Iterator[tuple[int, str]]:
        if outside is None:
            return
        places = np.flatnonzero(here == self.quote)
        closes = outside[places]
        openers, closers = places[~closes], places[closes]
        yield from _first(
            openers, ~np.isin(previous[openers], [self.delimiter, LF, self.quote]), _INSIDE
        )
        yield from _first(
            closers, ~np.isin(after[closers], [self.delimiter, LF, CR, self.quote]), _AFTER
        )

    def _text(self, block: bytes) -> Iterator[tuple[int, str]]:
        carried = len(self.decoder.getstate()[0])
        try:
            self.decoder.decode(block)
        except UnicodeDecodeError as problem:
            yield max(0, problem.start - carried), _TEXT

    def _ragged(
        self, here: NDArray[np.uint8], outside: NDArray[np.bool_] | None, stops: NDArray[np.intp]
    ) -> Iterator[tuple[int, str]]:
        """Count the fields of the records that end here; the header says how many there must be."""
        separators = np.flatnonzero(_both(here == self.delimiter, outside))
        seen = np.searchsorted(separators, stops)
        counts = np.diff(seen, prepend=0) + 1
        if len(counts):
            counts[0] += self.separators
            self.fields = self.fields or int(counts[0])
            for place, _ in _first(stops, counts != self.fields, ""):
                yield place, self._misfit(int(counts[np.searchsorted(stops, place)]))
            self.separators = 0
        self.separators += len(separators) - (int(seen[-1]) if len(seen) else 0)

    def _advance(
        self,
        here: NDArray[np.uint8],
        previous: NDArray[np.uint8],
        outside: NDArray[np.bool_] | None,
        stops: NDArray[np.intp],
    ) -> None:
        if outside is not None:
            self.quoted_ends = self.quoted_ends or bool(
                (((here == LF) | (here == CR)) & ~outside).any()
            )
            self.inside = not outside[-1]
        if len(stops):
            lengths = np.diff(stops, prepend=-1 - self.begun)
            self._count(len(stops), self.fields, int(lengths.max()))
            returns = int((previous[stops] == CR).sum())
            self.ends |= {
                name for name, times in (("crlf", returns), ("lf", len(stops) - returns)) if times
            }
            self.begun = 0
        self.begun += len(here) - (int(stops[-1]) + 1 if len(stops) else 0)
        self.before = int(here[-1])

    def _count(self, records: int, fields: int, longest: int) -> None:
        self.records += records
        self.fields = fields
        self.longest = max(self.longest, longest)

    def _misfit(self, fields: int) -> str:
        said = f"the header has {self.fields}" if self.headed else f"{self.fields} names are given"
        return f"has {fields} fields, {said}"

    def _refusal(self, later: int, what: str) -> InvalidArgument:
        number = self.records + later + (0 if self.headed else 1)
        return InvalidArgument(f"{f'record {number}' if number else 'the header'} {what}")


def _both(flags: NDArray[np.bool_], outside: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
    return flags if outside is None else flags & outside


def _first(
    places: NDArray[np.intp], bad: NDArray[np.bool_], what: str
) -> Iterator[tuple[int, str]]:
    if bad.any():
        yield int(places[int(bad.argmax())]), what


def _controls(
    block: bytes,
    here: NDArray[np.uint8],
    after: NDArray[np.uint8],
    outside: NDArray[np.bool_] | None,
) -> Iterator[tuple[int, str]]:
    """Find a NUL anywhere, and a CR outside quotes that no LF follows."""
    if 0 in block:
        yield block.index(0), _NUL
    if CR in block:
        returns = np.flatnonzero(_both(here == CR, outside))
        yield from _first(returns, after[returns] != LF, _BARE)
