"""Influence of one privacy unit on a weighted sum (contribution bounding).

A row counts as often as joins multiply it; the rows of a person share a bounded weight. Replacing a
unit removes one and adds another.
"""

from __future__ import annotations

from ...frozen import frozen
from ...privacy.measures import ADD_REMOVE, Neighbours


@frozen
class Influence:
    """Bound on one unit: its rows weigh at most `weight` together, in units of `CodedRows.weights`.

    `unit` is the weight of one row that counts in full.

    Law: tests/learn/test_curator_learn.py::TestPeople
    """

    weight: int = 1
    unit: int = 1
    neighbours: Neighbours = ADD_REMOVE

    def squared(self, row: int) -> int:
        """Bound the squared change of Σ w·v over rows with ‖v‖² of at most `row`.

        Add/remove: the unit's weights sum to at most w, so the sum has norm ≤ w·‖v‖ (triangle).
        Replace: the difference of two such sums has at most twice the norm.
        """
        change = self.weight**2 * row
        if self.neighbours == ADD_REMOVE:
            return change
        return 4 * change

    def squared_psd(self, trace: int) -> int:
        """Bound the squared Frobenius change of Σ w·zzᵀ over rows with ‖z‖² at most `trace`.

        Add/remove: ‖Σ w zzᵀ‖ ≤ w·‖z‖². Replace: for two such matrices A, B ≥ 0 the inner product
        tr(AB) is not negative, so that ‖A − B‖² ≤ ‖A‖² + ‖B‖²: a factor √2, not 2.
        """
        change = (self.weight * trace) ** 2
        if self.neighbours == ADD_REMOVE:
            return change
        # A person's weighted entries are rounded one by one, after which A need not be ≥ 0.
        # Only the triangle inequality is left then: a factor 2.
        is_psd = self.unit == 1
        return (2 if is_psd else 4) * change
