"""Coverage of 95 % intervals of coefficients, for three generators of data, one of which follows neither model.

    python benchmarks/learn_coverage.py [--runs 100] [--rows 20000] [--model NAME] [--kept FILE]

NAME is logistic or linear (coefficients), classifier or regressor (effects of additive models). Each run is kept in FILE
as soon as it is there, and is not run again.

The truth is what the same model without noise finds in a million rows. Printed are the share of intervals that hold it
with its standard error, and the mean half width over 1.96 beside the spread of the estimates from run to run, and beside
the spread of a tenth as many fits of one table: that of the noise alone.

For additive models the truth is the same fit without noise; printed are the share of bars of two deviations that hold
it, in bins of 200 rows or more, and the size of the effects beside those without noise.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
import warnings
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import discreet as dp
from discreet import learn
from discreet.learn.coding.contrasts import reporting
from discreet.learn.frame import read_columns
from discreet.learn.task import Task
from discreet.query.algebra.tree import Scan
from discreet.query.bounds.relation_facts import columns_of

BUDGETS = ("0.1", "1", "10")
GENERATORS = ("normal", "skewed", "steps")
COLUMNS = {
    "age": dp.Integer(0, 99),
    "income": dp.Real(0, 1000),
    "sex": dp.Category(["f", "m"]),
}
KEYS = ("model", "rows", "generator", "epsilon", "seed")
EFFECTS = ("classifier", "regressor")
Line = dict[str, Any]
"""One run: its keys, and what it found."""
SHOWN = ("age", "income", "sex=f", "sex=m")


def draw(kind: str, n: int, seed: int) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
    """Return columns, the chance of a class, and the mean of a number, of so many rows."""
    rng = np.random.default_rng(seed)
    age, sex = rng.integers(18, 90, n), rng.integers(0, 2, n)
    income = rng.exponential(150, n) if kind == "skewed" else rng.normal(400, 150, n)
    income = np.clip(income, 0, 1000)
    match kind:
        case "normal":
            margin = -1 + 0.06 * (age - 50) + 0.004 * (income - 400) + 0.8 * sex
        case "skewed":
            margin = -2.5 + 0.03 * (age - 50) + 0.006 * (income - 150) - 0.5 * sex
        case _:
            chance = np.where(age > 50, 0.8, 0.2) * np.where(income > 300, 1, 0.6)
            chance = chance * (1 - 0.1 * sex)
            margin = np.log(chance / (1 - chance))
    columns = {"age": age, "income": income, "sex": np.array(["f", "m"])[sex]}
    return columns, 1 / (1 + np.exp(-margin)), 50 + 8 * margin


def model_of(kind: str, epsilon: str) -> learn.LogisticRegression | learn.LinearRegression:
    target = dp.Boolean() if kind == "logistic" else dp.Real(0, 100)
    schema = dp.Schema("people", dp.Rows(), {**COLUMNS, "y": target})
    spend = dp.ApproxDP(epsilon, "1e-6")
    if kind == "logistic":
        return learn.LogisticRegression(schema, "y", spend)
    return learn.LinearRegression(schema, "y", spend)


def truth_of(kind: str, generator: str) -> np.ndarray:
    """Return the coefficients of the model without noise in a million rows, in the columns' units."""
    model = model_of(kind, "1")
    columns, chance, mean = draw(generator, 1_000_000, 1)
    domains = columns_of(Scan(model.declared()))
    design = model.task(domains).design
    rows = design.code(read_columns(Task(design, None), domains, columns, None)).dense()
    if kind == "linear":
        found = np.linalg.lstsq(rows, np.clip(mean, 0, 100), rcond=None)[0]
    else:
        found = np.zeros(design.width)
        for _ in range(30):
            chances = 1 / (1 + np.exp(-rows @ found))
            curvature = (rows * (chances * (1 - chances))[:, None]).T @ rows
            found -= np.linalg.pinv(curvature, rcond=1e-10) @ (rows.T @ (chances - chance))
    # Half the width of the bounds of age and of income.
    return (reporting(design) @ found)[:4] / np.array([49.5, 500, 1, 1])


def table_of(said: argparse.Namespace, generator: str, seed: int) -> dict[str, np.ndarray]:
    """Return the columns of one run, the target `y` among them."""
    columns, chance, mean = draw(generator, said.rows, 100 + seed)
    rng = np.random.default_rng(10_000 + seed)
    target = rng.random(said.rows) < chance
    if said.model in ("linear", "regressor"):
        target = np.clip(mean + rng.normal(0, 5, said.rows), 0, 100)
    return {**columns, "y": target}


def coefficients_of(said: argparse.Namespace, generator: str, epsilon: str, seed: int) -> Line:
    """Fit one table; every tenth run also fits the first table once more, for the noise alone."""
    model = model_of(said.model, epsilon)
    shown = [one for one in _fitted(model, table_of(said, generator, seed)) if one.name in SHOWN]
    found = {
        "value": [one.value for one in shown],
        "low": [one.low for one in shown],
        "high": [one.high for one in shown],
    }
    if seed % 10 == 0:
        again = _fitted(model, table_of(said, generator, 0))
        found["again"] = [one.value for one in again if one.name in SHOWN]
    return found


