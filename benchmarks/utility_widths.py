"""How wide intervals are beside what is attainable: twice the error that the shown values made, at the same level.

    python benchmarks/utility_widths.py [RUNS]

Every statistic is asked by itself on the data of `utility.py` (20,000 and 2,000 scores in 0..100), and several of them
together. Attainable is 2·q, with q the level's quantile of |shown − exact| over all runs: no interval around the shown value
that holds as often is narrower on these data. Intervals know less than that (they hold for any data), so they may be wider:
at most 1.1 times for counts, sums and means, 1.3 times for the others (a count is whole, so one step either way may be
a half of it). Quantiles have widths in rows and a yardstick of their own (docs/decisions/0040): twice what the whole budget
keeps on any data.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
import polars as pl

import discreet as dp
from discreet.answer import run_plan
from utility_data import made

LEVELS = (0.5, 0.95, 0.99)
ONE = {
    "n": ("COUNT(*)", 1.1),
    "s": ("SUM(x)", 1.1),
    "m": ("AVG(x)", 1.1),
    "v": ("VARIANCE(x)", 1.3),
    "d": ("STDDEV(x)", 1.3),
    "c": ("COVAR_SAMP(x, y)", 1.3),
    "r": ("CORR(x, y)", 1.3),
    "q": ("SUM(x) / SUM(y)", 1.3),
    "h": ("100.0 * COUNT(*) FILTER (WHERE x >= 58.4) / COUNT(*)", 1.3),
}
BY = "SELECT key, COUNT(*) AS n, SUM(x) AS s, AVG(x) AS m FROM t GROUP BY key"
SPENDS = {"ε = 1": dp.PureDP(1), "ρ = 1/8": dp.ZCDP("1/8")}


@dataclass(slots=True)
class Kept:
    """A store that works out each tally once."""

    store: object
    known: dict

    def tally(self, tally: object) -> object:
        if tally not in self.known:
            self.known[tally] = self.store.tally(tally)
        return self.known[tally]


def exact(x: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """Return every statistic as it is."""
    return {
        "n": x.size, "s": x.sum(), "m": x.mean(), "v": x.var(ddof=1), "d": x.std(ddof=1), "c": np.cov(x, y)[0, 1],
        "r": np.corrcoef(x, y)[0, 1], "q": x.sum() / y.sum(), "h": 100 * np.mean(x >= 58.4),
    }  # fmt: skip


def table_of(columns: dict[str, np.ndarray], rows: int) -> tuple[Kept, dict[str, dp.Schema]]:
    """Return a store of the first rows, on a grid of hundredths, and its schema."""
    facts = {
        "x": dp.Real(0, 100, step=0.01, default=0),
        "y": dp.Real(0, 100, step=0.01, default=0),
        "key": dp.Integer(0, 4),
    }
    schema = dp.Schema("t", dp.Rows(), facts, size=rows)
    frame = pl.DataFrame({name: values[:rows] for name, values in columns.items()})
    return Kept(dp.DuckDB({"t": frame}), {}), {"t": schema}


def measure(
    sql: str, store: Kept, schemas: dict[str, dp.Schema], spend: dp.PureDP | dp.ZCDP, runs: int
) -> list:
    """Return errors and widths of every noisy column and row, over so many runs, and how often intervals held."""
    plan = dp.plan_question(dp.parse_sql(sql, schemas), spend)
    found = []
    for _ in range(runs):
        answer = run_plan(plan, store)
        found.append((answer.rows, answer.columns, [answer.interval(level) for level in LEVELS]))
    return found


def line(name: str, close: float, errors: np.ndarray, ends: np.ndarray, truth: np.ndarray) -> str:
    """Write the ratio of the mean width to what is attainable, and how often it held, at every level."""
    cells = []
    for place, level in enumerate(LEVELS):
        low, high = ends[place]
        most = 2 * np.quantile(errors, level)
        ratio = np.mean(high - low) / most if most else float("nan")
        held = np.mean((low - 1e-9 <= truth) & (truth <= high + 1e-9))
        cells.append(f"{ratio:.2f} ({100 * held:.1f} %)")
    over = float(cells[1].split()[0]) > close
    return f"| {name} | {' | '.join(cells)} | {close} |{' over' if over else ''}"


def rows_of(
    name: str, sql: str, wanted: list[dict[str, float]], close: dict[str, float], asked: tuple
) -> None:
    """Ask, and print a line for every column."""
    found = measure(sql, *asked)
    for column, limit in close.items():
        errors, ends, truth = [], [[[], []] for _ in LEVELS], []
        for rows, columns, intervals in found:
            for place, row in enumerate(rows):
                told = wanted[place][column]
                if row[columns.index(column)] is None or any(
                    each[place][column] is None for each in intervals
                ):
                    continue  # there seemed to be too few rows
                errors.append(abs(row[columns.index(column)] - told))
                truth.append(told)
                for level, each in enumerate(intervals):
                    ends[level][0].append(each[place][column][0])
                    ends[level][1].append(each[place][column][1])
        print(
            line(
                f"{name.format(column)}", limit, np.array(errors), np.array(ends), np.array(truth)
            ),
            flush=True,
        )


def quantiles(x: np.ndarray, runs: int) -> None:
    """Print the widths of quantiles' intervals in rows, beside twice what the whole budget keeps on any data."""
    kept = Kept(dp.DuckDB({"t": pl.DataFrame({"x": x})}), {})
    schemas = {
        "t": dp.Schema("t", dp.Rows(), {"x": dp.Real(0, 100)}, size=x.size)
    }  # so fine that no two are alike
    ordered = np.sort(x)
    for name, ats in (("MEDIAN(x)", (0.5,)), ("three quartiles", (0.25, 0.5, 0.75))):
        sql = f"SELECT {', '.join(f'QUANTILE(x, {at}) AS q{i}' for i, at in enumerate(ats))} FROM t"
        question, cells = dp.parse_sql(sql, schemas), []
        for level in LEVELS:
            plans = [
                dp.plan_question(question, dp.PureDP(1), level=level, intervals=asked)
                for asked in (True, False)
            ]
            found = [
                run_plan(plans[0], kept, level=level).interval(level)[0]
                for _ in range(max(runs // 4, 20))
            ]
            ends = [(row[f"q{i}"], np.quantile(x, at)) for row in found for i, at in enumerate(ats)]
            width = np.mean(
                [
                    np.searchsorted(ordered, h, "right") - np.searchsorted(ordered, w)
                    for (w, h), _ in ends
                ]
            )
            held = np.mean([low <= true <= high for (low, high), true in ends])
            most = 2 * max(plans[1].statistic_errors(1 - level).values())
            cells.append(f"{width / most:.2f} ({100 * held:.1f} %)")
        print(f"| {name}, {x.size} rows, ε = 1, in rows | {' | '.join(cells)} | 1.3 |", flush=True)


def main(runs: int) -> None:
    """Print the page."""
    columns = made()
    values = {name: np.round(columns[one], 2) for name, one in (("x", "score"), ("y", "other"))}
    values["key"] = columns["key"] % 5
    print("| statistic | 50 % | 95 % | 99 % | at most |\n|---|---|---|---|---|")
    for rows in (20_000, 2_000):
        store, schemas = table_of(values, rows)
        x, y, key = (values[name][:rows] for name in ("x", "y", "key"))
        for word, spend in SPENDS.items():
            asked = (store, schemas, spend, runs)
            for name, (sql, close) in ONE.items():
                rows_of(
                    f"{sql}, {rows} rows, {word}",
                    f"SELECT {sql} AS {name} FROM t",
                    [exact(x, y)],
                    {name: close},
                    asked,
                )
            each = [exact(x[key == one], y[key == one]) for one in range(5)]
            rows_of(
                f"{{}} of COUNT, SUM, AVG by 5 keys, {rows} rows, {word}",
                BY,
                each,
                {"n": 1.1, "s": 1.1, "m": 1.1},
                asked,
            )
    quantiles(columns["score"], runs)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
