"""Contribution bounding: how much of one person's rows counts, and how finely a share of them is counted.

    unit     asked for         share
    Rows     anything          Free()                       a row is one unit; how many rows it becomes is bounded
    People   rows              RowShare(max_rows)           whatever `max_groups` says
    People   people            GroupShare(max_groups, 1)    a person counts once in a key
    People   which keys occur  GroupShare(max_groups, 1) in whole people: who is in more keys than that counts nowhere

All of them let at most `max_rows` rows of one person count in an answer. In a join of private tables on the person
alone every row of one pairs with every row of the other, so their bounds multiply; on the person and more columns the
larger bound holds; a join with a public table multiplies by the rows that one can match; in a union they add up; GROUP
BY the person leaves one row. The same goes for groups.

A share follows from the rows and from what is counted, never from a plan: another budget must not count other rows.
What a share cuts off no interval sees, so the plan shows it.

Law: tests/plan/test_meaning.py::TestOneTarget.
"""

from __future__ import annotations

from ...data.unit import People
from ..algebra.tally import FINE, Free, GroupShare, RowShare, Share
from ..algebra.tree import Relation
from .fanout import person_groups, person_rows
from .relation_facts import unit_of

MOST_ROWS = 1 << 31
"""As many rows of one person any share can bound."""


def row_share(rows: Relation) -> Share:
    """Return the share for statistics of rows (COUNT(*), SUM, AVG, quantiles …), by whatever keys.

    All rows of a person may lie in one key, however few keys there are, so `max_groups` bounds nothing here.

    >>> import discreet as dp
    >>> from discreet.query.bounds.contribution_bounds import row_share
    >>> from discreet.data import Boolean, Rows, Schema
    >>> from discreet.query.algebra.tree import Scan
    >>> visits = Schema("visits", dp.People("id", max_rows=12, max_groups=3), {"paid": Boolean()})
    >>> row_share(Scan(visits)), row_share(Scan(Schema("votes", Rows(), {"yes": Boolean()})))
    (RowShare(rows=12), Free())
    """
    return RowShare(_most_rows(rows)) if isinstance(unit_of(rows), People) else Free()


def _most_rows(rows: Relation) -> int:
    return min(MOST_ROWS, person_rows(rows))


def most_groups(rows: Relation, *, keyed: bool = True) -> int:
    """Return in how many keys one person may count: `max_groups`, or as many as rows; without keys there is one.

    >>> import discreet as dp
    >>> from discreet.query.bounds.contribution_bounds import most_groups
    >>> from discreet.data import Boolean, Schema
    >>> from discreet.query.algebra.tree import Scan, Union
    >>> visits = Scan(Schema("visits", dp.People("id", max_rows=12, max_groups=3), {"paid": Boolean()}))
    >>> most_groups(Union((visits, visits)))
    6
    """
    if not isinstance(unit_of(rows), People) or not keyed:
        return 1
    return min(_most_rows(rows), person_groups(rows))


def people_share(rows: Relation, *, keyed: bool) -> Share:
    """Return the share for counting people: once in each of at most `max_groups` keys.

    >>> import discreet as dp
    >>> from discreet.query.bounds.contribution_bounds import people_share
    >>> from discreet.data import Boolean, Schema
    >>> from discreet.query.algebra.tree import Scan
    >>> people_share(Scan(Schema("visits", dp.People("id", max_rows=12), {"paid": Boolean()})), keyed=False)
    GroupShare(groups=1, rows=1)
    """
    return (
        GroupShare(most_groups(rows, keyed=keyed), 1)
        if isinstance(unit_of(rows), People)
        else Free()
    )


def weight_of(reach: int, share: Share) -> int:
    """Return the weight of a term whose contributions are at most `reach`: the least power of two that is fine enough.

    >>> from discreet.query.algebra.tally import Free, RowShare
    >>> from discreet.query.bounds.contribution_bounds import weight_of
    >>> weight_of(1, RowShare(10)), weight_of(1000, RowShare(10)), weight_of(1, Free())
    (1048576, 2048, 1)
    """
    if isinstance(share, Free):
        return 1
    weight = 1
    while weight * reach < FINE:
        weight *= 2
    return weight
