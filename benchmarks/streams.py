"""Standing reports: errors beside the least possible, coverage of intervals, and the time of closing a day.

    python benchmarks/streams.py                        everything
    python benchmarks/streams.py --only errors,closing  … some of it: errors, days, pure, coverage, closing

Errors are roots of mean squared errors of all running totals, over the noise of one release at the same
price (for pure ε, at ε = 1). Coverage is of the drawn noise alone, without data. Times are of the processor.
"""

from __future__ import annotations

import math
import sys
import tempfile
import time
from datetime import date, timedelta
from pathlib import Path

import numpy as np
from scipy.linalg import solve_triangular

import discreet as dp
from discreet.streams.calendar import sums_of
from discreet.workloads.triangular import Triangular

DAY = dp.Date("2000-01-01", "2060-12-31")
START = date(2026, 1, 1)
TOTALS = {"total": 1}
# Days, days of a person, days apart: RMSE of totals as the specification of streams has them.
TABLE = ((365, 7, 7, 11.82), (365, 52, 7, 40.2), (1826, 7, 7, 15.54), (1826, 52, 7, 72.7))
DRAWS = 20_000


def asker(unit: object, spend: dp.ZCDP | dp.PureDP, keys: int = 1, **options: object) -> dp.Curator:
    """Return a curator of a table without rows, with so many public keys."""
    schema = dp.Schema("visits", unit, {"day": DAY, "k": dp.Integer(1, keys + 1)})
    store = dp.Memory({"visits": []})
    return dp.Curator(store, [schema], dp.open_ledger(":memory:", spend), **options)


def plan(periods: int, spend: object = None, caps: dp.Days | None = None, **words: object):
    """Return the plan of a count by day, whose error is in noise of one release."""
    unit = dp.Rows() if caps is None else dp.People("who", max_rows=1)
    price = spend or dp.ZCDP("1/2")
    sql = "SELECT day, COUNT(*) AS n FROM visits GROUP BY day"
    options = {"start": START, "periods": periods, **words}
    return asker(unit, price).plan_stream(sql, price, per_person=caps, **options)


def errors() -> None:
    """Print totals at one day a unit beside the certified bound, and five kinds of sums alike."""
    for periods in (365, 1826):
        found = plan(periods, matters=TOTALS)
        ratio = found.rmse / found.bound.rmse
        print(
            f"totals of {periods} days: RMSE {found.rmse:.4f}, ÷ bound {ratio:.5f} (≤ 1.001)",
            flush=True,
        )
    alike = plan(365)
    kinds = " ".join(f"{kind} {error:.3f}" for kind, error in alike.errors.items())
    print(f"five kinds alike, 365 days: {kinds}", flush=True)


def days() -> None:
    """Print totals where a person counts on several days."""
    for periods, most, apart, wanted in TABLE:
        found = plan(periods, caps=dp.Days(most, apart=apart), matters=TOTALS)
        print(
            f"{periods} days, {most} of a person, {apart} apart: {found.rmse:.2f} "
            f"({found.noise.line.name}; {found.rmse / wanted:.4f} of {wanted})",
            flush=True,
        )


def pure() -> None:
    """Print totals under ε = 1."""
    for periods in (365, 1826):
        found = plan(periods, dp.PureDP(1), matters=TOTALS)
        print(f"ε = 1, totals of {periods} days: {found.rmse:.3f}", flush=True)


def coverage() -> None:
    """Print the share of intervals that hold, over drawn noise of 365 days."""
    noise = plan(365, matters=TOTALS).noise
    if not isinstance(noise.line, Triangular):
        raise TypeError
    factors = np.array([np.pad(noise.line.row(day), (0, 364 - day)) for day in range(365)])
    mechanism, grid = noise.measured.mechanism, noise.measured.grid
    # One draw for each day and repetition; the estimates of days are C⁻¹·z/g.
    drawn = np.asarray(mechanism.release(np.zeros(365 * DRAWS, dtype=np.int64)), dtype=float)
    estimates = solve_triangular(
        factors.astype(float), drawn.reshape(365, DRAWS) / grid, lower=True
    )
    running = np.vstack([np.zeros(DRAWS), np.cumsum(estimates, axis=0)])
    for kind in ("day", "week", "month", "year", "total"):
        sums = sums_of(kind, START, 365)
        starts, ends = [start for start, _ in sums], [end for _, end in sums]
        reach = noise.reaches(starts, ends, 0.05)
        found = np.abs(running[ends] - running[starts]) <= reach[:, None]
        each = found.mean()
        # All sums of a kind at once, by Šidák's inequality.
        joint = noise.reaches(starts, ends, -math.expm1(math.log1p(-0.05) / len(sums)))
        together = (np.abs(running[ends] - running[starts]) <= joint[:, None]).all(axis=0).mean()
        print(f"95 % intervals of each {kind}: {each:.4f}; all at once {together:.4f}", flush=True)


def closing() -> None:
    """Print the time of closing day 200 of a stream of 2,000 keys, and of what its key file costs."""
    with tempfile.TemporaryDirectory() as folder:
        seal = dp.Seal.create(Path(folder) / "k.key")
        curator = asker(dp.Rows(), dp.ZCDP(1), 2000, seal=seal)
        sql = "SELECT day, k, COUNT(*) AS n FROM visits GROUP BY day, k"
        start = date.today() - timedelta(days=200)
        words = {"name": "v", "start": start, "periods": 1826, "matters": TOTALS}
        report = curator.stream(sql, dp.ZCDP("1/2"), late=1, **words)
        began = time.process_time()
        report.close()
        print(f"199 days of 2,000 keys one after another: {time.process_time() - began:.2f} s")


PARTS = {"errors": errors, "days": days, "pure": pure, "coverage": coverage, "closing": closing}


if __name__ == "__main__":
    chosen = sys.argv[2].split(",") if "--only" in sys.argv else list(PARTS)
    for part in chosen:
        PARTS[part]()
