"""Where the sums come from: arrays in memory here, a store in `store`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np

from ...frozen import frozen
from ..coding.column_cells import Cells
from ..coding.design import ModelDesign
from ..coding.feature import UNIT
from ..coding.label import Amount, Classes, Label
from ..coding.rows import CodedRows, Whole64
from .gram import ExactMoments


class Source(Protocol):
    """A table whose exact sums may be asked for."""

    def rows(self, design: ModelDesign, label: Label | None) -> tuple[CodedRows, Whole64]:
        """Return the rows as a model sees them, and what the label codes each as; rows without a label are left out."""
        ...

    def moments(self, design: ModelDesign, label: Label | None, unit: int) -> ExactMoments:
        """Return Σ x xᵀ, Σ x yᵀ and Σ y², where a label of 1 is `unit`."""
        ...

    def sums(self, design: ModelDesign, label: Classes, *, squares: bool) -> Whole64:
        """Return Σ x for each class, and beside it Σ ⌊u²/UNIT⌋ of each number u if wanted."""
        ...


def sums_by_class(rows: CodedRows, found: Whole64, classes: int, *, squares: bool) -> Whole64:
    """Return Σ x over the rows of each class, and Σ ⌊u²/UNIT⌋ of its numbers."""
    each = [np.where(found == place, rows.weights, 0) for place in range(classes)]
    sums = np.stack([rows.push(weights) for weights in each])
    if not squares:
        return sums
    second = (rows.numbers**2 // UNIT).astype(np.int64)
    return np.column_stack([sums, np.stack([weights @ second for weights in each])])


@frozen(eq=False)
class Arrays:
    """Columns in memory."""

    columns: Mapping[str, Cells]
    weights: Whole64 | None = None

    def rows(self, design: ModelDesign, label: Label | None) -> tuple[CodedRows, Whole64]:
        """Return the rows as a model sees them."""
        coded = design.code(self.columns, self.weights)
        if label is None:
            return coded, np.zeros(len(coded), dtype=np.int64)
        found = label.code(self.columns[label.name])
        there = found >= (0 if isinstance(label, Classes) else -UNIT)
        if there.all():
            return coded, found
        kept = CodedRows(
            coded.numbers[there], coded.codes[there], coded.weights[there], coded.width
        )
        return kept, found[there]

    def moments(self, design: ModelDesign, label: Label | None, unit: int) -> ExactMoments:
        """Return the exact second moments."""
        rows, found = self.rows(design, label)
        return rows.gram(label_matrix(label, found, unit))

    def sums(self, design: ModelDesign, label: Classes, *, squares: bool) -> Whole64:
        """Return the exact sums of each class."""
        rows, found = self.rows(design, label)
        return sums_by_class(rows, found, len(label.values), squares=squares)


def label_matrix(label: Label | None, found: Whole64, unit: int) -> Whole64:
    """Return labels as whole numbers, a column each: ±unit for two classes, unit in one place of several, an amount.

    `unit` is a multiple of UNIT.
    """
    match label:
        case None:
            return np.empty((len(found), 0), dtype=np.int64)
        case Amount():
            return (found * (unit // UNIT))[:, None]
        case Classes(values=values) if len(values) == 2:
            return ((2 * found - 1) * unit)[:, None]
        case _:
            return unit * np.eye(len(label.values), dtype=np.int64)[found]
