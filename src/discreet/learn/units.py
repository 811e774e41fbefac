"""Units of a model's columns: years and euros in place of −1 to 1 between declared bounds."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..arithmetic.arrays import Floats
from ..frozen import frozen
from ..query.domains.domain import Domain, Whole
from .coding.design import ModelDesign
from .coding.feature import Numeric


@frozen(eq=False)
class Units:
    """The middle and half the width of each column's bounds; columns of listed values stay 0, 1."""

    middles: Floats
    halves: Floats

    def slopes(self, weights: Floats) -> Floats:
        """Return the effect of one unit of each column; the last weight is that of the constant."""
        return np.asarray(weights[..., :-1] / self.halves)

    def constants(self, weights: Floats) -> Floats:
        """Return the score of a row of zeros."""
        moved = (self.slopes(weights) * self.middles).sum(axis=-1)
        return np.asarray(weights[..., -1] - moved)

    def values(self, places: Floats) -> Floats:
        """Return points of the model's space in the columns' own units."""
        return np.asarray(self.middles + self.halves * places)


def units_of(design: ModelDesign, domains: Mapping[str, Domain]) -> Units:
    """Return the units of a design's columns, without the constant.

    >>> import discreet as dp
    >>> from discreet.learn.coding.design import design_of
    >>> from discreet.learn.units import units_of
    >>> from discreet.query.domains.domain import domain_of_column
    >>> columns = {"age": dp.Integer(0, 120), "sex": dp.Category(["f", "m"])}
    >>> domains = {name: domain_of_column(column) for name, column in columns.items()}
    >>> units = units_of(design_of(domains), domains)
    >>> units.middles.tolist(), units.halves.tolist()
    ([60.0, 0.0, 0.0, 0.0], [60.0, 1.0, 1.0, 1.0])
    """
    middles: list[float] = []
    halves: list[float] = []
    for feature in design.features:
        if not isinstance(feature, Numeric):
            middles += [0.0] * feature.width
            halves += [1.0] * feature.width
            continue
        domain = domains[feature.name]
        step = domain.step if isinstance(domain, Whole) else 1
        half = float(step * (feature.high - feature.low) / 2)
        middles.append(float(step * (feature.low + feature.high) / 2))
        # Bounds of one value: its slope is 0, and 1 avoids a division by zero.
        halves.append(half or 1.0)
    return Units(np.array(middles), np.array(halves))
