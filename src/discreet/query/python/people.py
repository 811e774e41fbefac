"""Semi-joins and anti-joins on the person: people with, or without, a row in other private rows."""

from __future__ import annotations

from ..algebra.expression import Constant, Field, Function, call_of
from ..algebra.joins import add_flag, with_unique_columns
from ..algebra.tree import JoinPeople, Named, Relation, Select, Where
from ..bounds.person_totals import PersonTotals

NO_COLUMNS: Named = (("present", Constant(1)),)
"""Column of rows in which only the person is selected: rows have at least one column."""


def people_in(rows: Relation, people: Relation, *, there: bool) -> Relation:
    """Keep the rows of people who have a row among `people`, or of those who have none.

    Each person occurs once among `people`, so no row is multiplied. A person's rows stay or go by
    that person's own rows alone.

    >>> import discreet as dp
    >>> from discreet.query.algebra.tree import Scan
    >>> from discreet.query.python.people import people_in
    >>> visits = Scan(dp.Schema("visits", dp.People("id", max_rows=3), {"paid": dp.Boolean()}))
    >>> people_in(visits, visits, there=False).rows.outer
    'left'
    """
    # One row per person: the join then keeps the number of rows.
    one_row_each = PersonTotals(people, ()).per_person()
    flagged, flag = add_flag(Select(one_row_each, NO_COLUMNS))
    right, new_names = with_unique_columns(rows, flagged)
    if there:
        return JoinPeople(rows, right)
    # A left join marks people without a row by NULL in the flag.
    joined = JoinPeople(rows, right, (), "left")
    is_missing = call_of(Function.IS_NULL, Field(new_names[flag]))
    return Where(joined, is_missing)
