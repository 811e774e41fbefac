"""Exact laws of one quantile: value and interval beside the exponential mechanism over the gaps between rows.

`python benchmarks/quantile_laws.py [--drawn RUNS]` prints the figures of docs/decisions/0124. No law is sampled: a
probability is worked out for every cell and every reach. `--drawn` also draws the value that is shipped so many times,
with its standard error.

| column | way |
|---|---|
| gaps | root mean square error by Smith (2011): a gap weighs its width times exp(−rate · rank error) |
| alone | cells of the public grid, all of the budget for the value, as a part of `gaps` |
| third | value at a third, interval at two thirds: what was shipped before |
| at once | value and interval by one selection: what is shipped |
"""

from __future__ import annotations

import argparse
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

import discreet as dp
from discreet.mechanisms.selection.exponential import worst_gap
from discreet.mechanisms.selection.quantile_interval import distances
from discreet.mechanisms.selection.quantile_pair import QuantileAndInterval, reaches
from discreet.mechanisms.selection.ranks import RankTarget

Array = np.ndarray
BETA = 0.05


@dataclass(frozen=True)
class Table:
    """Rows in whole steps from 0 to `top`; every step is a cell."""

    values: Array
    top: int
    at: float

    @property
    def before(self) -> Array:
        """Rows before each cell, and all rows at the end."""
        counts = np.bincount(self.values, minlength=self.top + 1)
        return np.concatenate([[0], np.cumsum(counts)]).astype(float)

    @property
    def aim(self) -> float:
        """Rank between the rows that SQL interpolates."""
        return self.at * (self.values.size - 1) + 0.5

    @property
    def exact(self) -> float:
        """The exact quantile."""
        return float(np.quantile(self.values, self.at))

    def rate(self, epsilon: float) -> float:
        """Factor of a rank in the exponent, under add/remove neighbours."""
        return epsilon / (2 * max(self.at, 1 - self.at))

    def depth(self) -> Array:
        """Ranks by which each cell lies beside the aim."""
        before = self.before
        beside = np.maximum(self.aim - before[1:], before[:-1] - self.aim)
        return np.maximum(0, beside)

    def error(self, masses: Array) -> float:
        """Root mean square error of a cell drawn with these masses."""
        cells = np.arange(self.top + 1)
        squares = (cells - self.exact) ** 2
        return math.sqrt((masses * squares).sum() / masses.sum())


def gaps_error(table: Table, epsilon: float) -> float:
    """Return the error of the exponential mechanism over the gaps between rows."""
    ends = np.concatenate([[0], np.sort(table.values), [table.top]]).astype(float)
    widths = np.diff(ends)
    ranks = np.abs(np.arange(widths.size) - table.aim)
    logs = np.log(np.maximum(widths, 1e-300)) - table.rate(epsilon) * ranks
    masses = np.exp(logs - logs.max())
    middles = (ends[:-1] + ends[1:]) / 2
    squares = (middles - table.exact) ** 2 + widths**2 / 12
    return math.sqrt((masses * squares).sum() / masses.sum())


@dataclass(frozen=True)
class Reaches:
    """Depths of all reaches of all cells, by direction, with the first and last cell of each interval."""

    depths: list[Array]
    ends: list[tuple[Array, Array]]


def reaches_of(table: Table, slack: float, ladder: tuple[int, ...]) -> Reaches:
    """Work out the depths of all reaches, for every cell as the released one."""
    before = table.before
    cells = np.arange(table.top + 1)
    far = np.array(ladder)[:, None]
    first = np.maximum(cells - far, 0)
    last = np.minimum(cells + far, table.top)
    low = table.aim - 0.5 - before[first]
    high = before[last + 1] - table.aim - 0.5
    low_all = np.maximum(0, low[-1] - slack)
    high_all = np.maximum(0, high[-1] - slack)
    depths = [
        _side(np.minimum(low, high), slack, np.zeros(cells.size)),
        _side(low, slack, high_all),
        _side(high, slack, low_all),
        np.maximum(low_all, high_all)[None],
    ]
    lowest = np.zeros_like(first)
    highest = np.full_like(last, table.top)
    ends = [(first, last), (first, highest), (lowest, last), (lowest[:1], highest[:1])]
    return Reaches(depths, ends)


def _side(ranks: Array, slack: float, least: Array) -> Array:
    found = np.maximum(slack - ranks, least)
    found[1:] = np.maximum(found[1:], ranks[:-1] - slack)
    return found


@dataclass(frozen=True)
class Outcome:
    """Error of the value, mean width of the interval in rows, and how often it does not hold."""

    error: float
    rows: float
    missed: float


def _outcome(table: Table, reaches: Reaches, masses: list[Array]) -> Outcome:
    total = sum(part.sum() for part in masses)
    before = table.before
    rows = 0.0
    missed = 0.0
    for part, (first, last) in zip(masses, reaches.ends, strict=True):
        rows += (part * (before[last + 1] - before[first])).sum()
        beside = (first > table.exact) | (last < table.exact)
        missed += (part * beside).sum()
    value = sum(part.sum(axis=0) for part in masses)
    return Outcome(table.error(value), rows / total, missed / total)


