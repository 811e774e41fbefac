"""People who have, or have not, a row in other private rows."""

from __future__ import annotations

from ..algebra.expression import Call, Constant, Field, Function
from ..algebra.joins import add_flag, apart
from ..algebra.tree import JoinPeople, Named, Relation, Select, Where
from ..bounds.person_totals import PersonTotals

NO_COLUMNS: Named = (("present", Constant(1)),)
"""Stands in where only the person is selected: rows have at least one column."""


def people_in(rows: Relation, people: Relation, *, there: bool) -> Relation:
    """Keep the rows of people who have a row among `people`, or of those who have none.

    Each person is there once, so no row is multiplied: one person's rows stay or go by that person's own rows.

    >>> import discreet as dp
    >>> from discreet.query.algebra.tree import Scan
    >>> from discreet.query.python.people import people_in
    >>> visits = Scan(dp.Schema("visits", dp.People("id", max_rows=3), {"paid": dp.Boolean()}))
    >>> people_in(visits, visits, there=False).rows.outer
    'left'
    """
    once = Select(PersonTotals(people, ()).per_person(), NO_COLUMNS)
    known, flag = add_flag(once)
    right, new = apart(rows, known)
    if there:
        return JoinPeople(rows, right)
    return Where(JoinPeople(rows, right, (), "left"), Call(Function.IS_NULL, (Field(new[flag]),)))
