"""What the SQL of the stores differs in: how to quote, divide, cast without error, match text and take times apart.

A dialect is a value of small functions from text to text. All else (`text` and its friends) is the same for every
store, so what they can disagree about is on this page and in the three dialects.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Literal, TypeAlias

from ...data.columns.column import Column
from ...data.schema import Schema
from ...frozen import field, frozen
from ...query.algebra.expression import Function

Stored: TypeAlias = Literal[
    "integer", "wide", "float", "decimal", "boolean", "text", "date", "timestamp", "zoned", "other"
]
"""The classes of stored types. `wide` integers exceed 64 bits; `zoned` times are instants; `other` reads as NULL."""

One: TypeAlias = Callable[[str], str]
Two: TypeAlias = Callable[[str, str], str]


@frozen
class StoredColumn:
    """A column as it is stored: how to refer to it, its type's name and its class.

    `packed` says that repeated text is stored once, so that a function of it is worked out once. `kept` says that the
    column was read when the store took it in, by that declaration: it holds whole steps, truths or listed text. `seen`
    names a column beside it that holds what became of each of its cells, if there is one.
    """

    sql: str
    type: str
    stored: Stored
    packed: bool = False
    kept: Column | None = None
    seen: str = ""


@frozen
class StoredTable:
    """A table as it is stored: what stands after FROM, and its columns by their stored names.

    `steady` says that one query may read it twice and finds the same rows both times. `person` is whose row it is,
    where the store numbers people; else the declared id says it. `counts` names columns that hold how many rows their
    person has: all of them (""), or those with a value in a column. `shares` names those that hold what share of each
    row counts where at most `share_rows` rows of a person do. `nobody` is a number that no person has. `read_by` is the
    schema by which a server prepared it. `own` says that this very store made it, and nobody else can reach it.
    """

    sql: str
    columns: dict[str, StoredColumn]
    person: StoredColumn | None = None
    counts: Mapping[str, str] = field(default_factory=dict)
    shares: Mapping[str, str] = field(default_factory=dict)
    share_rows: int = 0
    steady: bool = False
    nobody: str = ""
    read_by: Schema | None = None
    own: bool = False


@frozen
class Dialect:
    """How one store writes what stores write differently."""

    name: str
    quote: One
    """An identifier."""
    literal: One
    """A text constant."""
    words: str
    """The type of text."""
    divide: Two
    """The quotient of 64-bit integers, rounded towards 0; the divisor is never 0."""
    wide: One
    """A 64-bit integer as a wide one."""
    total: Callable[[str, int], str]
    """The sum of 64-bit integers that are at most so far from 0, as a wide one."""
    is_nan: One
    nan_types: frozenset[Stored]
    """The classes of stored types that can hold NaN."""
    matches: Two
    """Whether a whole text matches a regular expression (a common subset of all stores')."""
    like: Two
    """Whether text matches a pattern of % and _ without an escape character."""
    trim: One
    """Text without spaces at both ends."""
    as_text: One
    """Text, and integers and booleans as text; compared letter by letter."""
    integer_of: One
    """Text of at most 18 digits, or a wide integer in range, as a 64-bit integer."""
    as_double: One
    """A 64-bit integer or a shorter float as a double."""
    double_of: One
    """A numeral as the nearest double."""
    decimal_double: Callable[[str, str], str]
    """A decimal of a named type as the nearest double."""
    quotient: Two
    """A double divided by a positive one; what would underflow is 0."""
    nearest: One
    """A double, at most 2^62 from 0, rounded to a 64-bit integer, halves to even."""
    day_of: One
    """Text of a valid day as a date."""
    time_literal: Callable[[datetime, Stored], str]
    days: One
    """A date as days since 1970."""
    seconds: Callable[[str, StoredColumn], str]
    """A time as seconds since 1970 in UTC, rounded down."""
    part: Callable[[Function, str], str]
    """A part of the day so many days after 1970."""
    start: Two
    """The first day of a year, quarter or month, of the day so many days after 1970."""
    months_later: Callable[[str, int], str]
    """The day so many months after that day; a day that its month has not is the last of that month."""
    listed: Callable[[str, Sequence[str]], str] | None
    """Text as one value of a list, NULL if it is none of them, held compactly; None where IN does as well."""
    distance: bool
    """Whether one test of the distance from the middle is faster than a test at each end."""
    in_order: Callable[[Sequence[str]], str]
    """What follows a SELECT whose rows are to be grouped by some columns: nothing, or that they are sorted first."""
    whole_joins: bool
    """Whether a join is written so that both sides are read whatever they hold: a store that does not read one side if
    the other has no row tells by its time whether some person is there."""
    heavy: bool
    """Whether only people with too many rows are joined to their share, where rows are not clipped by key and all
    tables are steady."""
    joined: One | None
    """A small integer as a 64-bit one, of a column that came by a join and is used several times; None where a person's
    rows are counted by a window rather than by a join."""
    letters: Two | None = None
    """Text with its ASCII letters small ("lower") or large ("upper"), and no other; None where `translate` is fast."""
    shift: Callable[[str, int], str] | None = None
    """A 64-bit integer of at least 0, divided by a power of two and rounded down; None where division does as well."""
    hide: Two | None = None
    """A column of a domain ("Whole", "Texts", …) unchanged, but for what is known about its values."""
    guarded: bool = False
    """Whether a join needs a row on each side that matches nothing, since the store skips what meets an empty side."""

    def double(self, x: float) -> str:
        """Write a double, to the last bit."""
        return self.as_double(f"'{x!r}'")


def bigint(number: int) -> str:
    """Write a 64-bit integer.

    >>> from discreet.engines.sql.dialect import bigint
    >>> bigint(-5)
    'CAST(-5 AS BIGINT)'
    """
    return f"CAST({number} AS BIGINT)"


def null(sql_type: str) -> str:
    """Write NULL of a type."""
    return f"CAST(NULL AS {sql_type})"


def put_quotes(text: str, quote: str) -> str:
    """Put text into quotes, those within doubled.

    >>> from discreet.engines.sql.dialect import put_quotes
    >>> put_quotes("it's", "'")
    "'it''s'"
    """
    return quote + text.replace(quote, quote * 2) + quote
