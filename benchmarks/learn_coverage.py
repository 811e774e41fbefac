"""Coverage of 95 % intervals of coefficients, for three generators of data, one of which follows neither model.

    python benchmarks/learn_coverage.py [--runs 100] [--rows 20000] [--model logistic | linear | additive]

The truth is what the same model without noise finds in a million rows. Printed are the share of intervals that hold it
with its standard error, and the mean half width over 1.96 beside the spread of the estimates from run to run, and beside
the spread of a tenth as many fits of one table: that of the noise alone.

For additive models the truth is the same fit without noise; printed are the share of bars of two deviations that hold
it, in bins of 200 rows or more, and the size of the effects beside those without noise.
"""

from __future__ import annotations

import argparse
import math
import warnings

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
    if said.model == "linear":
        target = np.clip(mean + rng.normal(0, 5, said.rows), 0, 100)
    return {**columns, "y": target}


def effects(said: argparse.Namespace) -> None:
    """Print how often the bars of effects hold the effects of a fit without noise."""
    for kind in (learn.AdditiveClassifier, learn.AdditiveRegressor):
        target = dp.Boolean() if kind is learn.AdditiveClassifier else dp.Real(0, 100)
        schema = dp.Schema("people", dp.Rows(), {**COLUMNS, "y": target})
        said.model = "logistic" if kind is learn.AdditiveClassifier else "linear"
        for epsilon in BUDGETS:
            held, sizes = [], []
            for run in range(said.runs):
                table = table_of(said, GENERATORS[run % 3], run)
                bare = kind(schema, "y", dp.ZCDP(10**9), bins=16).fit(table, ledger=None)
                spend = dp.ApproxDP(epsilon, "1e-6")
                noisy = kind(schema, "y", spend, bins=16).fit(table, ledger=None)
                counts = bare.image({name: table[name] for name in COLUMNS}).sum(axis=0)
                starts = bare.task_.design.starts
                pairs = zip(bare.effects_.columns, noisy.effects_.columns, starts, strict=True)
                for one, other, start in pairs:
                    seen = counts[start : start + len(one.values)] >= 200
                    without, found = (np.array(effect.values)[seen] for effect in (one, other))
                    apart = (found - found.mean()) - (without - without.mean())
                    held.append(np.abs(apart) <= 2 * np.array(other.deviations)[seen])
                    sizes.append([np.abs(v - v.mean()).sum() for v in (found, without)])
            inside = np.mean(np.concatenate(held))
            found, without = np.sum(sizes, axis=0)
            print(
                f"{kind.__name__:<18} ε = {epsilon:<4} inside {inside:.3f}  size {found / without:.2f}",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--model", choices=("logistic", "linear", "additive"), default="logistic")
    said = parser.parse_args()
    warnings.simplefilter("ignore")
    if said.model == "additive":
        effects(said)
        return
    for generator in GENERATORS:
        truth = truth_of(said.model, generator)
        for epsilon in BUDGETS:
            held, found, widths, again = [], [], [], []
            for seed in range(said.runs):
                model = model_of(said.model, epsilon)
                model.fit(table_of(said, generator, seed), ledger=None)
                shown = [one for one in model.coefficients() if one.name in SHOWN]
                inside = [one.low <= at <= one.high for one, at in zip(shown, truth, strict=True)]
                held.append(inside)
                found.append([one.value for one in shown])
                widths.append([(one.high - one.low) / 2 / 1.96 for one in shown])
                if seed % 10 == 0:
                    model.fit(table_of(said, generator, 0), ledger=None)
                    shown = [one for one in model.coefficients() if one.name in SHOWN]
                    again.append([one.value for one in shown])
            each = np.mean(held, axis=1)
            error = np.std(each) / math.sqrt(said.runs)
            mean_widths = np.mean(widths, axis=0)
            wide = np.median(mean_widths / np.std(found, axis=0))
            alone = np.median(mean_widths / np.std(again, axis=0))
            ratio = np.median(np.array(found) / truth, axis=0).round(2)
            print(
                f"{said.model} {generator:<7} ε = {epsilon:<4} holds {np.mean(held):.3f} ± {error:.3f}"
                f"  width / spread {wide:.2f}  width / noise alone {alone:.2f}"
                f"  estimate / truth {ratio}",
                flush=True,
            )


if __name__ == "__main__":
    main()
