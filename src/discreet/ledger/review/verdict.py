"""Verdict of a ledger's verification: counts, budget and checkpoint, shown as text and HTML."""

from __future__ import annotations

from typing import TypeAlias

from ...frozen import frozen
from ...privacy.measures import Measure
from ...show.bar import fraction_bar
from ...show.table import html_pairs, text_table

Checkpoint: TypeAlias = tuple[int, str]
"""Number and hash of an entry; kept elsewhere, it tells whether a ledger still contains it."""


@frozen
class Verdict:
    """Result of a verification of a chain that holds.

    | field | meaning |
    |---|---|
    | `entries`, `charges`, `answers`, `pending` | how many; pending: without an end, but for streams |
    | `promise`, `spent`, `share` | the budget; how much of it is spent, and that as a fraction |
    | `exact` | whether this release prices every charge exactly as the books have it |
    | `checkpoint` | number and hash of the last entry |

    Without `exact` this release prices some charge lower, or in the last digits (a billionth)
    higher. The books then stay as they are.
    """

    entries: int
    charges: int
    answers: int
    pending: int
    promise: Measure
    spent: Measure
    share: float
    exact: bool
    checkpoint: Checkpoint

    def __str__(self) -> str:
        return text_table(self._rows())

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return html_pairs(self._rows(), caption="the chain holds")

    def _rows(self) -> list[tuple[str, str]]:
        number, entry_hash = self.checkpoint
        counts = f"{self.charges} charges, {self.answers} answers, {self.pending} pending"
        priced = "as in the books" if self.exact else "no higher than in the books"
        return [
            ("verdict", "the chain holds, every charge fits its budget"),
            ("entries", f"{self.entries}: {counts}"),
            ("promise", str(self.promise)),
            ("spent", f"{self.spent}  {fraction_bar(self.share)}"),
            ("re-priced", priced),
            ("checkpoint", f"{number} {entry_hash}"),
        ]
