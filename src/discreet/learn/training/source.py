"""Sources of exact sums for training: arrays in memory here, a relation of a store in `store`.

A source returns coded rows, second moments, or sums by class, all exact. What it returns is
private.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np

from ...frozen import frozen
from ..coding.column_cells import Cells
from ..coding.design import ModelDesign
from ..coding.feature import UNIT
from ..coding.label import Amount, Classes, Label
from ..coding.rows import CodedRows, Exact, Whole64, narrow
from .gram import ExactMoments


class Source(Protocol):
    """Table that answers exact sums. They are private: they are shown only with noise added."""

    def rows(self, design: ModelDesign, label: Label | None) -> tuple[CodedRows, Whole64]:
        """Return the coded rows and their coded labels; rows without a label are left out."""
        ...

    def moments(self, design: ModelDesign, label: Label | None, unit: int) -> ExactMoments:
        """Return Σ x xᵀ, Σ x yᵀ and Σ y², where a label of 1 is `unit`."""
        ...

    def sums(self, design: ModelDesign, label: Classes, *, squares: bool) -> Exact:
        """Return Σ x for each class, with `squares` also Σ ⌊u²/UNIT⌋ of each number u."""
        ...


def sums_by_class(rows: CodedRows, found: Whole64, classes: int, *, squares: bool) -> Exact:
    """Return Σ x over the rows of each class; with `squares` also Σ ⌊u²/UNIT⌋ of each number u.

    `found` has the index of each row's class.
    """
    members = [(found == index).astype(np.int64) for index in range(classes)]
    sums: Exact = narrow(np.array([rows.push(member) for member in members], dtype=object))
    if not squares:
        return sums
    # Rounded down row by row, before the sum, so that one row never moves another.
    second = (rows.numbers**2 // UNIT).astype(np.int64)
    square_sums = [rows.add_up(member[:, None] * second) for member in members]
    return narrow(np.column_stack([sums.astype(object), np.array(square_sums, dtype=object)]))


@frozen(eq=False)
class Arrays:
    """Columns in memory."""

    columns: Mapping[str, Cells]
    weights: Whole64 | None = None

    def rows(self, design: ModelDesign, label: Label | None) -> tuple[CodedRows, Whole64]:
        """Return the coded rows and labels."""
        coded = design.code(self.columns, self.weights)
        if label is None:
            return coded, np.zeros(len(coded), dtype=np.int64)
        found = label.code(self.columns[label.name])
        # A missing class is coded as −1, a missing amount below −UNIT.
        least = 0 if isinstance(label, Classes) else -UNIT
        present = found >= least
        if present.all():
            return coded, found
        numbers = coded.numbers[present]
        codes = coded.codes[present]
        weights = coded.weights[present]
        return CodedRows(numbers, codes, weights, coded.width), found[present]

    def moments(self, design: ModelDesign, label: Label | None, unit: int) -> ExactMoments:
        """Return the exact second moments."""
        rows, found = self.rows(design, label)
        return rows.gram(label_matrix(label, found, unit))

    def sums(self, design: ModelDesign, label: Classes, *, squares: bool) -> Exact:
        """Return the exact sums of each class."""
        rows, found = self.rows(design, label)
        return sums_by_class(rows, found, len(label.values), squares=squares)


def label_matrix(label: Label | None, found: Whole64, unit: int) -> Whole64:
    """Return labels as integer columns; `unit`, a multiple of UNIT, is a label of 1.

    | label           | columns                               |
    |-----------------|---------------------------------------|
    | None            | none                                  |
    | amount          | one, in −unit..unit                   |
    | two classes     | one, −unit or unit                    |
    | several classes | one for each class, one of them unit  |
    """
    match label:
        case None:
            return np.empty((len(found), 0), dtype=np.int64)
        case Amount():
            return (found * (unit // UNIT))[:, None]
        case Classes(values=values) if len(values) == 2:
            signs = 2 * found - 1
            return (signs * unit)[:, None]
        case _:
            one_hot = np.eye(len(label.values), dtype=np.int64)
            return unit * one_hot[found]
