"""A small table with every kind of column, values outside the bounds and NULLs."""

from __future__ import annotations

import datetime as dt

import numpy as np

import discreet as dp

COLUMNS = {
    "age": dp.Integer(0, 99),
    "income": dp.Real(0, 100_000),
    "joined": dp.Date("2020-01-01", "2024-12-31"),
    "seen": dp.Timestamp("2020-01-01T00:00:00", "2024-12-31T23:59:59"),
    "day": dp.Date("2024-01-01", "2024-01-07"),
    "height": dp.Real(0, 3, step="1/7"),
    "sex": dp.Category(["f", "m"], other=True),
    "works": dp.Boolean(null_key=True),
    "grade": dp.Category([1, 2, 3], default=1),
}
SPEND = dp.ApproxDP(1, "1e-6")


def people(n: int = 300, seed: int = 3) -> list[dict[str, object]]:
    rng = np.random.default_rng(seed)
    return [
        {
            "age": None if rng.random() < 0.1 else int(rng.integers(-5, 120)),
            "income": [float("nan"), -5.0, 1e9, float(rng.exponential(30_000))][rng.integers(4)],
            "joined": dt.date(2019, 6, 1) + dt.timedelta(days=int(rng.integers(0, 2500))),
            "seen": dt.datetime(2021, 1, 1) + dt.timedelta(seconds=int(rng.integers(0, 10**8))),
            "day": dt.date(2024, 1, 1) + dt.timedelta(days=int(rng.integers(0, 9))),
            "height": [0.0, 3.0, 1.76, None][rng.integers(4)],
            "sex": [None, "f", "m", "x"][rng.integers(4)],
            "works": [True, False, None][rng.integers(3)],
            "grade": [None, 1, 2, 3, 9][rng.integers(5)],
            "id": int(rng.integers(0, 60)),
        }
        for _ in range(n)
    ]
