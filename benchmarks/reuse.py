"""Price of query logs with siblings and views, beside a cache of identical questions: `reuse.py [questions] [seeds]`.

Five kinds of logs on two tables, asked of the real engine and ledger under ρ-zCDP, every question with the same spend.

    dashboard   panels (a group each) under each value of a filter, changed again and again
    drill       a table, then into one of its cells by one more condition, and back
    ranges      counts of random ranges and slices
    report      a table, its margins, and its groups one by one
    linked      charts linked by brushing: every chart is asked again under the brushed value or range

The cache answers a question that was written before in the very same words; it has no views and no siblings. A figure
is the price of the cache divided by the price with reuse: 1 is no gain. `free` are the questions that cost nothing.
"""

from __future__ import annotations

import csv
import gzip
import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import discreet as dp

ADULT = Path(__file__).parent.parent / "tests" / "end_to_end" / "adult.csv.gz"
SPEND = dp.ZCDP("1/10000")
ROWS = 400
"""Rows that are asked about. The price of a log does not depend on their number, only the time does."""


class World:
    """A table, its store, and the columns that logs use: filters, groups and ranges."""

    def __init__(self, name: str, schema: dp.Schema, rows: list[dict[str, object]]) -> None:
        self.name = name
        self.schema = schema
        self.store = dp.Memory({schema.name: rows[:ROWS]})
        self.values: dict[str, list[object]] = {}
        self.ranges: dict[str, tuple[int, int]] = {}
        for column, declared in schema.columns.items():
            if isinstance(declared, dp.Category):
                self.values[column] = list(declared.keys())
            elif isinstance(declared, dp.Integer):
                self.ranges[column] = (int(declared.low), int(declared.high))


def adult() -> World:
    """Return the Adult table, its columns coded as whole numbers."""
    with gzip.open(ADULT, "rt", encoding="utf-8") as file:
        rows = []
        for line in csv.DictReader(file):
            rows.append(
                {
                    name.replace("-", "_"): int(text)
                    for name, text in line.items()
                    if name != "income>50K"
                }
            )
    columns: dict[str, dp.Column] = {}
    for name in ("workclass", "marital_status", "relationship", "race", "sex"):
        columns[name] = dp.Category(sorted({row[name] for row in rows}))
    columns["age"] = dp.Integer(0, 99)
    columns["hours_per_week"] = dp.Integer(0, 99)
    return World("Adult", dp.Schema("adult", dp.Rows(), columns), rows)


def events(seed: int = 1) -> World:
    """Return a made-up table of dated events by origin, carrier, month, weekday and hour."""
    draw = random.Random(seed)
    origins = ["EWR", "JFK", "LGA"]
    carriers = [f"C{number}" for number in range(16)]
    rows = []
    for _ in range(ROWS):
        row = {
            "origin": draw.choices(origins, [4, 3, 3])[0],
            "carrier": draw.choices(carriers, [1 / (1 + place) for place in range(16)])[0],
            "month": draw.randrange(1, 13),
            "weekday": draw.randrange(7),
            "hour": draw.randrange(24),
            "delay": min(300, int(draw.expovariate(1 / 20))),
        }
        rows.append(row)
    columns: dict[str, dp.Column] = {
        "origin": dp.Category(origins),
        "carrier": dp.Category(carriers),
        "month": dp.Category(list(range(1, 13))),
        "weekday": dp.Category(list(range(7))),
        "hour": dp.Integer(0, 23),
        "delay": dp.Integer(0, 300),
    }
    return World("events", dp.Schema("events", dp.Rows(), columns), rows)


def question(world: World, where: list[str], by: list[str]) -> str:
    """Write a count under conditions, by groups."""
    text = f"SELECT {', '.join([*by, 'COUNT(*) AS n'])} FROM {world.schema.name}"
    if where:
        text += f" WHERE {' AND '.join(where)}"
    if by:
        text += f" GROUP BY {', '.join(by)}"
    return text


def pinned(column: str, value: object) -> str:
    return f"{column} = {value!r}"


def dashboard(world: World, draw: random.Random) -> Iterator[str]:
    """Panels that a person looks at under each value of a filter."""
    columns = list(world.values)
    while True:
        chosen = draw.choice(columns)
        others = [column for column in columns if column != chosen]
        panels = draw.sample(others, min(3, len(others)))
        for value in world.values[chosen]:
            for panel in panels:
                yield question(world, [pinned(chosen, value)], [panel])


