"""Tally: the only request for private rows to an engine: exact totals, contributions bounded.

One row of integer totals per key, without noise and without floats. The meaning is fixed here, in
integers, so that all engines agree to the last digit. A *share* says how much of each unit counts
(contribution bounding):

    Free()             every row counts in full
    RowShare(k)        of a person with n > k rows, each row's contribution c counts as
                       sign(c)·⌊|c|·s/2^20⌋, where s = ⌊2^20·k/n⌋ is the person's share; n are all
                       the person's rows of the relation, whatever their keys and terms
    GroupRowShare      of a person with n_j rows in group j and T = Σ_j min(n_j, r), a row in group j
      (K, r)           counts as sign(c)·⌊|c|·s/2^20⌋, where s = ⌊s1·s2/2^20⌋,
                       s1 = ⌊2^20·min(n_j, r)/n_j⌋ and s2 = ⌊2^20·min(T, K)/T⌋; all rows that are
                       in none of the listed groups are together one more group
    GroupShare(g, r)   a person's sum in one key is clipped to min(0, r·low) .. max(0, r·high) of
                       its term; if the person is in m > g keys, each of these sums t counts as
                       sign(t)·⌊|t|·s/2^20⌋, s = ⌊2^20·g/m⌋
    KeptKeys(g, r)     a person's sum in one key is clipped likewise; of m > g keys the g with the
                       smallest md5 of `salt`, the person and the key's values count in full, the
                       others not at all; equal hashes go by the key

A row whose key is outside `only` counts in no total. Under RowShare and GroupRowShare it is one of
the person's rows all the same, as is a row whose term is NULL. So under RowShare a row has the same
weight under every list of keys, and margins and totals of one relation agree. Under GroupShare and
KeptKeys a key outside `only` is none of the m keys.

Shares replace the usual random sampling of a person's rows: the same expectation, no sampling
variance, no secret random order in the store. One person's shares depend on that person's rows
only.

Guarantee: influence of one person on the totals of a term with |c| ≤ c_max (proofs in
`sensitivity`):

    RowShare(k)        L1 ≤ k·c_max over all keys together, so L2, L∞ ≤ k·c_max too
    GroupRowShare      at most r·c_max in one group, L1 ≤ K·c_max,
      (K, r)           L2² ≤ (⌊K/r⌋·r² + (K mod r)²)·c_max²
    GroupShare(g, r)   at most r·c_max in one key, L1 ≤ g·r·c_max, L2 ≤ √g·r·c_max
    KeptKeys(g, r)     the same, in at most g keys, for every salt

The keys that one person keeps depend on that person's keys, and on a salt that is drawn
independently of the data. A threshold on keys needs whole people in few keys: a person who is
spread thinly over m keys could reveal any of them.

Law: tests/query/test_sensitivity.py::TestTotalsOfPeople
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from ...frozen import frozen
from ..domains.domain import Values
from .expression import Expression
from .tree import Relation

# Shares are rounded down to this fineness: the safe direction, since bounds hold for any
# smaller share. It loses about one millionth of a contribution.
SHARE_FINENESS = 1 << 20
"""Parts into which a share is divided."""


@frozen
class Free:
    """Every row counts in full; the unit is a row, and the relation bounds its number of copies."""


@frozen
class RowShare:
    """A person counts as at most `rows` rows, over all keys together."""

    rows: int


@frozen
class GroupRowShare:
    """A person counts as at most `rows` rows, of which at most `group_rows` in one group.

    A group is the rows with the same values of the first `keys` keys. A tally may have further
    keys, such as the cells of a quantile; they do not divide the groups.
    """

    rows: int
    group_rows: int
    keys: int


@frozen
class GroupShare:
    """A person counts in at most `groups` keys, in each as at most `rows` rows."""

    groups: int
    rows: int


@frozen
class KeptKeys:
    """A person counts in at most `groups` keys, kept by a secret hash, as at most `rows` rows each.

    `salt` is drawn anew for each run that was paid for; a plan, which is public, has none.
    """

    groups: int
    rows: int
    salt: str = ""


Share: TypeAlias = Free | RowShare | GroupRowShare | GroupShare | KeptKeys


@frozen
class Term:
    """One total: the sum over rows of `weight` × (whole steps of a number, or 1 if a truth holds).

    The expression's domain is `Whole` (its steps are added) or `Truth` (true counts 1); NULL adds
    nothing. `weight` is a power of two that keeps shares from vanishing: ⌊c·s/2^20⌋ of a count 1
    would be 0. `low` and `high` bound one row's contribution, the weight included.
    """

    expression: Expression
    weight: int
    low: int
    high: int


@frozen
class Tally:
    """Totals of each term over the rows of each key.

    `keys` are evaluated per row. Without keys there is exactly one row of totals.

    `only`: the public keys, as tuples; a row with another key counts nowhere. Tuples may be
    shorter than the keys: then they list the first keys, and the others are free.

    `people`: each term is per person and key, not per row. A person with several rows in a key
    counts once, with the greatest contribution (for COUNT(DISTINCT person)); shares act on that,
    and the n of RowShare are then the person's keys, those outside `only` included.

    `joined`: the places of the keys that a public list is joined to (RIGHT JOIN of chosen keys). A
    row that matches nothing in the list is then no row of the relation, and so none of its person's
    rows.

    `cells`: the least and the greatest value that the last key can have, which is a whole number
    that `only` does not list. A store may count so many cells in arrays (`OpenTotals`).
    """

    rows: Relation
    keys: tuple[Expression, ...]
    terms: tuple[Term, ...]
    share: Share
    only: tuple[Values, ...] | None = None
    people: bool = False
    joined: tuple[int, ...] = ()
    cells: tuple[int, int] | None = None

    @property
    def listed(self) -> int:
        """Number of keys, from the first one on, that `only` lists; all of them without `only`."""
        lengths = map(len, self.only or ())
        return min(lengths, default=len(self.keys))

    @property
    def groups(self) -> tuple[Values, ...] | None:
        """The listed groups of a `GroupRowShare`; None if no list says which groups there are."""
        if self.only is None or not isinstance(self.share, GroupRowShare):
            return None
        width = self.share.keys
        return tuple(dict.fromkeys(key[:width] for key in self.only))

    @property
    def matched(self) -> tuple[Values, ...] | None:
        """The combinations in the list that keys are joined to; None if there is no such join."""
        if self.only is None or not self.joined:
            return None
        return tuple(dict.fromkeys(map(self.joined_values, self.only)))

    def joined_values(self, key: Values) -> Values:
        """Return the values of those keys that a list is joined to."""
        return tuple(key[place] for place in self.joined)


Totals: TypeAlias = Mapping[Values, tuple[int, ...]]
"""Result of a tally: for every key that occurs, the total of each term, as integers of any size."""
