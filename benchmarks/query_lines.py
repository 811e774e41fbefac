"""Lines of the family in `queries.py`: each question beside the plain query, in turns, in one process.

    python benchmarks/query_lines.py SCHEMA ROWS [WORD…]     SCHEMA: "first", or a seed; lines that have all words

The plain query runs with DuckDB's own settings, over a copy of the prepared store and over a table made of the same Parquet
file; the faster counts. A question is planned beforehand; its noise and intervals are timed. What it takes over no rows
is its fixed cost; up to 12 ms of that are taken off.
"""

from __future__ import annotations

import shutil
import statistics
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import duckdb

import discreet as dp
from discreet.answer import run_plan
from discreet.plan import plan_question
from query_clock import cpu, least, peak
from query_family import UNITS, Family, Question, questions

FIXED = 0.012
ROUNDS = 3
SLOW = 0.5
"""Questions that take longer are asked once."""
SPEND = dp.ApproxDP(1, 1e-6)


@dataclass(frozen=True)
class Timed:
    """One line: seconds of the question, of the same over no rows, and of the plain query."""

    question: Question
    ours: float
    fixed: float
    plain: float

    @property
    def times(self) -> float:
        return max(0, self.ours - min(self.fixed, FIXED)) / self.plain

    @property
    def missed(self) -> bool:
        return self.fixed > FIXED or (
            not self.question.from_metadata and self.times > self.question.target
        )

    def row(self) -> str:
        one = self.question
        times = "" if one.from_metadata else f"{self.times:.2f}"
        mark = "missed" if self.missed else ""
        where = "WHERE" if one.where else ""
        cells = (f"{one.unit:6}", f"{one.key:8}", f"{one.statistic:22}", f"{where:5}")
        numbers = (
            f"{1000 * self.ours:8.1f}",
            f"{1000 * self.fixed:6.1f}",
            f"{1000 * self.plain:8.1f}",
            f"{times:>6}",
        )
        return f"| {' | '.join((*cells, *numbers, f'{one.target:3}', f'{mark:6}'))} |"


def measure(family: Family, rows: int, chosen: list[Question], place: Path):
    """Time every line."""
    source = place / "events.parquet"
    family.generate(source, rows)
    empty = place / "empty.parquet"
    table = duckdb.connect(str(place / "table"))
    table.execute(f"CREATE TABLE events AS FROM '{source}'")
    table.execute("CHECKPOINT")
    table.execute(f"COPY (FROM events LIMIT 0) TO '{empty}'")
    for unit in UNITS:
        schema = family.schema(unit)
        store = place / f"{unit}.store"
        dp.prepare({"events": source}, [schema], store).close()
        copy = place / f"{unit}.copy"
        shutil.copy(store, copy)
        nothing = dp.prepare({"events": empty}, [schema], place / f"{unit}.empty")
        with (
            duckdb.connect(str(copy), read_only=True) as plain,
            dp.DuckDB(store) as engine,
            nothing,
        ):
            for question in chosen:
                if question.unit == unit:
                    yield _time(question, family, schema, (engine, nothing), (plain, table))


def _time(question, family, schema, engines, connections) -> Timed:
    plan = plan_question(dp.parse_sql(question.sql(family), {"events": schema}), SPEND)
    texts = [question.plain(family, stored=stored) for stored in (True, False)]
    runs = [lambda engine=engine: run_plan(plan, engine) for engine in engines]
    runs += [
        lambda connection=connection, text=text: connection.execute(text).fetchall()
        for connection, text in zip(connections, texts, strict=True)
    ]
    turns = [[least(run, cpu, 1) for run in runs]]
    while len(turns) < ROUNDS and turns[-1][0] < SLOW:
        turns.append([least(run, cpu, 1) for run in runs])
    ours, fixed, stored, table = map(min, zip(*turns, strict=True))
    return Timed(question, ours, fixed, min(stored, table))


def summary(lines: list[Timed]) -> None:
    """Print the median, the worst and how many miss."""
    for unit in UNITS:
        for where in (False, True):
            own = [
                line
                for line in lines
                if (line.question.unit, line.question.where) == (unit, where)
                and not line.question.from_metadata
            ]
            if not own:
                continue
            times = [line.times for line in own]
            worst = max(own, key=lambda line: line.times)
            told = f"{unit}{', WHERE' if where else ''}: median {statistics.median(times):.2f}, worst {max(times):.2f}"
            missed = sum(line.missed for line in own)
            print(
                f"{told} ({worst.question.key}, {worst.question.statistic}); {missed} of {len(own)} miss"
            )


def main(name: str, rows: int, words: list[str]) -> None:
    family = Family("first") if name == "first" else Family.drawn(int(name))
    chosen = [one for one in questions() if all(word in str(one) for word in words)]
    print(f"\n{family}, {rows:,} rows\n")
    print(
        "| unit | key | statistic | | ms | over no rows | plain ms | × | at most | |\n|"
        + "---|" * 10,
        flush=True,
    )
    lines = []
    with tempfile.TemporaryDirectory() as place:
        for line in measure(family, rows, chosen, Path(place)):
            lines.append(line)
            print(line.row(), flush=True)
    print(f"\npeak memory of the process, preparing included: {peak():,} MB")
    summary(lines)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3:])