def drill(world: World, draw: random.Random) -> Iterator[str]:
    """A table, then one of its cells, by one more condition each time."""
    columns = list(world.values)
    while True:
        order = draw.sample(columns, len(columns))
        where: list[str] = []
        for depth, column in enumerate(order[:4]):
            yield question(world, where, [column])
            # Into the large cells, which come first.
            values = world.values[column]
            where.append(pinned(column, values[min(int(draw.expovariate(1)), len(values) - 1)]))
            if depth == 3:
                yield question(world, where, [])


def ranges(world: World, draw: random.Random) -> Iterator[str]:
    """Random ranges of a number, and slices by one or two values."""
    columns = list(world.values)
    while True:
        where = []
        if draw.random() < 1 / 2:
            column = draw.choice(list(world.ranges))
            low, high = world.ranges[column]
            ends = sorted(
                draw.randrange(low, high + 1, max(1, (high - low) // 10)) for _ in range(2)
            )
            where.append(f"{column} BETWEEN {ends[0]} AND {ends[1]}")
        for column in draw.sample(columns, draw.randrange(1, 3)):
            where.append(pinned(column, draw.choice(world.values[column])))
        yield question(world, where, [])


def report(world: World, draw: random.Random) -> Iterator[str]:
    """A table of two groups, its margins, and its groups one by one, every month anew."""
    columns = list(world.values)
    while True:
        one, two = draw.sample(columns, 2)
        yield question(world, [], [one, two])
        yield question(world, [], [one])
        yield question(world, [], [two])
        for value in world.values[one]:
            yield question(world, [pinned(one, value)], [two])


def linked(world: World, draw: random.Random) -> Iterator[str]:
    """Charts that are all asked again when a value or a range of one of them is brushed."""
    charts = draw.sample(list(world.values), 4)
    for chart in charts:
        yield question(world, [], [chart])
    while True:
        brushed = draw.choice([*charts, *world.ranges])
        if brushed in world.ranges:
            low, high = world.ranges[brushed]
            step = max(1, (high - low) // 5)
            start = draw.randrange(low, high - step + 1, step)
            where = f"{brushed} BETWEEN {start} AND {start + step}"
        else:
            where = pinned(brushed, draw.choice(world.values[brushed]))
        for chart in charts:
            if chart != brushed:
                yield question(world, [where], [chart])


LOGS: dict[str, Callable[[World, random.Random], Iterator[str]]] = {
    "dashboard": dashboard,
    "drill": drill,
    "ranges": ranges,
    "report": report,
    "linked": linked,
}


def run(world: World, kind: str, seed: int, size: int) -> tuple[int, int]:
    """Return the number of charges of a log by the cache, and by the ledger with reuse.

    Every charge has the same price, so the ratio of charges is the ratio of prices.
    """
    log = LOGS[kind](world, random.Random(seed))
    asked = [next(log) for _ in range(size)]
    ledger = dp.open_ledger(":memory:", dp.ZCDP(1))
    curator = dp.Curator(world.store, [world.schema], ledger)
    for sql in asked:
        curator.sql(sql, spend=SPEND)
    return len(set(asked)), ledger.verify().charges


def main(size: int = 400, seeds: int = 5) -> None:
    """Print a line for each kind of log and each table."""
    print(
        f"{size} questions a log, {seeds} seeds; charges of a cache of identical questions / with views and siblings"
    )
    print(
        f"{'log':<10} {'table':<7} {'gain':>6} {'least':>6} {'most':>6} {'cache':>7} {'reuse':>7} {'free':>6}"
    )
    for kind in LOGS:
        for world in (adult(), events()):
            counts = [run(world, kind, seed, size) for seed in range(seeds)]
            gains = [cached / charged for cached, charged in counts]
            cached = sum(one for one, _ in counts) / seeds
            charged = sum(two for _, two in counts) / seeds
            line = f"{kind:<10} {world.name:<7} {sum(gains) / seeds:>6.2f} {min(gains):>6.2f} {max(gains):>6.2f}"
            print(f"{line} {cached:>7.1f} {charged:>7.1f} {size - charged:>6.1f}", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
