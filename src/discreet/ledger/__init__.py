"""What has been spent, for good: a chain of entries, and the books that it adds up to.

Start at `books`, the whole decision as a frozen value; `store` is what it needs of memory, a file or a server.

>>> import discreet as dp
>>> from discreet.privacy.measures import PureDP
>>> from discreet.privacy.events import LaplaceNoise
>>> with dp.open_ledger(":memory:", PureDP(1), allowances={"ann": PureDP("1/2")}) as ledger:
...     entry = ledger.charge(LaplaceNoise(scale=4, sensitivity=1), who="ann", why="a first look")
...     print(ledger.left("ann"), ledger.left(), sep=", ")
ε = 0.25, ε = 0.75
"""

from __future__ import annotations

from .charter import Charter
from .entry import Entry
from .ledger import Ledger
from .life.imports import import_ledger
from .life.move import move_ledger
from .life.repair import repair_ledger
from .open import open_ledger
from .parts import Parts
from .review.export import verify_export
from .review.history import History
from .review.verdict import Verdict

__all__ = [
    "Charter",
    "Entry",
    "History",
    "Ledger",
    "Parts",
    "Verdict",
    "import_ledger",
    "move_ledger",
    "open_ledger",
    "repair_ledger",
    "verify_export",
]
