"""Label of a model: one of several classes, or an amount between public bounds.

A label is what a model predicts. Its classes or bounds come from the schema. Rows without a
readable label are not trained on.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TypeAlias

import numpy as np

from ...arithmetic.arrays import Floats
from ...errors import InvalidArgument
from ...frozen import frozen
from ...query.domains.domain import Day, Domain, Scalar, Second, Texts, Whole
from .column_cells import Cells, Listed, Steps
from .feature import UNIT, Numeric, OneHot
from .rows import Whole64


@frozen
class Classes:
    """One of a public list of values; rows with another value, or NULL, are not trained on."""

    name: str
    values: tuple[Scalar, ...]

    def code(self, cells: Cells) -> Whole64:
        """Return the index of each row's class; −1 for a row without one."""
        listed = cells
        if isinstance(cells, Steps):
            # Listed numbers may come as steps.
            pairs = zip(cells.steps.tolist(), cells.missing.tolist(), strict=True)
            listed = Listed([None if missing else step for step, missing in pairs])
        found = OneHot(self.name, self.values).code(listed)  # type: ignore[arg-type]
        return np.where(found == len(self.values), -1, found)


@frozen
class Amount:
    """A number between public bounds, in integer steps; rows with NULL are not trained on."""

    name: str
    low: int
    high: int
    step: Fraction

    def code(self, cells: Cells) -> Whole64:
        """Return each row's amount in −UNIT..UNIT; −UNIT − 1 for a row without one.

        Refuses: a column that is not a number, by `InvalidArgument`.
        """
        if not isinstance(cells, Steps):
            raise InvalidArgument(
                f"{self.name} is not a number; a regression predicts a number between public bounds"
            )
        coded = Numeric(self.name, self.low, self.high).code(cells)
        return np.where(cells.missing, -UNIT - 1, coded)

    @property
    def middle(self) -> float:
        """The middle of the bounds: a model's 0."""
        return float(self.step * (self.low + self.high) / 2)

    @property
    def half(self) -> float:
        """Half the width of the bounds: a model's 1."""
        return float(self.step * (self.high - self.low) / 2)

    def values(self, scores: Floats) -> Floats:
        """Return amounts from a model's scores, clipped to the bounds."""
        return self.middle + self.half * np.clip(scores, -1.0, 1.0)


Label: TypeAlias = Classes | Amount


def classes_of(name: str, domain: Domain) -> Classes:
    """Return the classes of a target from its public domain.

    Refuses: a target whose values are not listed, and one of a single class.
    """
    keys = getattr(domain, "keys", None)
    if keys is None:
        kind = "free text" if isinstance(domain, Texts) else "a number"
        raise InvalidArgument(
            f"{name} is {kind}, whose classes are not public; "
            "declare Category([...]) or Boolean(), never from data"
        )
    values = tuple(value for value in keys if value is not None)
    if len(values) < 2:
        raise InvalidArgument(f"{name} has one class only; a classifier needs at least two")
    return Classes(name, values)


def amount_of(name: str, domain: Domain) -> Amount:
    """Return the amount that a target declares.

    Refuses: a target that is not a number between public bounds.
    """
    if isinstance(domain, Day | Second):
        return Amount(name, domain.low, domain.high, Fraction(1))
    if not isinstance(domain, Whole) or domain.high <= domain.low:
        raise InvalidArgument(
            f"{name} is no number between bounds; declare Integer(low, high) or Real(low, high)"
        )
    return Amount(name, domain.low, domain.high, domain.step)
