"""Most that several sources and the difference would save on the logs of `reuse.py`: `reuse_difference.py [seeds]`.

What is charged for is looked at once more: how exact are sums of all cells that were paid for, averaged by their
variances? With P their precision, in that of the planned answer, the difference would cost 1 − P of its price, and
nothing where P is 1 or more (`averaged`). That is a bound from above: what is bought as a difference answers no later
question by itself, where the whole measurement answers all its siblings.

Sums over a key are possible only where no row can be without it, so every column is declared with a default here.
Prices do not depend on the data, so the tables are empty.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterable
from typing import Any

import discreet as dp
from discreet.curator import curator as asking
from discreet.curator.summed_cells import _shown, _times_planned, finer_tables
from reuse import LOGS, SPEND, World, adult, events

NO_ROWS: list[dict[str, object]] = []
QUESTIONS = 400


def whole(world: World) -> World:
    """Declare a default for every column: no row is without a key."""
    columns: dict[str, dp.Column] = {}
    for name, declared in world.schema.columns.items():
        columns[name] = declared
        if isinstance(declared, dp.Category):
            columns[name] = dp.Category(declared.keys(), default=world.values[name][0])
        elif isinstance(declared, dp.Integer):
            columns[name] = dp.Integer(declared.low, declared.high, default=declared.low)
    world.schema = dp.Schema(world.schema.name, dp.Rows(), columns)
    world.store = dp.Memory({world.schema.name: NO_ROWS})
    return world


def precision(asked: tuple[Any, ...], keys: Iterable[str]) -> float:
    """Return the precision of all sums of cells under some keys for a question, in that of its plan."""
    context, request, _, plans, who = asked
    tables = finer_tables(request)
    total = 0.0
    for key in keys:
        start = key[: key.rindex(":") + 1]
        paid = context.find_paid(who, key) if start in tables else None
        if paid is not None:
            total += _times_planned(paid, _shown(*tables[start]), plans[""]) ** -2
    return total


def run(world: World, kind: str, seed: int) -> tuple[float, float, int, int]:
    """Return the price of a log, what the difference would save, charges that it is for, and averages."""
    log = LOGS[kind](world, random.Random(seed))
    ledger = dp.open_ledger(":memory:", dp.ZCDP(1))
    curator = dp.Curator(world.store, [world.schema], ledger)
    find_way = asking.find_way
    ways: list[tuple[Any, ...]] = []

    def find(*asked: Any) -> Any:
        ways.append(asked)
        return find_way(*asked)

    asking.find_way = find
    saved, helped, averaged = 0.0, 0, 0
    try:
        for _ in range(QUESTIONS):
            spent: Any = ledger.spent()
            keys = ledger.keys(["2:"])
            ways.clear()
            curator.sql(next(log), spend=SPEND)
            now: Any = ledger.spent()
            price = float((now.rho - spent.rho) / SPEND.rho)
            if not price:
                continue
            known = precision(ways[-1], keys)
            less = max(0.0, price - max(0.0, 1 - known))
            saved += less
            helped += less > 0
            averaged += known >= 1
    finally:
        asking.find_way = find_way
    whole: Any = ledger.spent()
    return float(whole.rho / SPEND.rho), saved, helped, averaged


def main(seeds: int = 5) -> None:
    """Print a line for each kind of log and each table."""
    print(f"{QUESTIONS} questions a log, {seeds} seeds; prices of one question")
    print(
        f"{'log':<10} {'table':<7} {'reuse':>7} {'saved':>7} {'share':>7} {'for':>5} {'averaged':>9}"
    )
    for kind in LOGS:
        for world in (whole(adult(1)), whole(events(1))):
            found = [run(world, kind, seed) for seed in range(seeds)]
            price, saved, helped, averaged = (sum(one) / seeds for one in zip(*found, strict=True))
            line = f"{kind:<10} {world.name:<7} {price:>7.1f} {saved:>7.2f} {saved / price:>7.1%}"
            print(f"{line} {helped:>5.1f} {averaged:>9.1f}", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
