"""Truncation by `max_rows` as a question: how many rows of people the cap cuts off.

A person with r rows counts for min(r, max_rows) of them, so max(r − max_rows, 0) rows are cut off;
of a sum over this person's rows the fraction max(1 − max_rows/r, 0). A second public bound,
`up_to`, limits what one person can change in this question: r is counted up to it, and the noise
is proportional to it. So the question supposes that
nobody has more than `up_to` rows; if some have more, more rows are cut off than it counts.
"""

from __future__ import annotations

from fractions import Fraction

from ...arithmetic.rational import whole
from ...data.schema import Schema
from ...data.unit import People
from ...errors import InvalidArgument
from ..algebra.expression import Constant, Expression, Field, Function, call_of
from ..algebra.statistic import Statistic, Sum
from ..algebra.tree import Finish, PerPerson, Question, Scan, Total
from ..bounds.relation_facts import columns_of
from ..domains.domain import Whole
from ..domains.domain_of import domain_of

# Totals of each person, as columns of one row per person.
_ROWS = Field("rows")
_SUM = Field("sum")


def truncation_question(schema: Schema, *, up_to: int, of: str | None = None) -> Question:
    """Return the question how many rows of people `max_rows` cuts off, and their fraction of all.

    Its columns are rows (all rows), cut and share. With `of` the columns total, cut_total and
    share_total say the same of the sum of a column.

    >>> import discreet as dp
    >>> from discreet.query.python.truncation import truncation_question
    >>> person = dp.People("patient", max_rows=2)
    >>> visits = dp.Schema("visits", person, {"cost": dp.Integer(0, 500)})
    >>> rows = [{"patient": p, "cost": 100} for p in range(500) for _ in range(1 + p % 4)]
    >>> ledger = dp.open_ledger(":memory:", dp.PureDP(90))
    >>> curator = dp.Curator(dp.Memory({"visits": rows}), [visits], ledger)
    >>> answer = curator.ask(truncation_question(visits, up_to=16), spend=dp.PureDP(90))
    >>> answer.columns, round(answer.column("share")[0], 2)  # 375 of 1250
    (('rows', 'cut', 'share'), 0.3)

    Refuses: with `InvalidArgument` tables whose unit is a row, an `up_to` that is not above
    `max_rows`, and columns that are no numbers.

    Law: tests/query/test_lists.py::TestCut
    """
    unit = schema.unit
    if not isinstance(unit, People):
        raise InvalidArgument(
            f"the unit of {schema.name} is a row, so no rows of a person are cut off"
        )
    max_counted = whole(up_to, "up_to", least=1, most=1_000_000)
    if max_counted <= unit.max_rows:
        raise InvalidArgument(
            f"up_to must be above max_rows = {unit.max_rows}, got {up_to}; say the most anyone has"
        )
    scan = Scan(schema)
    max_rows = Constant(unit.max_rows)
    excess = call_of(Function.SUBTRACT, _ROWS, max_rows)
    cut_rows = call_of(Function.GREATEST, excess, Constant(0))
    kept_rows = call_of(Function.LEAST, _ROWS, max_rows)
    asked: dict[str, Statistic] = {"cut": Sum(cut_rows), "kept": Sum(kept_rows)}
    totals = {"rows": Total("count", None, Fraction(1), 1, max_counted)}
    # All rows are computed from both sums: a third statistic would take budget from them.
    all_rows = call_of(Function.ADD, Field("cut"), Field("kept"))
    shown = _show("rows", "cut", all_rows, "share")
    if of is not None:
        totals["sum"] = _sum(scan, of, max_counted)
        kept_quotient = call_of(Function.DIVIDE, max_rows, _ROWS)
        kept_fraction = call_of(Function.LEAST, kept_quotient, Constant(1))
        cut_fraction = call_of(Function.SUBTRACT, Constant(1), kept_fraction)
        asked["cut_total"] = Sum(call_of(Function.MULTIPLY, _SUM, cut_fraction))
        asked["total"] = Sum(_SUM)
        shown += _show("total", "cut_total", Field("total"), "share_total")
    people = PerPerson(scan, (), tuple(totals.items()))
    return Question(people, (), tuple(asked.items()), Finish(shown))


def _show(
    total_name: str, cut_name: str, total: Expression, share_name: str
) -> tuple[tuple[str, Expression], ...]:
    """Return the columns of a total, of its part that is cut off, and of the quotient."""
    cut = Field(cut_name)
    quotient = call_of(Function.DIVIDE, cut, total)
    return (total_name, total), (cut_name, cut), (share_name, quotient)


def _sum(scan: Scan, of: str, max_rows: int) -> Total:
    """Sum a column over a person's rows, within the bounds of at most `max_rows` of them."""
    name, _ = scan.schema.column(of)
    domain = domain_of(Field(name), columns_of(scan))
    if not isinstance(domain, Whole):
        raise InvalidArgument(f"what is cut off a sum is told for numbers, and {name} holds none")
    # Of 1 to max_rows rows: a positive low is reached by one row, a negative one by all.
    low = min(domain.low, max_rows * domain.low)
    high = max(domain.high, max_rows * domain.high)
    return Total("sum", Field(name), domain.step, low, high)
