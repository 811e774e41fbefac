"""Time to answer from stored tables, and to open their ledger, with few and many of them: `reuse_speed.py [tables]`.

All tables are of one asker, in a SQLite file; each has 50 cells. Every question is asked of a new curator, so that its
text is parsed and its way is looked for. `charged` is a new count on 1,000 rows, for comparison.
"""

from __future__ import annotations

import hashlib
import statistics
import sys
import tempfile
from collections.abc import Callable
from itertools import count
from pathlib import Path
from time import perf_counter, process_time

import discreet as dp
from discreet.ledger.charge_order import ChargeOrder

COLUMNS: dict[str, dp.Column] = {
    "region": dp.Category(list("NSEWM"), default="N"),
    "month": dp.Category(list(range(1, 11)), default=1),
    "kind": dp.Category(["a", "b"], default="a"),
    "age": dp.Integer(0, 99),
}
SCHEMA = dp.Schema("shops", dp.Rows(), COLUMNS)
ROWS = [
    {"region": "NSEWM"[n % 5], "month": 1 + n % 10, "kind": "ab"[n % 2], "age": n % 100}
    for n in range(1_000)
]
WIDE = "SELECT region, month, COUNT(*) AS n FROM shops GROUP BY region, month"
FREE = {
    "again": WIDE,
    "view": f"SELECT region, month, n * 2 AS d FROM ({WIDE}) AS t WHERE n > 9 ORDER BY d LIMIT 3",
    "sibling": "SELECT month, COUNT(*) AS n FROM shops WHERE kind = 'b' GROUP BY month",
    "roll-up": "SELECT region, COUNT(*) AS n FROM shops GROUP BY region",
    "contrast": "SELECT COUNT(*) AS n FROM shops WHERE age < 18",
}
PAID = [
    ("SELECT COUNT(*) AS n FROM shops", dp.ZCDP("1/1000")),
    (FREE["contrast"], dp.ZCDP("1/1000")),
    (FREE["sibling"].replace("'b'", "'a'"), dp.ZCDP("1/1000")),
    (WIDE, dp.ZCDP("1/10")),
]
OTHER = "SELECT COUNT(*) AS n FROM shops WHERE month = 3 AND age > {}"
SPEND = dp.ZCDP("1/1000")
TIMES = 15


def fill(ledger: dp.Ledger, tables: int) -> None:
    """Store copies of the wide table under the keys of other questions."""
    # The wide table has the most cells, so its text is the longest.
    body = max((_body(ledger, key) for key in ledger.keys(["2:"])), key=len)
    event = dp.Gaussian(scale=10**6, sensitivity=1).event
    for number in range(tables):
        name = hashlib.sha256(str(number).encode()).hexdigest()
        order = ChargeOrder("ana", "", name, f"2:m2:{name}:{name}", event, text="", apart=True)
        ledger.finish(ledger.settle(order).charge, body)


def _body(ledger: dp.Ledger, key: str) -> str:
    found = ledger.answer(key)
    return "" if found is None else found[1]


def milliseconds(work: Callable[[], object], times: int = TIMES) -> str:
    """Return the median milliseconds of some calls, and the most: of processor time, then by the clock."""
    taken: list[tuple[float, float]] = []
    for _ in range(times):
        start = process_time(), perf_counter()
        work()
        taken.append((1_000 * (process_time() - start[0]), 1_000 * (perf_counter() - start[1])))
    columns = []
    for own in zip(*taken, strict=True):
        columns.append(f"{statistics.median(own):>8.1f} {max(own):>8.1f}")
    return "  ".join(columns)


def main(tables: int = 10_000) -> None:
    """Print a line for each way of answering, with no further tables and with all."""
    store = dp.Memory({"shops": ROWS})
    path = Path(tempfile.mkdtemp()) / "shops.ledger"
    ages = count()
    print(f"milliseconds, median and most of {TIMES}, at a spend of ρ = {SPEND.rho}")
    print(f"{'':<24} {'processor time':>17}  {'by the clock':>17}")
    for stored in (0, tables):
        with dp.open_ledger(path, dp.ZCDP(1_000)) as ledger:
            asked = dp.Curator(store, [SCHEMA], ledger, who="ana")
            if not stored:
                for sql, spend in PAID:
                    asked.sql(sql, spend=spend)
            fill(ledger, stored)

            def ask(sql: str, reuse: str | bool, ledger: dp.Ledger = ledger) -> None:
                curator = dp.Curator(store, [SCHEMA], ledger, who="ana")
                spend = PAID[3][1] if sql in (WIDE, FREE["view"]) else SPEND
                curator.sql(sql, spend=spend, reuse=reuse)  # type: ignore[arg-type]

            for name, sql in FREE.items():
                taken = milliseconds(lambda sql=sql: ask(sql, "only"))  # type: ignore[misc]
                print(f"{stored:>6} tables  {name:<9} {taken}", flush=True)
            taken = milliseconds(lambda: ask(OTHER.format(next(ages)), True))
            print(f"{stored:>6} tables  {'charged':<9} {taken}", flush=True)
        taken = milliseconds(lambda: dp.open_ledger(path).close())
        print(f"{stored:>6} tables  {'opening':<9} {taken}", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