def _fitted(model: learn.LogisticRegression | learn.LinearRegression, table: dict) -> tuple:
    model.fit(table, ledger=None)
    return model.coefficients()


def effects_of(said: argparse.Namespace, generator: str, epsilon: str, seed: int) -> Line:
    """Compare the effects of one fit with those of a fit without noise, in bins of 200 rows or more."""
    kind = learn.AdditiveClassifier if said.model == "classifier" else learn.AdditiveRegressor
    target = dp.Boolean() if said.model == "classifier" else dp.Real(0, 100)
    schema = dp.Schema("people", dp.Rows(), {**COLUMNS, "y": target})
    table = table_of(said, generator, seed)
    bare = kind(schema, "y", dp.ZCDP(10**9), bins=16).fit(table, ledger=None)
    noisy = kind(schema, "y", dp.ApproxDP(epsilon, "1e-6"), bins=16).fit(table, ledger=None)
    counts = bare.image({name: table[name] for name in COLUMNS}).sum(axis=0)
    starts = bare.task_.design.starts
    inside: list[bool] = []
    sizes = np.zeros(2)
    widths: list[float] = []
    misses: list[float] = []
    for one, other, start in zip(
        bare.effects_.columns, noisy.effects_.columns, starts, strict=True
    ):
        seen = counts[start : start + len(one.values)] >= 200
        without, found = (np.array(effect.values)[seen] for effect in (one, other))
        apart = (found - found.mean()) - (without - without.mean())
        bars = np.array(other.deviations)[seen]
        inside += (np.abs(apart) <= 2 * bars).tolist()
        widths += bars.tolist()
        misses += (apart**2).tolist()
        sizes += [np.abs(values - values.mean()).sum() for values in (found, without)]
    return {
        "inside": float(np.mean(inside)),
        "width": float(np.mean(widths)),
        "miss": float(np.mean(misses)),
        "sizes": sizes.tolist(),
    }


def measured(said: argparse.Namespace) -> list[Line]:
    """Run what is not kept yet, each result being kept as soon as it is there."""
    kept: list[Line] = []
    if said.kept.exists():
        kept = [json.loads(text) for text in said.kept.read_text().splitlines()]
    done = {tuple(line[name] for name in KEYS) for line in kept}
    run = effects_of if said.model in EFFECTS else coefficients_of
    with said.kept.open("a") as file:
        for seed, generator, epsilon in product(range(said.runs), GENERATORS, BUDGETS):
            key = (said.model, said.rows, generator, epsilon, seed)
            if key in done:
                continue
            line = dict(zip(KEYS, key, strict=True)) | run(said, generator, epsilon, seed)
            kept.append(line)
            file.write(json.dumps(line) + "\n")
            file.flush()
    return [line for line in kept if line["model"] == said.model and line["rows"] == said.rows]


def say_coefficients(name: str, lines: list[Line], truth: np.ndarray) -> None:
    low, high, value = (np.array([line[end] for line in lines]) for end in ("low", "high", "value"))
    again = np.array([line["again"] for line in lines if "again" in line])
    inside = (low <= truth) & (truth <= high)
    error = np.std(inside.mean(axis=1)) / math.sqrt(len(lines))
    widths = (high - low).mean(axis=0) / 2 / 1.96
    wide = np.median(widths / value.std(axis=0))
    alone = np.median(widths / again.std(axis=0))
    print(
        f"{name} holds {inside.mean():.3f} ± {error:.3f} (least {inside.mean(axis=0).min():.3f})"
        f"  width / spread {wide:.2f}  width / noise alone {alone:.2f}"
        f"  estimate / truth {np.median(value / truth, axis=0).round(2)}",
        flush=True,
    )


def say_effects(name: str, lines: list[Line]) -> None:
    inside = np.array([line["inside"] for line in lines])
    found, without = np.sum([line["sizes"] for line in lines], axis=0)
    miss = math.sqrt(np.mean([line["miss"] for line in lines]))
    wide = np.mean([line["width"] for line in lines]) / miss
    error = inside.std() / math.sqrt(len(lines))
    print(
        f"{name} holds {inside.mean():.3f} ± {error:.3f}  bar / root mean square of misses {wide:.2f}"
        f"  size / size without noise {found / without:.2f}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--model", choices=("logistic", "linear", *EFFECTS), default="logistic")
    parser.add_argument("--kept", type=Path, default=Path(tempfile.mkdtemp()) / "runs.jsonl")
    said = parser.parse_args()
    warnings.simplefilter("ignore")
    lines = measured(said)
    print(f"{said.model}, {said.runs} runs of {said.rows:,} rows for each table and ε")
    for generator, epsilon in product(GENERATORS, BUDGETS):
        cell = [
            line for line in lines if (line["generator"], line["epsilon"]) == (generator, epsilon)
        ]
        name = f"  {generator:<7} ε = {epsilon:<4}"
        if said.model in EFFECTS:
            say_effects(name, cell)
        else:
            say_coefficients(name, cell, truth_of(said.model, generator))


if __name__ == "__main__":
    main()
