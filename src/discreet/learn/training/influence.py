"""How often one unit counts: rows count once, a person's rows share a bounded weight; exchanging two counts twice."""

from __future__ import annotations

from ...frozen import frozen
from ...privacy.neighbours import ADD_REMOVE, Neighbours


@frozen
class Influence:
    """The total weight of one unit's rows is at most `weight`, in the whole numbers of `CodedRows.weights`.

    `unit` is the weight of one row that counts in full.
    """

    weight: int = 1
    unit: int = 1
    neighbours: Neighbours = ADD_REMOVE

    def squared(self, row: int) -> int:
        """Bound the squared change of Σ w·v over rows whose vectors v have squared norms of at most `row`.

        Add/remove: the unit's vectors have weights that sum to at most w, so their sum has norm ≤ w·‖v‖ (triangle).
        Replace: two units' sums, so at most twice that.
        """
        return self.weight**2 * row * (1 if self.neighbours == ADD_REMOVE else 4)

    def squared_psd(self, trace: int) -> int:
        """Bound the squared Frobenius change of Σ w·zzᵀ over rows with ‖z‖² at most `trace`.

        Add/remove: ‖Σ w zzᵀ‖ ≤ w·‖z‖². Replace: for two such matrices A, B ≥ 0 the inner product tr(AB) is not
        negative, so ‖A − B‖² ≤ ‖A‖² + ‖B‖²: a factor √2, not 2. (Shares of a person's rows are rounded entry by entry,
        after which A need not be ≥ 0: there it is 2.)
        """
        exchanged = 2 if self.unit == 1 else 4
        return (self.weight * trace) ** 2 * (1 if self.neighbours == ADD_REMOVE else exchanged)
