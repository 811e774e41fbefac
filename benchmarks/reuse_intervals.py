"""How often intervals of derived answers hold, on drawn noise: `reuse_intervals.py [intervals] [unions]`.

    siblings   cells that were measured beside the one that was asked for
    margins    sums over five cells each of a table that was seen
    contrast   half the sum of a total and a signed count; "sides": the total is of both sides of another condition
    chosen     a count over the 25 larger of 50 equal cells that were seen, asked by who looked: charged, not derived

Each is asked of the real engine and ledger, 1,000 cells at once, of new curators. A line has the share of intervals
that held at each level, then how many standard errors that is above the level.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

import discreet as dp

LEVELS = (0.5, 0.9, 0.95, 0.99)
EPSILON = dp.PureDP("1/100")
RHO = dp.ZCDP("1/20000")
COLUMNS: dict[str, dp.Column] = {
    "a": dp.Integer(1, 200, default=1),
    "b": dp.Integer(1, 5, default=1),
    "cell": dp.Integer(1, 50, default=1),
    "c": dp.Integer(1, 25, default=1),
}
SCHEMA = dp.Schema("t", dp.Rows(), COLUMNS)
ROWS = [
    {"a": 1 + n % 200, "b": 1 + n // 7 % 5, "c": 1 + n % 25, "cell": 1 + n % 50}
    for n in range(2_000)
]
STORE = dp.Memory({"t": ROWS})
BY_AB = "SELECT a, b, COUNT(*) AS n FROM t GROUP BY a, b"
BY_AC = "SELECT a, c, COUNT(*) AS n FROM t{} GROUP BY a, c"
Found = tuple[dp.Answer, dict[tuple[object, ...], int]]


def asker(spend: dp.PureDP | dp.ZCDP) -> dp.Curator:
    ledger = dp.open_ledger(":memory:", type(spend)(10**6))
    return dp.Curator(STORE, [SCHEMA], ledger)


def exact(
    *names: str, of: Callable[[dict[str, int]], bool] = bool
) -> dict[tuple[object, ...], int]:
    """Count rows by keys."""
    counts: dict[tuple[object, ...], int] = {}
    for row in ROWS:
        key = tuple(row[name] for name in names)
        counts[key] = counts.get(key, 0) + of(row)
    return counts


def siblings(spend: dp.PureDP | dp.ZCDP) -> Iterator[Found]:
    while True:
        asked = asker(spend)
        asked.sql("SELECT a, COUNT(*) AS n FROM t WHERE b = 3 GROUP BY a", spend=spend)
        yield asked.sql(BY_AB, spend=spend, reuse="only"), exact("a", "b")


def margins(spend: dp.PureDP | dp.ZCDP) -> Iterator[Found]:
    while True:
        asked = asker(spend)
        asked.sql(BY_AB, spend=spend)
        sums = "SELECT a, COUNT(*) AS n FROM t GROUP BY a"
        yield asked.sql(sums, spend=spend, within=9, reuse="only"), exact("a")


def contrast(spend: dp.PureDP | dp.ZCDP, first: str = "") -> Iterator[Found]:
    while True:
        asked = asker(spend)
        asked.sql(BY_AC.format(first), spend=spend)
        answer = asked.sql(BY_AC.format(" WHERE cell < 20"), spend=spend)
        assert answer.receipt is not None
        assert answer.receipt.total is not None
        yield answer, exact("a", "c", of=lambda row: row["cell"] < 20)


def sides(spend: dp.PureDP | dp.ZCDP) -> Iterator[Found]:
    return contrast(spend, " WHERE cell > 33")


def chosen(spend: dp.PureDP | dp.ZCDP) -> Iterator[Found]:
    while True:
        asked = asker(spend)
        seen = asked.sql("SELECT cell, COUNT(*) AS n FROM t GROUP BY cell", spend=spend)
        larger = sorted(seen.rows, key=lambda row: row[1])[25:]
        listed = ", ".join(str(cell) for cell, _ in larger)
        answer = asked.sql(f"SELECT COUNT(*) AS n FROM t WHERE cell IN ({listed})", spend=spend)
        yield answer, {(): 40 * 25}


KINDS = {
    "siblings": siblings,
    "margins": margins,
    "contrast": contrast,
    "sides": sides,
    "chosen": chosen,
}


def line(name: str, spend: dp.PureDP | dp.ZCDP, intervals: int) -> None:
    """Print how often the intervals of one kind held."""
    held = dict.fromkeys(LEVELS, 0)
    cells = 0
    for answer, truth in KINDS[name](spend):
        for level in LEVELS:
            for key, interval in zip(answer.keys or [()], answer.interval(level), strict=True):
                low, high = interval["n"]
                held[level] += low <= truth.get(tuple(key), 0) <= high
        cells += len(answer)
        if cells >= intervals:
            break
    shares = "".join(f"{held[level] / cells:>9.4f}" for level in LEVELS)
    errors = ""
    for level in LEVELS:
        error = (level * (1 - level) / cells) ** 0.5
        errors += f"{(held[level] / cells - level) / error:>+9.1f}"
    print(f"{name:<10}{spend!s:<13}{cells:>8}{shares}{errors}", flush=True)


def main(intervals: int = 100_000, unions: int = 4_000) -> None:
    """Print a line for each kind of derived answer and each kind of noise."""
    head = "".join(f"{level:>9}" for level in LEVELS)
    print(f"{'':<10}{'spend':<13}{'cells':>8}{head}{'standard errors above the level':>36}")
    for name in KINDS:
        for spend in (EPSILON, RHO):
            if spend is EPSILON and name in ("contrast", "sides"):
                # Two geometric noises have no contrast.
                continue
            line(name, spend, unions if name == "chosen" else intervals)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
