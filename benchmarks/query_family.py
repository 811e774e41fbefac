"""The family of questions of `queries.py`: keys × statistics × unit × WHERE, over three schemas.

A schema has a column for each role: listed text, text that is not listed, a whole number, a truth, a date, a value. The
first schema is fixed. The others are drawn from a seed (ranges, numbers of keys, rows of a person, NULLs), so that nobody
can have tuned anything to them. Ids are scattered over 64 bits, and rows are in random order.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import product
from pathlib import Path

import duckdb

from discreet.data import Boolean, Category, Date, Integer, People, Real, Rows, Schema, Text

UNITS = ("rows", "people")
KEYS = ("none", "listed", "unlisted", "integer", "boolean", "week", "bins", "case")
STATISTICS = {
    "COUNT(*)": "count(*)",
    "COUNT(value)": "count(value)",
    "SUM(value)": "sum(value)",
    "AVG(value)": "avg(value)",
    "VARIANCE(value)": "variance(value)",
    "MEDIAN(value)": "median(value)",
    "QUANTILE(value, 0.9)": "quantile_cont(value, 0.9)",
    "COUNT(DISTINCT person)": "count(DISTINCT person)",
}
RANKED = ("MEDIAN(value)", "QUANTILE(value, 0.9)")


@dataclass(frozen=True)
class Family:
    """One schema: the sizes and ranges of its columns. Bounds are wider than what is stored."""

    name: str
    listed: int = 50
    unlisted: int = 200
    low: int = 0
    high: int = 120
    days: int = 1461
    top: int = 250_000
    step: float = 0.01
    width: int = 10_000
    rows_each: int = 10
    max_rows: int = 10
    nulls: float = 0.01

    @classmethod
    def drawn(cls, seed: int) -> Family:
        """Draw a schema from a seed."""
        draw = random.Random(seed)
        low = draw.randint(-5000, 100)
        top = 10 ** draw.randint(2, 6)
        rows_each = draw.randint(2, 30)
        return cls(
            f"seed {seed}",
            listed=draw.randint(2, 300),
            unlisted=draw.randint(20, 500),
            low=low,
            high=low + draw.randint(5, 2000),
            days=draw.randint(60, 7000),
            top=top,
            step=draw.choice([0.01, 0.1, 1]),
            width=max(1, top // draw.randint(5, 100)),
            rows_each=rows_each,
            max_rows=draw.randint(1, 2 * rows_each),
            nulls=draw.choice([0, 0.01, 0.2]),
        )

    @property
    def columns(self):
        first = date(2020, 1, 1)
        last = first + timedelta(days=self.days - 1)
        return {
            "listed": Category([f"S{number:03d}" for number in range(self.listed)]),
            "unlisted": Text(12),
            "whole": Integer(self.low, self.high),
            "truth": Boolean(),
            "day": Date(first.isoformat(), last.isoformat()),
            "value": Real(0, self.top, step=self.step),
        }

    def schema(self, unit: str) -> Schema:
        if unit == "rows":
            return Schema("events", Rows(), self.columns)
        return Schema("events", People("person", max_rows=self.max_rows), self.columns)

    def generate(self, path: Path, rows: int) -> None:
        """Write the rows as a Parquet file."""
        people = max(1, rows // self.rows_each)
        null = f"random() < {self.nulls}"
        with duckdb.connect() as connection:
            connection.execute("SELECT setseed(0.5)")
            connection.execute(
                f"""COPY (SELECT CAST(hash(who) >> 1 AS BIGINT) AS person,
                CASE WHEN {null} THEN NULL ELSE
                    'S' || lpad(CAST(floor(random() * {self.listed}) AS INTEGER)::VARCHAR, 3, '0') END AS listed,
                'town ' || CAST(floor(pow(random(), 2) * {self.unlisted}) AS INTEGER) AS unlisted,
                CASE WHEN {null} THEN NULL ELSE
                    {self.low} + CAST(floor(random() * {self.high - self.low}) AS INTEGER) END AS whole,
                CASE WHEN {null} THEN NULL ELSE random() < 0.3 END AS truth,
                CASE WHEN {null} THEN NULL ELSE
                    DATE '2020-01-01' + CAST(floor(random() * {self.days}) AS INTEGER) END AS day,
                CASE WHEN {null} THEN NULL ELSE random() * {0.8 * self.top} END AS value
                FROM (SELECT CAST(floor(random() * {people}) AS INTEGER) AS who FROM range({rows})))
                TO '{path}'"""
            )

    @property
    def middle(self) -> int:
        return (self.low + self.high) // 2

    def keys(self, *, stored: bool = False) -> dict[str, str]:
        """Write each key; `stored`: over a prepared store, which holds whole steps and days since 1970."""
        case = f"CASE WHEN whole < {self.middle} THEN 'lower' WHEN whole = {self.middle} THEN 'middle' ELSE 'upper' END"
        steps = round(self.width / self.step)
        return {
            "none": "",
            "listed": "listed",
            "unlisted": "unlisted",
            "integer": "whole",
            "boolean": "truth",
            "week": "(day - 4) // 7" if stored else "DATE_TRUNC('week', day)",
            "bins": f"value // {steps}" if stored else f"FLOOR(value / {self.width})",
            "case": case,
        }


@dataclass(frozen=True)
class Question:
    """One line of the table."""

    unit: str
    key: str
    statistic: str
    where: bool

    def sql(self, family: Family) -> str:
        """Write the question as an analyst asks it."""
        return self._select(family.keys()[self.key], self.statistic, family)

    def plain(self, family: Family, *, stored: bool) -> str:
        """Write the plain query over the prepared store, or over a table of the same Parquet file."""
        statistic = STATISTICS[self.statistic]
        if stored:
            statistic = statistic.replace("person", '"\\person"')
        return self._select(family.keys(stored=stored)[self.key], statistic, family)

    def _select(self, key: str, statistic: str, family: Family) -> str:
        where = f" WHERE whole >= {family.middle}" if self.where else ""
        if not key:
            return f"SELECT {statistic} AS v FROM events{where}"
        return f"SELECT {key} AS k, {statistic} AS v FROM events{where} GROUP BY k"

    @property
    def target(self) -> float:
        """The most that the question may cost, as a multiple of the plain query."""
        if self.unit == "rows":
            return 3 if self.statistic in RANKED else 1.4
        if "DISTINCT" in self.statistic:
            return 2
        if self.where or self.statistic in RANKED:
            return 5
        return 2.5

    @property
    def from_metadata(self) -> bool:
        """A plain store answers it without reading a row."""
        return (self.key, self.statistic, self.where) == ("none", "COUNT(*)", False)


def questions() -> list[Question]:
    """List the family. Where a row is the unit, nobody's rows can be told apart."""
    every = product(UNITS, KEYS, STATISTICS, (False, True))
    return [Question(*one) for one in every if not (one[0] == "rows" and "DISTINCT" in one[2])]
