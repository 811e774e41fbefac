"""SQL dialect: the differences between stores in quoting, dividing, casting, matching and times.

A dialect is a value of small functions from SQL text to SQL text. Nearly all other SQL is the same
for every store. The exceptions are types and clauses of DuckDB, in text written for it alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Literal, TypeAlias

from ...data.columns.column import Column
from ...data.schema import Schema
from ...frozen import frozen
from ...query.algebra.expression import Function

Stored: TypeAlias = Literal[
    "integer", "wide", "float", "decimal", "boolean", "text", "date", "timestamp", "zoned", "other"
]
"""Classes of stored types.

`wide` integers exceed 64 bits; `zoned` times are instants; `other` reads as NULL."""

ISO_PART_NAMES: Mapping[Function, str] = {Function.WEEKDAY: "isodow", Function.YEARDAY: "doy"}
"""Names of parts of a date in DuckDB and PostgreSQL, where they differ from ours."""

AnswerRows: TypeAlias = Sequence[Sequence[object]]
"""Rows of an answer of a store."""
Unary: TypeAlias = Callable[[str], str]
Binary: TypeAlias = Callable[[str, str], str]


@frozen
class StoredColumn:
    """A column as it is stored: the SQL that refers to it, its type's name and its class.

    `packed` says that repeated text is stored once, so that a function of it is computed once.
    `kept` is the declaration by which the column was read when the store took it in: it holds whole
    steps, truths or listed text. `unread` says that its type had no value that this declaration
    reads: every cell is NULL or the default. `seen` names a column beside it with the outcome of
    reading each cell, if there is one.
    """

    sql: str
    type: str
    stored: Stored
    packed: bool = False
    kept: Column | None = None
    seen: str = ""
    unread: bool = False


@frozen
class StoredTable:
    """A table as it is stored: its SQL after FROM, and its columns by their stored names.

    | field | meaning |
    |---|---|
    | `steady` | one query may read the table twice and finds the same rows both times |
    | `person` | column of the owner, where the store made one; else the declared id is used |
    | `count` | column with the person's number of rows |
    | `share` | column with the person's share, if at most `share_rows` rows of a person count |
    | `nobody` | a number that no person has |
    | `read_by` | the schema by which a server prepared the table |
    | `ids` | table with the id of each number of a person, if the store numbers people and has it |
    | `own` | this very store made the table, and nobody else can reach it |
    """

    sql: str
    columns: dict[str, StoredColumn]
    person: StoredColumn | None = None
    count: str = ""
    share: str = ""
    share_rows: int = 0
    steady: bool = False
    nobody: str = ""
    read_by: Schema | None = None
    own: bool = False
    ids: str = ""

    def types(self) -> dict[str, str]:
        """List the columns with their stored types."""
        return {name: column.type for name, column in self.columns.items()}


@frozen
class Dialect:
    """SQL of one store for everything that stores write differently."""

    name: str
    quote: Unary
    """An identifier."""
    literal: Unary
    """A text constant."""
    text_type: str
    """The type of text."""
    integer_type: str
    """The type of 64-bit integers, as this dialect spells it."""
    divide: Binary
    """The quotient of 64-bit integers, rounded towards 0; the divisor is never 0."""
    wide: Unary
    """A 64-bit integer as a wide one."""
    matches: Binary
    """Test that a whole text matches a regular expression (a common subset of all stores')."""
    like: Binary
    """Test that text matches a pattern of % and _ without an escape character."""
    trim: Unary
    """Text without spaces at both ends."""
    strip: Binary
    """Text without the characters of a text constant at both ends."""
    as_text: Unary
    """Text, and integers and booleans as text; compared letter by letter."""
    integer_of: Unary
    """Text of at most 18 digits, or a wide integer in range, as a 64-bit integer."""
    as_double: Unary
    """A 64-bit integer or a shorter float as a double."""
    double_of: Unary
    """A numeral as the nearest double."""
    decimal_double: Callable[[str, str], str]
    """A decimal of a named type as the nearest double."""
    nearest: Unary
    """A double, at most 2^62 from 0, rounded to a 64-bit integer, halves to even."""
    day_of: Unary
    """Text of a valid day as a date."""
    time_literal: Callable[[datetime, Stored], str]
    days: Unary
    """A date as days since 1970."""
    day_at: Unary
    """The date so many days after 1970-01-01."""
    seconds: Callable[[str, StoredColumn], str]
    """A time as seconds since 1970 in UTC, rounded down."""
    first_day: Binary
    """The first date of the year, quarter or month of a date."""
    later_day: Callable[[str, int], str]
    """The date so many months later; the last of that month, if the month has no such day."""
    part_names: Mapping[Function, str]
    """Names of parts of a date, where a store does not call them as we do."""
    whole_joins: bool
    """Joins are written so that both sides are read whatever they hold.

    A store that does not read one side if the other has no row would tell by its time whether some
    person is there."""
    total: Callable[[str, int], str] = lambda x, _: f"sum({x})"
    """The sum of 64-bit integers whose absolute values are at most so large, as a wide one."""
    is_nan: Unary = lambda x: f"isnan({x})"
    nan_types: frozenset[Stored] = frozenset({"float"})
    """The classes of stored types that can hold NaN."""
    quotient: Binary = lambda x, y: f"{x} / {y}"
    """A double divided by a positive one; an underflow gives 0."""
    in_order: Callable[[Sequence[str]], str] = lambda _: ""
    """Tail of a SELECT whose rows are grouped by some columns: nothing, or that they are sorted."""
    listed: Callable[[str, Sequence[str]], str] | None = None
    """Text as one value of a list, held compactly, NULL if it is not listed; None where IN is as fast."""
    distance: bool = False
    """One test of the distance from the middle is faster than a test at each end."""
    heavy: bool = False
    """Only people with too many rows are joined to their share.

    It needs rows that are not clipped by key, and tables that are all steady."""
    joined: Unary | None = None
    """A small integer as a 64-bit one, of a column that came by a join and is used several times.

    None where a person's rows are counted by a window rather than by a join."""
    letters: Binary | None = None
    """Text with its ASCII letters, and no others, in small ("lower") or large ("upper") letters.

    None where `translate` is fast."""
    is_ascii: Unary | None = None
    """Test that text has ASCII characters only; None where `translate` is fast."""
    shift: Callable[[str, int], str] | None = None
    """A 64-bit integer of at least 0, divided by a power of two and rounded down.

    None where division is as fast."""
    codes: bool = False
    """Integers of 8 and 16 bits, UTINYINT and USMALLINT, are grouped by in an array."""
    guarded: bool = False
    """A join needs a row on each side that matches nothing: the store skips the partner of an empty side."""

    def double(self, x: float) -> str:
        """Write a double, to the last bit."""
        return self.as_double(f"'{x!r}'")

    def part(self, function: Function, days: str) -> str:
        """Write a part (year, month, …) of the date that is `days` days after 1970-01-01."""
        name = self.part_names.get(function, function.value)
        return cast_sql(f"extract({name} FROM {self.day_at(days)})", self.integer_type)

    def start(self, unit: str, days: str) -> str:
        """Write the first day of the year, quarter or month of a day, both as days since 1970."""
        return self.days(self.first_day(unit, self.day_at(days)))

    def months_later(self, days: str, months: int) -> str:
        """Write the date `months` months after another one; both are in days since 1970."""
        return self.days(self.later_day(self.day_at(days), months))


def bigint(number: int) -> str:
    """Write a 64-bit integer.

    >>> from discreet.engines.sql.dialect import bigint
    >>> bigint(-5)
    'CAST(-5 AS BIGINT)'
    """
    return cast_sql(str(number), "BIGINT")


def cast_sql(x: str, sql_type: str) -> str:
    """Write a value as one of another type; the caller knows that the cast cannot fail.

    >>> from discreet.engines.sql.dialect import cast_sql
    >>> cast_sql("c0", "SMALLINT")
    'CAST(c0 AS SMALLINT)'
    """
    return f"CAST({x} AS {sql_type})"


def cast_to(sql_type: str) -> Unary:
    """Return the function that writes a value as one of a type."""
    return lambda x: cast_sql(x, sql_type)


def time_literals(instant: str, utc: str, local: str) -> Callable[[datetime, Stored], str]:
    """Return the function that writes a time constant of the type of instants, or of local times.

    >>> from datetime import datetime
    >>> from discreet.engines.sql.dialect import time_literals
    >>> time_literals("TIMESTAMPTZ", "+00", "TIMESTAMP")(datetime(2024, 5, 1), "zoned")
    "TIMESTAMPTZ '2024-05-01 00:00:00+00'"
    """

    def literal(time: datetime, stored: Stored) -> str:
        text = time.isoformat(sep=" ")
        if stored == "zoned":
            return f"{instant} '{text}{utc}'"
        return f"{local} '{text}'"

    return literal


def case_sql(test: str, value: str, otherwise: str = "") -> str:
    """Write a value for rows where a test holds, and another one, or NULL, for all others.

    >>> from discreet.engines.sql.dialect import case_sql
    >>> case_sql("c0 > 0", "c0", "0")
    'CASE WHEN c0 > 0 THEN c0 ELSE 0 END'
    """
    other = f" ELSE {otherwise}" if otherwise else ""
    return f"CASE WHEN {test} THEN {value}{other} END"


def truth_sql(x: str, if_true: str, if_false: str) -> str:
    """Write one value for a condition that holds and another for one that does not; NULL stays.

    >>> from discreet.engines.sql.dialect import truth_sql
    >>> truth_sql("c0", "1", "0")
    'CASE WHEN c0 THEN 1 WHEN NOT c0 THEN 0 END'
    """
    return f"CASE WHEN {x} THEN {if_true} WHEN NOT {x} THEN {if_false} END"


def narrowest_type(types: Iterable[tuple[str, int]], low: int, high: int) -> str:
    """Return the first integer type that holds both ends; each type is given with its bits.

    >>> from discreet.engines.sql.dialect import narrowest_type
    >>> narrowest_type([("SMALLINT", 15), ("INTEGER", 31)], 0, 40_000)
    'INTEGER'
    """
    for name, bits in types:
        if -(2**bits) <= low and high < 2**bits:
            return name
    raise AssertionError("the steps of a declared column fit into 64 bits")


def null(sql_type: str) -> str:
    """Write NULL of a type."""
    return cast_sql("NULL", sql_type)


def put_quotes(text: str, quote: str) -> str:
    """Put text into quotes, those within doubled.

    >>> from discreet.engines.sql.dialect import put_quotes
    >>> put_quotes("it's", "'")
    "'it''s'"
    """
    return quote + text.replace(quote, quote * 2) + quote
