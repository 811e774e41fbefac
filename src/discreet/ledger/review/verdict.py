"""What a verification found, as it shows itself."""

from __future__ import annotations

from typing import TypeAlias

from ...frozen import frozen
from ...privacy.measures import Measure
from ...show.bar import share_bar
from ...show.table import html_pairs, text_table

Checkpoint: TypeAlias = tuple[int, str]
"""The number of an entry and its hash: who keeps it can tell later whether the ledger still contains it."""


@frozen
class Verdict:
    """A chain that holds: how long it is, what it adds up to, and where it ends.

    `exact` says that this release prices every charge to the digit as the books have it; if not, it prices them lower,
    or differs in the last digits of a number, and the books keep the larger amount.
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
        number, mark = self.checkpoint
        priced = "as in the books" if self.exact else "no higher than in the books"
        return [
            ("verdict", "the chain holds, every charge fits its budget"),
            (
                "entries",
                f"{self.entries}: {self.charges} charges, {self.answers} answers, {self.pending} pending",
            ),
            ("promise", str(self.promise)),
            ("spent", f"{self.spent}  {share_bar(self.share)}"),
            ("re-priced", priced),
            ("checkpoint", f"{number} {mark}"),
        ]
