"""Question of a stream: one count or sum of the rows of each day, by public keys.

| asked | why it is refused | what works |
|---|---|---|
| no key that is a day | a stream closes day by day | SELECT day, COUNT(*) … GROUP BY day |
| keys that are not public | a key that appears would tell of a person | Category, or bins |
| AVG and other statistics | they are no sums of days | a stream of SUM and one of COUNT |
| COUNT(DISTINCT person) | people of a week are no sum of its days | COUNT(*) |
| several statistics | each needs a spend of its own | a stream for each |
| HAVING, ORDER BY, LIMIT, computed columns | what is published is final | `report.by(…)` |
| a join that copies rows, where a row is the unit | a row would count on several days | a unique key |

Which rows count follows from SQL, schema and `per_person` alone. The rows of a day are those that
the same SQL counts with `WHERE day = …`.
"""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from itertools import product

from ..arithmetic.canonical import hash_json
from ..data.unit import People
from ..errors import UnsupportedQuery
from ..frozen import frozen, replace
from ..query.algebra.expression import Call, Constant, Expression, Field, Function
from ..query.algebra.refusal import refusal
from ..query.algebra.statistic import Count, CountOf, Sum
from ..query.algebra.tally import Free, RowShare, Share, Tally, Term
from ..query.algebra.tree import Key, Question, Relation, Where
from ..query.bounds.contribution_bounds import weight_of
from ..query.bounds.relation_facts import columns_of, multiplicity, neighbours_of, unit_of
from ..query.domains.domain import Day, Second, Values
from ..query.domains.domain_of import domain_of
from ..query.text.question import fingerprint
from ..statistics.releases.basis import Addend, number_addend, present, rows_addend
from ..workloads.strategy_norms import StrategyNorms
from ..workloads.triangular import Participation
from .caps import Days, counted_days

MAX_KEYS = 10_000
"""Most combinations of public keys of one stream."""
_EPOCH = date(1970, 1, 1)
_DAY_SECONDS = 86_400


@frozen
class StreamQuestion:
    """The exact totals that a stream adds up: the request for one day, and what its numbers mean.

    `time` is the day of a row (`seconds`: as the first second of the day). `names` are the other
    keys, `cells` their public combinations, `column` the name of the number. `tally` is the
    request without its day. `unit` is the value of one step of the exact totals, `step` that of
    the shown ones. `whole` says that exact numbers are multiples of `step`. `counted` are the days
    on which a unit may count. `tracked` says that the days used are stored for each person.
    `norms` are the largest changes by one unit on one day.
    """

    asked: Question
    time: Expression
    seconds: bool
    names: tuple[str, ...]
    cells: tuple[Values, ...]
    column: str
    tally: Tally
    unit: Fraction
    step: Fraction
    whole: bool
    counted: Participation
    tracked: bool
    norms: StrategyNorms

    @property
    def identity(self) -> str:
        """Hash of what is counted: of the question, its schemas with versions, and its keys."""
        cells = [[str(value) for value in cell] for cell in self.cells]
        return hash_json({"question": fingerprint(self.asked), "cells": cells})

    def on(self, day: date) -> Tally:
        """Return the tally of one day."""
        number = (day - _EPOCH).days
        constant = Constant(number, "day")
        if self.seconds:
            constant = Constant(number * _DAY_SECONDS, "second")
        condition = Call(Function.EQUAL, (self.time, constant))
        return replace(self.tally, rows=Where(self.tally.rows, condition))


def read_question(question: Question, per_person: Days | None) -> StreamQuestion:
    """Return what a stream of a question adds up each day; `per_person` caps the days of a person.

    Refuses: what the module's table lists, what `caps` refuses, and more than 10,000 combinations
    of keys, with UnsupportedQuery; no data is read.
    """
    if question.sets is not None or question.running or question.nested is not None:
        raise refusal("GROUP BY", "a stream has one set of keys", "GROUP BY day, region")
    time, seconds = _time_key(question)
    others = tuple(key for key in question.keys if key is not time)
    cells = _cells(others)
    name, addend = _addend(question)
    _check_finish(question, name)
    days, share = _unit_days(question.rows, time, per_person)
    weight = weight_of(max(1, -addend.low, addend.high), share)
    term = Term(addend.expression, weight, addend.low * weight, addend.high * weight)
    keys = tuple(key.expression for key in others)
    tally = Tally(question.rows, keys, (term,), share, only=cells if keys else None)
    # A unit moves at most so many rows of a day, in all keys together (`query.bounds.sensitivity`).
    rows = share.rows if isinstance(share, RowShare) else 1
    size = rows * max(1, -term.low, term.high)
    signed = term.low < 0 < term.high
    return StreamQuestion(
        asked=question,
        time=time.expression,
        seconds=seconds,
        names=tuple(key.name for key in others),
        cells=cells,
        column=name,
        tally=tally,
        unit=addend.step / weight,
        step=addend.step,
        whole=isinstance(share, Free),
        counted=days,
        tracked=per_person is not None,
        norms=StrategyNorms(size, neighbours_of(question.rows), signed=signed),
    )


