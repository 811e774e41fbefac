"""Draw docs/pictures/plot_*.svg: an answer along days, by groups, and by two keys; answers about made-up visits."""

from __future__ import annotations

import datetime as dt
import random
from pathlib import Path

import matplotlib as mpl

import discreet as dp

mpl.use("Agg")
mpl.rcParams["svg.hashsalt"] = "discreet"
FIRST = dt.date(2023, 1, 1)
VISITS = dp.Schema(
    "visits",
    dp.Rows(),
    {
        "day": dp.Date("2023-01-01", "2024-12-30"),
        "sex": dp.Category(["f", "m"]),
        "ward": dp.Category(["east", "north", "south", "west"]),
        "age": dp.Integer(0, 100),
    },
)
PICTURES = {
    "line": "SELECT day, COUNT(*) AS visits FROM visits GROUP BY day",
    "bars": "SELECT ward, COUNT(*) AS visits FROM visits GROUP BY ward",
    "parts": "SELECT sex, age, COUNT(*) AS visits FROM visits GROUP BY sex, age",
}


def row(chance: random.Random) -> dict[str, object]:
    """Make up a visit."""
    days = int(chance.triangular(0, 729, 500))
    return {
        "day": FIRST + dt.timedelta(days=days),
        "sex": chance.choice("fm"),
        "ward": chance.choices(["east", "north", "south", "west"], [4, 9, 2, 1])[0],
        "age": int(chance.triangular(0, 100, 40)),
    }


chance = random.Random(7)
store = dp.Memory({"visits": [row(chance) for _ in range(9_000)]})
curator = dp.Curator(store, [VISITS], dp.open_ledger(":memory:", dp.PureDP(3)))
for name, sql in PICTURES.items():
    figure = curator.sql(sql, spend="1/5" if name != "bars" else "1/50").plot().get_figure()
    figure.savefig(Path(__file__).parent / f"plot_{name}.svg", metadata={"Date": None})
