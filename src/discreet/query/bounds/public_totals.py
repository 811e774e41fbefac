"""Which totals are public under "replace" neighbours: the number of rows of a whole table.

Neighbours that replace one row for another have the same number of rows. So that number needs no noise, where nothing
stands between the table and the count that one row's values could decide: no WHERE, no FILTER, no key, no join (a
replaced row may lose its partner), no union of tables, no part of a person. For people it is the number of people that
is public, not that of their rows. And the store must hold every record that it was given: one that drops what it cannot
read has no public number of rows.
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
    plain = (
        isinstance(tally.share, Free) and not tally.people and not tally.keys and tally.only is None
    )
    counts = len(tally.terms) == 1 and tally.terms[0].expression == Constant(True)
    whole = _whole(tally.rows) and isinstance(unit_of(tally.rows), Rows)
    return plain and counts and whole and neighbours_of(tally.rows) == REPLACE


def _whole(relation: Relation) -> bool:
    while isinstance(relation, Select):
        relation = relation.rows
    return isinstance(relation, Scan)
