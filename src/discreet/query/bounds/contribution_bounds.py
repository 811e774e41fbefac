"""Contribution bounding: how many of one person's rows or keys count, and with which precision.

    unit     statistic of      share
    Rows     anything          Free()                       a row is the unit; joins may copy it
    People   rows              RowShare(max_rows)           `max_groups` bounds nothing here
    People   rows, by public   GroupRowShare(K, r)          if r = `max_rows_per_group` is declared;
             keys                                           K = min(max_rows, max_groups·r)
    People   people            GroupShare(max_groups, 1)    a person counts once in a key
    People   COUNT(DISTINCT x) GroupShare(max_groups, 1)    whole people: a person in more keys
                                                            than that counts in none
    People   unknown keys      KeptKeys(max_groups, 1)      chosen by the plan: `plan.selection`,
                                                            `plan.thresholded_count`

Every share lets at most `max_rows` rows of one person count in an answer. The bounds of several
tables combine like this, alike for rows, for groups and for rows in a group:

    join of private tables on the person alone         product: each row pairs with each
    join of private tables on the person and columns   the larger of both; the sum if it is outer
    join with a public table                           × the public rows that one row can match
    UNION ALL                                          sum
    GROUP BY the person                                1; unchanged if by further keys too

Guarantee: a share follows from the rows and the statistic, never from a plan. Another budget
counts the same rows. No confidence interval covers the truncation by a share, so the plan shows it.

Law: tests/plan/test_meaning.py::TestOneTarget
"""

from __future__ import annotations

from ...data.unit import People
from ..algebra.tally import SHARE_FINENESS, Free, GroupRowShare, GroupShare, RowShare, Share
from ..algebra.tree import Relation
from .fanout import person_group_rows, person_groups, person_rows
from .relation_facts import unit_of

MAX_ROWS = 1 << 31
"""Largest number of rows of one person that a share can bound."""


def row_share(rows: Relation, *, keys: int = 0) -> Share:
    """Return the share for statistics of rows (COUNT(*), SUM, AVG, quantiles …).

    `keys` is the number of public keys by which rows are grouped. All rows of a person may lie in
    one group, so `max_groups` bounds them only beside `max_rows_per_group`.

    >>> import discreet as dp
    >>> from discreet.query.bounds.contribution_bounds import row_share
    >>> from discreet.data import Boolean, Rows, Schema
    >>> from discreet.query.algebra.tree import Scan
    >>> visits = Schema("visits", dp.People("id", max_rows=12, max_groups=3), {"paid": Boolean()})
    >>> row_share(Scan(visits)), row_share(Scan(Schema("votes", Rows(), {"yes": Boolean()})))
    (RowShare(rows=12), Free())
    >>> person = dp.People("id", max_rows=12, max_groups=3, max_rows_per_group=2)
    >>> few = Scan(Schema("visits", person, {"paid": Boolean()}))
    >>> row_share(few), row_share(few, keys=1)
    (RowShare(rows=12), GroupRowShare(rows=6, group_rows=2, keys=1))
    """
    if not isinstance(unit_of(rows), People):
        return Free()
    max_rows = _max_person_rows(rows)
    group_rows = person_group_rows(rows)
    if group_rows is None or not keys:
        return RowShare(max_rows)
    group_rows = min(group_rows, max_rows)
    # Where no table declares `max_groups` there are as many as rows, and the product is no less.
    return GroupRowShare(min(max_rows, person_groups(rows) * group_rows), group_rows, keys)


def _max_person_rows(rows: Relation) -> int:
    return min(MAX_ROWS, person_rows(rows))


def max_groups_of(rows: Relation, *, keyed: bool = True) -> int:
    """Return the largest number of keys in which one unit counts.

    For a person it is `max_groups`, but at most `max_rows`, combined over the tables that are
    read. It is 1 where the unit is a row, and for a question without keys (`keyed` False).

    >>> import discreet as dp
    >>> from discreet.query.bounds.contribution_bounds import max_groups_of
    >>> from discreet.data import Boolean, Schema
    >>> from discreet.query.algebra.tree import Scan, Union
    >>> person = dp.People("id", max_rows=12, max_groups=3)
    >>> visits = Scan(Schema("visits", person, {"paid": Boolean()}))
    >>> max_groups_of(Union((visits, visits)))
    6
    """
    if not isinstance(unit_of(rows), People) or not keyed:
        return 1
    # A person with n rows is in n keys at most, whatever max_groups says.
    return min(_max_person_rows(rows), person_groups(rows))


def people_share(rows: Relation, *, keyed: bool) -> Share:
    """Return the share for counting people: once in each of at most `max_groups` keys.

    >>> import discreet as dp
    >>> from discreet.query.bounds.contribution_bounds import people_share
    >>> from discreet.data import Boolean, Schema
    >>> from discreet.query.algebra.tree import Scan
    >>> visits = Scan(Schema("visits", dp.People("id", max_rows=12), {"paid": Boolean()}))
    >>> people_share(visits, keyed=False)
    GroupShare(groups=1, rows=1)
    """
    if not isinstance(unit_of(rows), People):
        return Free()
    return GroupShare(max_groups_of(rows, keyed=keyed), 1)


def weight_of(reach: int, share: Share) -> int:
    """Return the weight of a term whose contributions are at most `reach` in size.

    It is the least power of two that makes `weight · reach` at least `SHARE_FINENESS`; 1 if every
    row counts in full, since nothing is scaled then.

    >>> from discreet.query.algebra.tally import Free, RowShare
    >>> from discreet.query.bounds.contribution_bounds import weight_of
    >>> weight_of(1, RowShare(10)), weight_of(1000, RowShare(10)), weight_of(1, Free())
    (1048576, 2048, 1)
    """
    # Free shares scale nothing, so nothing is lost by rounding down.
    if isinstance(share, Free):
        return 1
    weight = 1
    while weight * reach < SHARE_FINENESS:
        weight *= 2
    return weight
