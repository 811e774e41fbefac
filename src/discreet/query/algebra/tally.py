"""What a store is asked: exact integer totals of bounded shares, one row of totals per key. No noise, no floats.

A `Tally` is the only thing an engine ever sees. Its meaning is fixed here, in integers, so that all engines agree to
the last digit, and so that one unit's influence on the totals is known exactly:

    Free()             every row counts in full
    RowShare(k)        of a person with n > k rows, each row's contribution c counts as sign(c)·⌊|c|·s/2^20⌋, where
                       s = ⌊2^20·k/n⌋ is the person's share
    GroupShare(g, r)   a person's sum in one key is clipped to min(0, r·low) .. max(0, r·high) of its term; and if the
                       person is in m > g keys, each of these sums t counts as sign(t)·⌊|t|·s/2^20⌋, s = ⌊2^20·g/m⌋
    KeptKeys(g, r)     a person's sum in one key is clipped likewise, and of m > g keys the g with the smallest md5 of
                       `salt`, the person and the key's values count in full, the others not at all; equal hashes go by
                       the key

A row whose key is outside `only` counts nowhere, so it is not among the n rows either. n counts rows, not values: a row
whose term is NULL adds nothing to the total, but it is one of the person's rows.

Shares replace the usual random sampling of a person's rows: the same expectation, no sampling variance, no secret
random order in the store, and one person's shares depend on that person's rows only.

Influence of one person on the totals of a term with |c| ≤ c_max (proofs in `sensitivity`):
    RowShare(k): L1 ≤ k·c_max over all keys together, so L2, L∞ ≤ k·c_max too.
    GroupShare(g, r): at most r·c_max in one key, L1 ≤ g·r·c_max, L2 ≤ √g·r·c_max.
    KeptKeys(g, r): the same, in at most g keys, for every salt: what one person keeps depends on that person's keys and
    on a salt that is drawn independently of the data. Whole people in few keys are what a threshold needs: spread
    thinly over m keys a person could betray any of them.
"""

from __future__ import annotations

from typing import TypeAlias

from ...frozen import frozen
from ..domains.domain import Scalar
from .expression import Expression
from .tree import Relation

FINE = 1 << 20
"""A share is counted in parts of this fineness, so that rounding down loses about 1 in a million of a contribution."""


@frozen
class Free:
    """Every row counts in full; the unit is a row, and how many rows it becomes is bounded by the relation."""


@frozen
class RowShare:
    """A person counts as at most `rows` rows, over all keys together."""

    rows: int


@frozen
class GroupShare:
    """A person counts in at most `groups` keys, in each as at most `rows` rows."""

    groups: int
    rows: int


@frozen
class KeptKeys:
    """A person counts in at most `groups` keys, kept by a secret hash, in each as at most `rows` rows.

    `salt` is drawn anew for each run that was paid for; a plan, which is public, has none.
    """

    groups: int
    rows: int
    salt: str = ""


Share: TypeAlias = Free | RowShare | GroupShare | KeptKeys


@frozen
class Term:
    """One total: the sum over rows of `weight` × (the whole steps of a number), or `weight` × 1 where a truth holds.

    The expression's domain is `Whole` (its steps are added) or `Truth` (true counts 1); NULL adds nothing. `weight` is
    a power of two that leaves room for shares: ⌊c·s/2^20⌋ of a count 1 would be 0. `low`, `high` bound one row's
    contribution, the weight included.
    """

    expression: Expression
    weight: int
    low: int
    high: int


@frozen
class Tally:
    """Totals of each term over the rows of each key; `keys` are evaluated per row, and a row with a key outside
    `only` (if given: the public keys, as tuples) counts nowhere. With no keys there is exactly one row of totals.
    The tuples of `only` may be shorter than the keys: then they list the first keys, and the others are free.

    `people`: each term is per person and key, not per row: a person with several rows in a key counts once, with the
    greatest contribution (for COUNT(DISTINCT person)); then shares act on that.
    """

    rows: Relation
    keys: tuple[Expression, ...]
    terms: tuple[Term, ...]
    share: Share
    only: tuple[tuple[Scalar, ...], ...] | None = None
    people: bool = False

    @property
    def listed(self) -> int:
        """How many of the keys, the first ones, `only` speaks of."""
        return min((len(key) for key in self.only or ()), default=len(self.keys))


Totals: TypeAlias = dict[tuple[Scalar, ...], tuple[int, ...]]
"""What comes back: for every key that occurs, the total of each term, as Python integers of any size."""
