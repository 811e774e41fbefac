"""Price of query logs with reuse, beside a cache of identical questions: `reuse.py [log …] [questions] [seeds] [rows]`.

Five kinds of logs on two tables, asked of the real engine and ledger under ρ-zCDP, every question with the same spend.

    dashboard   panels (a group each) under each value of a filter, changed again and again
    drill       a table, then into one of its cells by one more condition, and back
    ranges      counts of random ranges and slices
    report      a table, its margins, and its groups one by one
    linked      charts linked by brushing: every chart is asked again under the brushed value or range

The cache answers a question that was written before in the very same words; it has no views, siblings and contrasts.
A figure is the price (ρ) of the cache divided by the price with reuse: 1 is no gain. `free` are the questions that
cost nothing. The made-up table has 340,000 dated events; with `rows`, both tables are cut to so many.
"""

from __future__ import annotations

import csv
import gzip
import random
import sys
import tempfile
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from pathlib import Path

import discreet as dp

ADULT = Path(__file__).parent.parent / "tests" / "end_to_end" / "adult.csv.gz"
SPEND = dp.ZCDP("1/10000")
EVENTS = 340_000


class World:
    """A table, its store, and the columns that logs use: filters, groups and ranges."""

    def __init__(self, name: str, schema: dp.Schema, rows: list[dict[str, object]]) -> None:
        self.name = name
        self.schema = schema
        self.store = dp.prepare({schema.name: _csv(rows)}, [schema], _path("store"))
        self.values: dict[str, list[object]] = {}
        self.ranges: dict[str, tuple[int, int]] = {}
        for column, declared in schema.columns.items():
            if isinstance(declared, dp.Category):
                self.values[column] = list(declared.keys())
            elif isinstance(declared, dp.Integer):
                self.ranges[column] = (int(declared.low), int(declared.high))


def _path(ending: str) -> Path:
    return Path(tempfile.mkdtemp()) / f"table.{ending}"


def _csv(rows: list[dict[str, object]]) -> Path:
    path = _path("csv")
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def adult(most: int | None = None) -> World:
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
    return World("Adult", dp.Schema("adult", dp.Rows(), columns), rows[:most])


def events(most: int | None = None, seed: int = 1) -> World:
    """Return a made-up table of 340,000 dated events by origin, carrier, month, weekday and hour."""
    draw = random.Random(seed)
    origins = ["EWR", "JFK", "LGA"]
    carriers = [f"C{number}" for number in range(16)]
    rows = []
    for _ in range(min(EVENTS, most or EVENTS)):
        day = date(2026, 1, 1) + timedelta(days=draw.randrange(365))
        row = {
            "day": day.isoformat(),
            "origin": draw.choices(origins, [4, 3, 3])[0],
            "carrier": draw.choices(carriers, [1 / (1 + place) for place in range(16)])[0],
            "month": day.month,
            "weekday": day.weekday(),
            "hour": draw.randrange(24),
            "delay": min(300, int(draw.expovariate(1 / 20))),
        }
        rows.append(row)
    columns: dict[str, dp.Column] = {
        "day": dp.Date("2026-01-01", "2026-12-31"),
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
    "ranges": ranges,
    "linked": linked,
    "dashboard": dashboard,
    "drill": drill,
    "report": report,
}


def run(world: World, kind: str, seed: int, size: int) -> tuple[float, float, int]:
    """Return the price of a log by the cache and with reuse, in prices of one question, and its charges."""
    log = LOGS[kind](world, random.Random(seed))
    asked = [next(log) for _ in range(size)]
    ledger = dp.open_ledger(":memory:", dp.ZCDP(1))
    curator = dp.Curator(world.store, [world.schema], ledger)
    for sql in asked:
        curator.sql(sql, spend=SPEND)
    spent = ledger.spent()
    return len(set(asked)), float(spent.rho / SPEND.rho), ledger.verify().charges


def main(kinds: list[str], size: int = 400, seeds: int = 5, rows: int | None = None) -> None:
    """Print a line for each of these kinds of logs, or for all, and each table."""
    print(
        f"{size} questions a log, {seeds} seeds; price of a cache of identical questions / with reuse"
    )
    print(
        f"{'log':<10} {'table':<7} {'gain':>6} {'least':>6} {'most':>6} {'cache':>7} {'reuse':>7} {'free':>6}"
    )
    worlds = adult(rows), events(rows)
    for kind in kinds or LOGS:
        for world in worlds:
            prices = [run(world, kind, seed, size) for seed in range(seeds)]
            gains = [cached / price for cached, price, _ in prices]
            cached = sum(one for one, _, _ in prices) / seeds
            price = sum(two for _, two, _ in prices) / seeds
            free = size - sum(charges for _, _, charges in prices) / seeds
            line = f"{kind:<10} {world.name:<7} {sum(gains) / seeds:>6.2f} {min(gains):>6.2f} {max(gains):>6.2f}"
            print(f"{line} {cached:>7.1f} {price:>7.1f} {free:>6.1f}", flush=True)


if __name__ == "__main__":
    words = sys.argv[1:]
    main(
        [word for word in words if word in LOGS],
        *[int(word) for word in words if word not in LOGS],
    )
