"""Ledger: a durable hash chain of charges, and the books (accounts) that it adds up to.

Start at `books`, the whole decision as a frozen value. `stores.store` is the protocol that memory,
a file and a server implement.

>>> import discreet as dp
>>> from discreet.privacy.measures import PureDP
>>> from discreet.privacy.events import LaplaceNoise
>>> with dp.open_ledger(":memory:", PureDP(1), allowances={"ann": PureDP("1/2")}) as ledger:
...     entry = ledger.charge(LaplaceNoise(scale=4, sensitivity=1), who="ann", why="a first look")
...     print(ledger.left("ann"), ledger.left(), sep=", ")
ε = 0.25, ε = 0.75
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy import lazy_names

if TYPE_CHECKING:
    from .entry import Entry as Entry
    from .ledger import Ledger as Ledger
    from .life.move import import_ledger as import_ledger
    from .life.move import move_ledger as move_ledger
    from .life.repair import repair_ledger as repair_ledger
    from .open import open_ledger as open_ledger
    from .parts import Parts as Parts
    from .review.export import verify_export as verify_export
    from .review.history import History as History
    from .review.verdict import Verdict as Verdict
    from .terms import Charter as Charter

if not TYPE_CHECKING:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "terms": "Charter",
            "entry": "Entry",
            "ledger": "Ledger",
            "life.move": "import_ledger move_ledger",
            "life.repair": "repair_ledger",
            "open": "open_ledger",
            "parts": "Parts",
            "review.export": "verify_export",
            "review.history": "History",
            "review.verdict": "Verdict",
        },
    )