def _time_key(question: Question) -> tuple[Key, bool]:
    """Return the key that is the day of a row, and whether it counts seconds."""
    columns = columns_of(question.rows)
    for key in question.keys:
        domain = domain_of(key.expression, columns)
        unit = "day"
        if isinstance(key.expression, Call) and key.expression.function is Function.TRUNCATE:
            unit = str(getattr(key.expression.arguments[1], "value", ""))
        if not isinstance(domain, Day | Second):
            continue
        if unit != "day" or (isinstance(domain, Second) and key.expression == Field(key.name)):
            raise refusal(
                "GROUP BY",
                "a stream closes day by day, whole days of UTC",
                "group by the day; report.by('week') adds days up",
            )
        return key, isinstance(domain, Second)
    raise refusal(
        "GROUP BY", "a stream needs the day of each row as a key", "GROUP BY day, a Date column"
    )


def _cells(keys: tuple[Key, ...]) -> tuple[Values, ...]:
    """List all combinations of the public values of the keys."""
    lists = []
    for key in keys:
        if not key.values:
            raise refusal(
                "GROUP BY",
                f"the values of {key.name} are not public: a key that appears tells of a person",
                "declare a Category, or bins",
            )
        # Rows without the key count nowhere, unless NULL was declared as a key of its own.
        lists.append(key.values)
    cells = tuple(product(*lists))
    if len(cells) > MAX_KEYS:
        raise UnsupportedQuery(
            f"a stream has at most {MAX_KEYS:,} combinations of keys, got {len(cells):,}; use fewer"
        )
    return cells


def _addend(question: Question) -> tuple[str, Addend]:
    """Return the name of the one statistic, and what each row adds to it."""
    if len(question.statistics) != 1:
        raise refusal(
            "SELECT", "a stream publishes one count or sum", "open one stream for each of them"
        )
    [(name, statistic)] = question.statistics
    match statistic:
        case Count():
            return name, rows_addend(Constant(True))
        case CountOf(of=of):
            return name, rows_addend(present(of, question.rows))
        case Sum(of=of):
            return name, number_addend(of, columns_of(question.rows))
    raise refusal(
        statistic.declared.name,
        "it is no sum of days, so weeks and totals would not follow from days",
        "open a stream of SUM and one of COUNT",
    )


def _check_finish(question: Question, name: str) -> None:
    """Refuse post-processing: it belongs to the views of a stream."""
    finish = question.finish
    plain = {key.name for key in question.keys} | {name}
    shown = {expression for _, expression in finish.columns}
    limited = finish.having is not None or finish.limit is not None or finish.offset
    if limited or finish.order or not shown <= {Field(each) for each in plain}:
        raise refusal(
            "SELECT",
            "a stream publishes its keys and one number, unordered and whole",
            "leave out HAVING, ORDER BY, LIMIT and computed columns",
        )


def _unit_days(rows: Relation, time: Key, per_person: Days | None) -> tuple[Participation, Share]:
    """Return the days on which one unit may count, and the share of its rows of one day."""
    unit = unit_of(rows)
    if isinstance(unit, People):
        counted = counted_days(unit, time.expression, per_person)
        day_rows = unit.max_rows if per_person is None else per_person.rows
        return counted, RowShare(day_rows)
    if per_person is not None:
        raise refusal("per_person", "the unit of this table is a row", "leave it out")
    if multiplicity(rows) > 1:
        raise refusal(
            "JOIN or UNION ALL",
            "it copies rows, which would count on several days",
            "join a key, and read each row once",
        )
    return Participation(), Free()
