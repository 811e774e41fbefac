"""Our answer beside plain SQL's: the same rows, every value within its tolerance and inside its interval."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from discreet.answer.answer import Answer
from discreet.answer.ask import run_plan
from discreet.plan import Plan, plan_question
from discreet.privacy.measures import ApproxDP, Measure, PureDP
from discreet.query import parse
from end_to_end.stores import Beside, number, translated

EXACT = PureDP(10**18)
"""Beyond all noise: every mechanism's chance to move by one step is below e^-1000."""
EXACT_KEYS = ApproxDP(10**18, "1e-12")
"""The same for keys that are not public; a key of one person alone would still be hidden."""
FLOAT = 1e-9
"""What stores lose by adding up floats, relative to the value."""


@dataclass(frozen=True)
class Case:
    """A question, the plain SQL that says the same (our own text if none), and how far apart they may be, and why."""

    name: str
    sql: str
    plain: str | None = None
    within: float = 0.0
    why: str = ""
    ordered: bool = False
    spend: Measure = EXACT
    own: dict[str, str] = field(default_factory=dict)

    def plain_for(self, store: str) -> str:
        return self.own.get(store) or translated(self.plain or self.sql, store)


PLANS: dict[tuple[object, ...], Plan] = {}
"""Plans by question, budget and level: no store changes them, since all list the same public values (tests/engines)."""


def plan(sql: str, beside: Beside, schemas, spend: Measure = EXACT, level: float = 0.95) -> Plan:
    """Plan a question once for all stores that are asked it."""

    def values(table, *columns):
        return beside.engine.public_values(schemas[table], *columns)

    asked = (*schemas.values(), sql, spend, level)
    if asked not in PLANS:
        PLANS[asked] = plan_question(
            parse(sql, schemas, values), spend, public_values=values, level=level
        )
    return PLANS[asked]


def ask(sql: str, beside: Beside, schemas, spend: Measure = EXACT, level: float = 0.95) -> Answer:
    return run_plan(plan(sql, beside, schemas, spend, level), beside.engine, level=level)


def rows_of(answer: Answer) -> list[tuple[object, ...]]:
    columns = answer.to_dict()
    return [tuple(map(number, row)) for row in zip(*columns.values(), strict=True)]


def check(case: Case, beside: Beside, schemas, plain: Beside | None = None) -> None:
    """Compare an answer at a budget beyond all noise with plain SQL on the same store, or on another."""
    answer, teller = ask(case.sql, beside, schemas, case.spend), plain or beside
    wanted = teller.plain(case.plain_for(teller.name))
    exact = [i for i, name in enumerate(answer.columns) if name not in answer.noisy]

    def key(row):
        return tuple(str(row[i]) for i in exact)

    mine, ends = rows_of(answer), answer.interval(0.999)
    order = (
        range(len(mine)) if case.ordered else sorted(range(len(mine)), key=lambda i: key(mine[i]))
    )
    theirs = wanted if case.ordered else sorted(wanted, key=key)
    assert [key(mine[i]) for i in order] == [key(row) for row in theirs], case.name
    for i, row in zip(order, theirs, strict=True):
        for name, ours, told in zip(answer.columns, mine[i], row, strict=True):
            assert near(ours, told, case.within), f"{case.name}.{name}: {ours} is not {told}"
            assert inside(told, ends[i].get(name)), (
                f"{case.name}.{name}: {told} is outside {ends[i]}"
            )


def near(ours: object, plain: object, within: float) -> bool:
    if isinstance(plain, float) and isinstance(ours, float):
        return math.isclose(ours, plain, rel_tol=FLOAT, abs_tol=max(within, FLOAT))
    return ours == plain


def inside(plain: object, ends) -> bool:
    if ends is None or not isinstance(plain, float):
        return True
    low, high = (number(end) for end in ends)
    slack = FLOAT * max(1.0, abs(plain))
    return low - slack <= plain <= high + slack
