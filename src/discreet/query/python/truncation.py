"""What a cap on one person's rows cuts off, as a question about people.

A person with r rows counts for min(r, max_rows) of them, so max(r − max_rows, 0) are cut off; of the sum of a column
its part 1 − max_rows/r. A second public cap, `up_to`, bounds what one person can move here: r is counted up to it, and
noise is in proportion to it. So this supposes that nobody has more than `up_to` rows; if some do, at least so many rows
are cut off.
"""

from __future__ import annotations

from fractions import Fraction

from ...arithmetic.rational import whole
from ...data.schema import Schema
from ...data.unit import People
from ...errors import InvalidArgument
from ..algebra.expression import Call, Constant, Expression, Field, Function
from ..algebra.tree import Finish, PerPerson, Question, Scan, Statistic, Sum, Total
from ..bounds.relation_facts import columns_of
from ..domains.domain import Whole
from ..domains.domain_of import domain_of

_ROWS, _SUM = Field("rows"), Field("sum")


def truncation_question(schema: Schema, *, up_to: int, of: str | None = None) -> Question:
    """Ask how many rows of people `max_rows` cuts off, and which share of them all; and of the sum of a column.

    >>> import discreet as dp
    >>> from discreet.query.python.truncation import truncation_question
    >>> visits = dp.Schema("visits", dp.People("patient", max_rows=2), {"cost": dp.Integer(0, 500)})
    >>> rows = [{"patient": p, "cost": 100} for p in range(500) for _ in range(1 + p % 4)]
    >>> curator = dp.Curator(dp.Memory({"visits": rows}), [visits], dp.open_ledger(":memory:", dp.PureDP(90)))
    >>> answer = curator.ask(truncation_question(visits, up_to=16), spend=dp.PureDP(90))
    >>> answer.columns, round(answer.column("share")[0], 2)  # 375 of 1250
    (('rows', 'cut', 'share'), 0.3)

    Refuses tables whose unit is a row, an `up_to` that is not above `max_rows`, and columns that are no numbers.
    """
    unit = schema.unit
    if not isinstance(unit, People):
        raise InvalidArgument(
            f"the unit of {schema.name} is a row, so no rows of a person are cut off"
        )
    most = whole(up_to, "up_to", least=1, most=1_000_000)
    if most <= unit.max_rows:
        raise InvalidArgument(
            f"up_to must be above max_rows = {unit.max_rows}, got {up_to}; say the most anyone has"
        )
    scan, cap = Scan(schema), Constant(unit.max_rows)
    beyond = Call(Function.GREATEST, (Call(Function.SUBTRACT, (_ROWS, cap)), Constant(0)))
    asked: dict[str, Statistic] = {
        "cut": Sum(beyond),
        "kept": Sum(Call(Function.LEAST, (_ROWS, cap))),
    }
    totals = {"rows": Total("count", None, Fraction(1), 1, most)}
    shown = _show("rows", "cut", Call(Function.ADD, (Field("cut"), Field("kept"))), "share")
    if of is not None:
        totals["sum"] = _sum(scan, of, most)
        kept = Call(Function.LEAST, (Call(Function.DIVIDE, (cap, _ROWS)), Constant(1)))
        part = Call(Function.SUBTRACT, (Constant(1), kept))
        asked |= {"cut_total": Sum(Call(Function.MULTIPLY, (_SUM, part))), "total": Sum(_SUM)}
        shown += _show("total", "cut_total", Field("total"), "share_total")
    return Question(
        PerPerson(scan, (), tuple(totals.items())), (), tuple(asked.items()), Finish(shown)
    )


def _show(all_: str, cut: str, both: Expression, share: str) -> tuple[tuple[str, Expression], ...]:
    return (all_, both), (cut, Field(cut)), (share, Call(Function.DIVIDE, (Field(cut), both)))


def _sum(scan: Scan, of: str, most: int) -> Total:
    name, _ = scan.schema.column(of)
    domain = domain_of(Field(name), columns_of(scan))
    if not isinstance(domain, Whole):
        raise InvalidArgument(f"what is cut off a sum is told for numbers, and {name} holds none")
    low, high = min(domain.low, most * domain.low), max(domain.high, most * domain.high)
    return Total("sum", Field(name), domain.step, low, high)