def apart(table: Table, epsilon: float, share: float) -> Outcome:
    """Choose the value at a share of the budget, then its reach with what is left."""
    outcomes = 1 + 3 * len(distances(table.top + 1))
    own_rate = table.rate(epsilon * (1 - share))
    ladder = distances(table.top + 1)
    found = reaches_of(table, worst_gap(outcomes, BETA, 1) / own_rate, ladder)
    weights = [np.exp(-own_rate * depth) for depth in found.depths]
    per_cell = sum(part.sum(axis=0) for part in weights)
    value = np.exp(-table.rate(epsilon * share) * table.depth())
    masses = [part / per_cell * value for part in weights]
    return _outcome(table, found, masses)


def at_once(table: Table, epsilon: float) -> Outcome:
    """Choose a pair of value and reach by the greater of the two depths, with all of the budget."""
    places = table.top + 1
    aim = RankTarget(Fraction(str(table.at)))
    made = QuantileAndInterval(Fraction(str(epsilon)), aim.moved(1), aim, 1)
    slack = made.slack(places, BETA) / aim.scale
    depth = table.depth()
    per_row = made.fineness * aim.scale / made.sensitivity
    masses = []
    lists = Reaches([], [])
    odd_places = np.arange(places) % 2
    for odd, distances_ in enumerate(reaches(places)):
        found = reaches_of(table, slack, distances_)
        for weight, own in zip(made.reach_weights, found.depths, strict=True):
            # Depths are whole steps: a float may lie just below its level.
            levels = np.floor(np.maximum(depth, own) * per_row + 1e-9)
            mass = weight * np.exp(-float(made.level_rate) * levels)
            masses.append(mass * (odd_places == odd))
        lists.depths.extend(found.depths)
        lists.ends.extend(found.ends)
    return _outcome(table, lists, masses)


def tables() -> Iterator[tuple[str, Array, int]]:
    """Yield the data sets: name, values, public upper bound."""
    for size in (20_000, 1000, 40):
        rng = np.random.default_rng(55)
        plain = {
            "lognormal": rng.lognormal(8, 1, size),
            "Pareto": 1000 * (1 + rng.pareto(1.5, size)),
            "uniform": rng.uniform(0, 100_000, size),
        }
        for name, values in plain.items():
            yield name, _whole(values, 100_000), 100_000
    rng = np.random.default_rng(56)
    for top in (100, 1000):
        values = rng.lognormal(math.log(top / 12), 0.6, 20_000)
        yield f"lognormal, 0..{top}", _whole(values, top), top


def _whole(values: Array, top: int) -> Array:
    return np.clip(np.round(values), 0, top).astype(int)


def drawn_error(table: Table, epsilon: float, runs: int) -> str:
    """Draw the value with its interval as it is shipped; return its error with a standard error."""
    schema = dp.Schema("t", dp.Rows(), {"x": dp.Integer(0, table.top)})
    asked = f"SELECT QUANTILE(x, {table.at}) AS q FROM t"
    plan = dp.plan_question(dp.parse_sql(asked, {"t": schema}), dp.PureDP(epsilon))
    [release] = plan.releases
    counts = Counter(map(release.need.ladder.cell_at, table.values.tolist()))
    exact = Fraction(table.exact)
    draws = [release.draw(counts, 1 - BETA).values[0] for _ in range(runs)]
    squares = np.array([float(value - exact) ** 2 for value in draws])
    error = math.sqrt(squares.mean())
    deviation = squares.std(ddof=1) / math.sqrt(runs)
    return f"{error:.4g} ± {deviation / (2 * error or 1):.2g}"


def main() -> None:
    """Print one line for every table, quantile and ε."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--drawn", type=int, default=0, help="draws of the shipped value")
    runs = parser.parse_args().drawn
    print("| data | rows | quantile | ε | gaps | alone | third | at once | ", end="")
    print("rows: third | at once |" + (" drawn |" if runs else ""))
    print("|---|" + "---|" * (9 + bool(runs)))
    for name, values, top in tables():
        for at in (0.5, 0.9, 0.99):
            table = Table(values, top, at)
            for epsilon in (0.1, 1.0):
                print(_line(name, table, epsilon, runs), flush=True)


def _line(name: str, table: Table, epsilon: float, runs: int) -> str:
    gaps = gaps_error(table, epsilon)
    alone = table.error(np.exp(-table.rate(epsilon) * table.depth()))
    ways = [apart(table, epsilon, 1 / 3), at_once(table, epsilon)]
    assert all(way.missed <= BETA for way in ways)
    cells = [name, f"{table.values.size}", f"{table.at}", f"{epsilon:g}", f"{gaps:.4g}"]
    cells += [f"{error / gaps:.2f}" for error in (alone, *(way.error for way in ways))]
    cells += [f"{way.rows:.0f}" for way in ways]
    if runs:
        cells.append(drawn_error(table, epsilon, runs))
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    main()
