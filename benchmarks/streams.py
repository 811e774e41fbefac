"""Standing reports: errors beside the least possible and beside other libraries, coverage, and the time of closing.

    python benchmarks/streams.py                        everything
    python benchmarks/streams.py --only errors,closing  … some of it: errors, days, pure, coverage, blocks, closing
    python benchmarks/streams.py --peers .venv-bench    … and jax-privacy, dp_accounting's and OpenDP's trees, in
                                                        `.venv-bench-streams`, where it is there

A line ends with what is asked and what was measured, and says "missed" where one does not meet the other.
Errors are roots of mean squared errors of all running totals, over the noise of one release at the same
price (for pure ε, at ε = 1). Coverage is of the drawn noise alone, without data. Times are of the processor.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
import time
from datetime import date, timedelta
from pathlib import Path

import numpy as np
from scipy.linalg import solve_triangular

import discreet as dp
from discreet.streams import calendar
from discreet.streams.calendar import sums_of
from discreet.workloads.triangular import Triangular

DAY = dp.Date("2000-01-01", "2060-12-31")
START = date(2026, 1, 1)
TOTALS = {"total": 1}
# Days, days of a person, days apart: RMSE of totals as the specification of streams has them.
TABLE = (
    *((365, 7, 1, 14.84), (365, 7, 7, 11.82), (365, 52, 1, 75.6), (365, 52, 7, 40.2)),
    *((1826, 7, 1, 18.44), (1826, 7, 7, 15.54), (1826, 52, 1, 103.5), (1826, 52, 7, 72.7)),
)
ALIKE = {
    365: ("1.76", "1.86", "1.87", "2.07", "2.93"),
    1826: ("1.65", "2.37", "2.89", "3.74", "3.52"),
}
PURE = {365: 7.94, 1826: 10.74}
DRAWS = 20_000
# Of 20,000 draws a share of .95 has a standard deviation of .0015.
SPREAD = 3 * math.sqrt(0.95 * 0.05 / DRAWS)


def told(what: str, asked: str, measured: str, met: bool) -> None:
    """Print one line of the table."""
    verdict = "" if met else "   missed"
    print(f"{what}: asked {asked}, measured {measured}{verdict}", flush=True)


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
        told(
            f"totals of {periods} days, RMSE {found.rmse:.4f} ÷ bound {found.bound.rmse:.4f}",
            "≤ 1.001",
            f"{ratio:.5f}",
            ratio <= 1.001,
        )
    for periods, wanted in ALIKE.items():
        errors_of = plan(periods).errors
        measured = [errors_of[kind] for kind in calendar.ALIKE]
        near = [found <= 1.01 * float(asked) for found, asked in zip(measured, wanted, strict=True)]
        told(
            f"day, week, month, year, total alike, {periods} days",
            " ".join(wanted),
            " ".join(f"{each:.3f}" for each in measured),
            all(near),
        )


def days() -> None:
    """Print totals where a person counts on several days."""
    for periods, most, apart, wanted in TABLE:
        found = plan(periods, caps=dp.Days(most, apart=apart), matters=TOTALS)
        told(
            f"{periods} days, {most} of a person, {apart} apart ({found.noise.line.name})",
            f"{wanted} within 1 %",
            f"{found.rmse:.2f}",
            found.rmse <= 1.01 * wanted,
        )
        others = ", ".join(f"{name} {error:.4g}" for name, error in found.tried)
        print(f"    compared: {others}", flush=True)


def pure() -> None:
    """Print totals under ε = 1."""
    for periods, wanted in PURE.items():
        found = plan(periods, dp.PureDP(1), matters=TOTALS)
        told(
            f"ε = 1, totals of {periods} days",
            f"{wanted} within 1 %",
            f"{found.rmse:.3f}",
            found.rmse <= 1.01 * wanted,
        )


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
        told(
            f"95 % intervals of each {kind}, {DRAWS:,} draws",
            ".945 to .955",
            f"{each:.4f}",
            abs(each - 0.95) <= 0.005,
        )
        told(
            f"95 % intervals of all sums by {kind} at once",
            "≥ .95 (± 3 standard errors of the draws)",
            f"{together:.4f}",
            together >= 0.95 - SPREAD,
        )


def blocks() -> None:
    """Print how many of five years' reports a lifetime promise answers: each person in at most 26 weeks."""
    # In the place of this folder, whose ledger.py has the name of a folder of tests.
    sys.path[0] = str(Path(__file__).parents[1] / "tests")
    from ledger.test_block_sums import answered, reports

    for months, name in ((False, "four-weekly"), (True, "calendar")):
        weeks = dp.Blocks("visits", "day", "week", stays=26)
        ledger = dp.open_ledger(":memory:", dp.ZCDP("1/2"), blocks=weeks)
        asked = reports(months)
        found = answered(ledger, asked)
        told(
            f"five years of reports, {name} months, each person in 26 weeks",
            f"{len(asked)} of {len(asked)}",
            f"{found} of {len(asked)}",
            found == len(asked),
        )


def closing() -> None:
    """Print the time of closing the last days of a stream of 1,826 days and 2,000 keys, beside the store."""
    for spend, form in ((dp.ZCDP("1/2"), "Gaussian"), (dp.PureDP("1/2"), "pure ε")):
        with tempfile.TemporaryDirectory() as folder:
            seal = dp.Seal.create(Path(folder) / "k.key")
            curator = asker(dp.Rows(), spend, 2000, seal=seal)
            sql = "SELECT day, k, COUNT(*) AS n FROM visits GROUP BY day, k"
            start = date.today() - timedelta(days=1826)
            words = {"name": "v", "start": start, "periods": 1826, "matters": TOTALS}
            report = curator.stream(sql, spend, **words)
            report.close(1800)
            began = time.process_time()
            report.close()
            each = (time.process_time() - began) / 26 * 1000
            began = time.process_time()
            curator.context.engine.tally(report.plan.question.on(start))
            store = (time.process_time() - began) * 1000
            told(
                f"closing one of the last 26 of 1,826 days, 2,000 keys, {form}, beside the store's "
                f"{store:.1f} ms",
                "≤ 50 ms",
                f"{each - store:.1f} ms",
                each - store <= 50,
            )


def peers(python: Path) -> None:
    """Print running totals of the libraries that another interpreter has."""
    script = Path(__file__).with_name("stream_peers.py")
    command = [str(python), str(script), "365", "1826"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    for line in found.stdout.splitlines():
        told = json.loads(line)
        print(f"{told['library']}: {told['what']}: {told['rmse']:.3f} ({told['seconds']} s)")
    if found.returncode:
        print(f"the peers ended early: {found.stderr.strip().splitlines()[-1]}")


PARTS = {
    "errors": errors,
    "days": days,
    "pure": pure,
    "coverage": coverage,
    "blocks": blocks,
    "closing": closing,
}


if __name__ == "__main__":
    options = argparse.ArgumentParser()
    options.add_argument("--only", default=",".join(PARTS))
    options.add_argument("--peers", help="the beginning of the names of environments")
    chosen = options.parse_args()
    for part in filter(None, chosen.only.split(",")):
        PARTS[part]()
    if chosen.peers:
        interpreter = Path(f"{chosen.peers}-streams/bin/python")
        if interpreter.exists():
            peers(interpreter)
        else:
            print(f"no peers: {interpreter} is not there")
