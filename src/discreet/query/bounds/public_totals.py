"""Public totals under "replace" neighbours: the number of rows of a complete table.

Neighbours that replace one row for another have the same number of rows, so that number needs no
noise. This holds only where no values of a row decide whether it counts: no WHERE, no FILTER, no
key, no join (a replaced row may lose its partner), no union of tables, no share of a person. For
people the number of people is public, not that of their rows. The store must also hold every record
that it was given: a store that drops unreadable records has no public number of rows.

Guarantee: a count that is called public is the same for all neighbouring tables.

Law: tests/plan/test_public_totals.py::test_what_a_row_can_decide_is_paid_for
"""

from __future__ import annotations

from ...data.unit import Rows
from ...privacy.neighbours import REPLACE
from ..algebra.expression import Constant
from ..algebra.tally import Free, Tally
from ..algebra.tree import Relation, Scan, Select
from .relation_facts import neighbours_of, unit_of


def is_public_count(tally: Tally) -> bool:
    """Return whether the one total of a tally is the public number of rows of a table.

    >>> import discreet as dp
    >>> from discreet.query.algebra.expression import Constant
    >>> from discreet.query.algebra.tally import Free, Tally, Term
    >>> from discreet.query.algebra.tree import Scan
    >>> from discreet.query.bounds.public_totals import is_public_count
    >>> def rows(near):
    ...     votes = dp.Schema("votes", dp.Rows(), {"yes": dp.Boolean()}, neighbours=near)
    ...     return Tally(Scan(votes), (), (Term(Constant(True), 1, 0, 1),), Free())
    >>> is_public_count(rows("replace")), is_public_count(rows("add-remove"))
    (True, False)
    """
    rows = tally.rows
    # A share, a key or a FILTER makes the count depend on the values of rows.
    plain = isinstance(tally.share, Free) and not tally.people
    everything = not tally.keys and tally.only is None
    counts_rows = len(tally.terms) == 1 and tally.terms[0].expression == Constant(True)
    complete = _is_complete(rows) and isinstance(unit_of(rows), Rows)
    if not (plain and everything and counts_rows and complete):
        return False
    return neighbours_of(rows) == REPLACE


def _is_complete(relation: Relation) -> bool:
    """Return whether a relation has exactly the rows of one table; SELECT drops none."""
    while isinstance(relation, Select):
        relation = relation.rows
    return isinstance(relation, Scan)
