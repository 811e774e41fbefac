"""Data sets of benchmarks/learn.py with public bounds: those of the code books, rounded outwards, never of a split."""

from __future__ import annotations

import csv
import gzip
import json
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

    def split(self, seed: int) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """Return four fifths to learn from and one to try it on."""
        count = len(self.columns[self.target])
        order = np.random.default_rng(seed).permutation(count)
        cut = count * 4 // 5
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
