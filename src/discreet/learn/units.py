"""A model's columns in the user's units: years and euros instead of −1 to 1 between the declared bounds."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..frozen import frozen
from ..query.domains.domain import Domain, Whole
from .coding.design import ModelDesign
from .coding.feature import Numeric
from .task import Floats


@frozen(eq=False)
class Units:
    """The middle and half the width of each column's bounds; a column of a listed value stays 0 or 1."""

    middles: Floats
    halves: Floats

    def slopes(self, weights: Floats) -> Floats:
        """Return what one unit of each column adds, for weights of a model's columns with the constant last."""
        return np.asarray(weights[..., :-1] / self.halves)

    def constants(self, weights: Floats) -> Floats:
        """Return what is said of a row of zeros."""
        return np.asarray(weights[..., -1] - (self.slopes(weights) * self.middles).sum(axis=-1))

    def values(self, places: Floats) -> Floats:
        """Return places in the model's space in the columns' own units."""
        return np.asarray(self.middles + self.halves * places)


def units_of(design: ModelDesign, domains: Mapping[str, Domain]) -> Units:
    """Return the units of a design's columns, the constant left out.

    >>> import discreet as dp
    >>> from discreet.learn.coding.design import design_of
    >>> from discreet.learn.units import units_of
    >>> from discreet.query.domains.domain import domain_of_column
    >>> domains = {"age": domain_of_column(dp.Integer(0, 120)), "sex": domain_of_column(dp.Category(["f", "m"]))}
    >>> units = units_of(design_of(domains), domains)
    >>> units.middles.tolist(), units.halves.tolist()
    ([60.0, 0.0, 0.0, 0.0], [60.0, 1.0, 1.0, 1.0])
    """
    found: list[tuple[float, float]] = []
    for feature in design.features:
        if isinstance(feature, Numeric):
            domain = domains[feature.name]
            step = domain.step if isinstance(domain, Whole) else 1
            half = step * (feature.high - feature.low) / 2
            found.append((float(step * (feature.low + feature.high) / 2), float(half) or 1.0))
        else:
            found += [(0.0, 1.0)] * feature.width
    middles, halves = np.array(found, dtype=np.float64).reshape(-1, 2).T
    return Units(middles, halves)
