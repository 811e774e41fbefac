"""A small world: people who visit, what is asked about them, and the exact answers by another road."""

import numpy as np

from discreet.data import Category, Date, Integer, People, Real, Rows, Schema, Text
from discreet.query.algebra.expression import Field
from discreet.query.algebra.tree import Finish, Key, Question, Scan
from oracles.tally import Store

REGIONS = ("N", "S", "E")
COLUMNS = {
    "x": Integer(-20, 100),
    "y": Real(0, 50, step="1/4"),
    "region": Category(REGIONS),
    "town": Text(20),
    "day": Date("2024-01-01", "2024-12-31"),
}
UNITS = {
    "rows": Rows(),
    "people": People("id", max_rows=3),
    "groups": People("id", max_rows=4, max_groups=2),
}


def relation(unit="rows", neighbours="add-remove", columns=None):
    return Scan(Schema("visits", UNITS[unit], columns or COLUMNS, neighbours=neighbours))


def question(rows, statistics, keys=(), **finish):
    """Ask for statistics by name, grouped by (name, values) pairs."""
    names = [name for name, _ in keys] + list(statistics)
    shown = tuple((name, Field(name)) for name in names)
    return Question(
        rows,
        tuple(Key(name, Field(name), values) for name, values in keys),
        tuple(statistics.items()),
        Finish(**{"columns": shown, **finish}),
    )


def visits(people=300, most=3, seed=7):
    """Draw rows with a fixed seed: some NULLs, correlated numbers, an empty region."""
    random = np.random.default_rng(seed)
    rows = []
    for person in range(people):
        for _ in range(int(random.integers(1, most + 1))):
            x = int(random.integers(0, 60))
            rows.append({
                "id": person,
                "x": None if random.random() < 0.1 else x,
                "y": int(min(200, 2 * x + random.integers(0, 80))) / 4,
                "region": "N" if random.random() < 0.7 else "S",
                "town": ["Oslo", "Rome", "Riga"][int(random.integers(0, 3))],
                "day": f"2024-{int(random.integers(1, 13)):02d}-{int(random.integers(1, 29)):02d}",
            })  # fmt: skip
    return rows


class Kept:
    """A store that works out each tally once, so that one question can be asked a thousand times."""

    def __init__(self, store):
        self.store, self.known = store, {}

    def tally(self, tally):
        if tally not in self.known:
            self.known[tally] = self.store.tally(tally)
        return self.known[tally]


class Remembered(Kept):
    """A store of visits that works out each tally once."""

    def __init__(self, rows):
        super().__init__(Store({"visits": rows}))
