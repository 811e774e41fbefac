"""Base of models that see every number by its public bin: additive models and naive Bayes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

from ...query.domains.domain import Domain
from ...workloads.public_bins import BINS
from ..coding.design import ModelDesign, design_of


@dataclass(eq=False, repr=False)
class BinnedModel:
    """Mixin of models over bins: numbers are cut at public edges.

    The edges are those of `edges` where a column has some, else those of `bins` equal bins and of
    bins that double in width. A row lies in one bin of each column, so that all rows have one
    norm and none is clipped.
    Refuses: edges of columns that are not numbers or times, by `InvalidArgument`.
    """

    _: KW_ONLY
    bins: int = BINS
    edges: Mapping[str, Sequence[float]] | None = None

    def design(self: Any, domains: Mapping[str, Domain]) -> ModelDesign:
        """Return the design: one column for each bin and for each listed value."""
        columns = self.columns(domains)
        return design_of(columns, binned=True, bins=self.bins, edges=self.edges)
