"""Ledger: a durable hash chain of privacy charges, and the books (accounts) that it adds up to.

A charge is the event of a question, entered before the question runs. Start at `books`: frozen
values that decide whether a charge is granted. `stores.store` is the protocol of the stores in
memory, in a SQLite file and in PostgreSQL.

>>> import discreet as dp
>>> from discreet.privacy.measures import PureDP
>>> from discreet.privacy.events import LaplaceNoise
>>> with dp.open_ledger(":memory:", PureDP(1), allowances={"ann": PureDP("1/2")}) as ledger:
...     entry = ledger.charge(LaplaceNoise(scale=4, sensitivity=1), who="ann", why="a first look")
...     print(ledger.left("ann"), ledger.left(), sep=", ")
ε = 0.25, ε = 0.75
"""

from ..lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
