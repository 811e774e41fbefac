"""Sensitivity: how much one unit changes the totals that a store computes, as exact integers.

It covers both neighbour relations and every share. Let a term's contributions lie in low..high,
with 0 among them (a NULL, or a row that WHERE drops, adds nothing), and let c = max(|low|, |high|).
All functions of this module use this theorem:

    *One unit's totals over all keys lie in the convex hull H of the vectors that hold r·low or
    r·high in g keys, q·low or q·high in one more, and 0 elsewhere*, where (g, r, q) = (1, m, 0) for
    Free() of multiplicity m, (1, k, 0) for RowShare(k), (⌊K/r⌋, r, K mod r) for
    GroupRowShare(K, r) with r ≤ K (else r is K), (g, r, 0) for GroupShare(g, r) and KeptKeys(g, r).

Proof. Free: the unit has m rows at most; a row is c'·e_key with low ≤ c' ≤ high, a mixture of
low·e_key, high·e_key and 0, and a sum of m such points is m times their mean. RowShare: of n > k
rows each adds a point of (k/n)·[low, high], shrunk towards 0 by the floors, since s/2^20 ≤ k/n, and
n of these sum to k times their mean; n ≤ k rows are as with Free. GroupRowShare: n_j rows of group j
add a_j·[low, high] together, a_j = min(n_j, r)·min(T, K)/T, shrunk by the floors. So 0 ≤ a_j ≤ r,
and Σa_j ≤ min(T, K) ≤ K, also without the rows that are in no listed group. The corners of these a
have ⌊K/r⌋ entries r and one K mod r (a corner meets all but one of its bounds a_j = 0, a_j = r), or
fewer; for each choice of an end in each group the totals are linear in a. Further keys divide a
group's total into parts of the same sum, which only lowers norms. GroupShare: in each key the sum
is clipped to r·[low, high]. In at most g keys it is in H at once. In m > g keys each sum is scaled
by g/m: that is the mean over all choices of g of the m keys of the vector that keeps these and
drops the others, hence in H; the floors shrink coordinates towards 0, and H contains with a point
all such shrunk ones. KeptKeys: for every salt g keys at most are kept, in which it is in H. ∎

Norms are convex, so over H (add-remove: v − 0) and H × H (replace: v' − v) they are greatest at
corners:

    add-remove   Δ1 = (g·r + q)·c     Δ2² = (g·r² + q²)·c²     Δ∞ = r·c
    replace      Δ1, Δ2²: the greatest of the table below      Δ∞ = r·w

with w = high − low ≤ 2c. Under replace two corners meet in t keys with r rows of each unit, which
change by r·w. The other g − t keys with r rows change by r·c for each unit. The keys with q rows, if
q > 0, are apart, one key of both, or keys in which the other unit has r rows. Let
d = min(|low|, |high|), and x = r·c + q·d, the most by which r rows of one unit and q of the other
change a key:

    q rows                     Δ1 beside t·r·w + 2(g − t)·r·c    Δ2² alike          t at most  keys
    apart                      2q·c                              2q²·c²             g          2
    in one key                 q·w                               q²·w²              g          1
    one beside r of the other  q·c − r·c + x                     q²c² − r²c² + x²   g − 1      1
    both beside r              −2r·c + 2x                        −2r²c² + 2x²       g − 1      0

Keys counts those beyond 2g − t; together they are at most as many as there are, which bounds t from
below. Each line is linear in t, so only its ends are tried. All norms are reached, but for floors
and contributions that no row of the data has. With (x, y) ↦ (|low|, |high|) and Cauchy and Schwarz,
Δ2² ≤ 2(g·r² + q²)(low² + high²).

Guarantee: no pair of neighbouring tables differs by more than the sensitivity stated here.

Refuses: with `UnboundedSensitivity` a share that does not bound the declared unit.

Law: tests/query/test_sensitivity.py::TestTotalsOfPeople
Proved: proofs/Totals.v::group_share_l2, proofs/Totals.v::replace_shared_l2
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from ...data.unit import People
from ...errors import UnboundedSensitivity
from ...frozen import frozen
from ...mechanisms.sensitivity import Sensitivity
from ...privacy.measures import ADD_REMOVE
from ..algebra.tally import Free, GroupRowShare, GroupShare, KeptKeys, RowShare, Tally, Term
from .relation_facts import multiplicity, neighbours_of, unit_of


@frozen
class Corner:
    """One unit counts in `groups` keys as `rows` rows each, and in one more key as `rest` rows.

    The totals of any unit are a mixture of such corners (theorem of the module).
    """

    groups: int
    rows: int
    rest: int = 0

    @property
    def all_rows(self) -> int:
        """Rows of the unit in all keys together."""
        return self.groups * self.rows + self.rest

    @property
    def squares(self) -> int:
        """Sum of the squares of the rows in each key."""
        return self.groups * self.rows**2 + self.rest**2

    def within(self, cells: int | None) -> Corner:
        """Return the corner for a question with `cells` keys; None if their number is unknown.

        A unit cannot count in more keys than there are.
        """
        if cells is None or cells > self.groups:
            return self
        return Corner(cells, self.rows)


def corner_of(tally: Tally) -> Corner:
    """Return in how many keys one unit counts at most, and as how many rows, by the tally's share.

    >>> from discreet.query.algebra.tally import Free, Tally
    >>> from discreet.query.bounds.sensitivity import corner_of
    >>> from discreet.data import Integer, Rows, Schema
    >>> from discreet.query.algebra.tree import Scan, Union
    >>> people = Scan(Schema("people", Rows(), {"age": Integer(0, 120)}))
    >>> corner_of(Tally(Union((people, people)), (), (), Free()))
    Corner(groups=1, rows=2, rest=0)

    Refuses: with `UnboundedSensitivity` a share that does not bound the declared unit.
    """
    person = isinstance(unit_of(tally.rows), People)
    match tally.share:
        case Free() if not person and not tally.people:
            return Corner(1, multiplicity(tally.rows))
        case RowShare(rows=rows) if person:
            return Corner(1, rows)
        case GroupRowShare(rows=rows, group_rows=group_rows) if person:
            in_one_group = min(rows, group_rows)
            groups, rest = divmod(rows, in_one_group)
            return Corner(groups, in_one_group, rest)
        case GroupShare(groups=groups, rows=rows) | KeptKeys(groups=groups, rows=rows) if person:
            return Corner(groups, rows)
    raise UnboundedSensitivity(
        "a person's rows need a share that bounds them; a row that is its own unit has none"
    )


def influence(tally: Tally, place: int, cells: int | None = None) -> Sensitivity:
    """Return the sensitivity of the totals of the term at `place`, a vector over `cells` keys.

    `cells` is None if the number of keys is not known. Totals are in whole steps times the term's
    weight. The neighbour relation is that of the tables.

    >>> import discreet as dp
    >>> from discreet.query.algebra.tally import GroupShare, Tally, Term
    >>> from discreet.query.bounds.sensitivity import influence
    >>> from discreet.query.algebra.expression import Constant, Field
    >>> from discreet.data import Integer, Schema
    >>> from discreet.query.algebra.tree import Scan
    >>> person = dp.People("id", max_rows=10)
    >>> schema = Schema("visits", person, {"minutes": Integer(0, 60)}, neighbours="replace")
    >>> minutes = Term(Field("minutes"), 1, 0, 60)
    >>> two = influence(Tally(Scan(schema), (), (minutes,), GroupShare(2, 5)), 0)
    >>> int(two.l1), int(two.squared_l2), int(two.linf)
    (1200, 360000, 300)
    """
    corner = corner_of(tally).within(cells)
    return _norms(tally, corner, _row_bounds(tally.terms[place]), cells)


def joint_influence(tally: Tally, most: int) -> Sensitivity:
    """Return the sensitivity of all terms together, if a row adds at most `most` to them in L1.

    Proof. Free: m rows add vectors of L1 norm at most `most` each, in whatever keys. RowShare(k):
    of n > k rows each coordinate is shrunk to at most k/n of itself, so n rows sum to k·most at
    most. GroupRowShare: the rows of group j sum to a_j·most at most, with a as above. In one group
    Δ2 and Δ∞ are at most Δ1.

    >>> from discreet.query.algebra.tally import Free, Tally, Term
    >>> from discreet.query.bounds.sensitivity import joint_influence
    >>> from discreet.query.algebra.expression import Call, Constant, Field, Function
    >>> from discreet.data import Integer, Rows, Schema
    >>> from discreet.query.algebra.tree import Scan
    >>> people = Scan(Schema("people", Rows(), {"age": Integer(0, 120)}))
    >>> rest = Call(Function.SUBTRACT, (Constant(120), Field("age")))
    >>> terms = (Term(Field("age"), 1, 0, 120), Term(rest, 1, 0, 120))
    >>> int(joint_influence(Tally(people, (), terms, Free()), 120).l1)
    120

    Refuses: with `UnboundedSensitivity` a share that clips each total for itself (GroupShare,
    people), where the terms of one person could add up to more; and replace neighbours, under
    which a row moves twice as much.
    """
    clips_each_total = tally.people or isinstance(tally.share, GroupShare | KeptKeys)
    if clips_each_total or neighbours_of(tally.rows) != ADD_REMOVE:
        raise UnboundedSensitivity(
            "totals are bounded together only where rows are added or removed and count in full"
        )
    corner = corner_of(tally)
    l1 = corner.all_rows * most
    return Sensitivity(l1, corner.squares * most**2, corner.rows * most, ADD_REMOVE, l1)


def pair_influence(tally: Tally, most: int) -> Sensitivity:
    """Return the sensitivity of two totals (C, R) of one cell under "replace" neighbours.

    A row adds (c, r) with |c| ≤ r ≤ `most`, or nothing.

    Proof. A unit adds (C, R) with |C| ≤ R ≤ k·most, k its rows: shares shrink c and r of a row
    alike, and floors towards 0 keep |c| ≤ r. Two units differ by |C − C'| + |R − R'|, which is at
    most R + R' + |R − R'| = 2·max(R, R').

    >>> import discreet as dp
    >>> from discreet.query.algebra.expression import Constant, Field
    >>> from discreet.query.algebra.tally import Free, Tally, Term
    >>> from discreet.query.algebra.tree import Scan
    >>> from discreet.query.bounds.sensitivity import pair_influence
    >>> ages = dp.Schema("ages", dp.Rows(), {"age": dp.Integer(-60, 60)}, neighbours="replace")
    >>> terms = (Term(Field("age"), 1, -60, 60), Term(Constant(True), 60, 0, 60))
    >>> int(pair_influence(Tally(Scan(ages), (), terms, Free()), 60).l1)
    120

    Refuses: with `UnboundedSensitivity` keys, which a replaced row may move between; other
    neighbours; and shares that clip each total for itself.

    Law: tests/statistics/test_partition.py::TestReplaced
    """
    clips_each_total = tally.people or isinstance(tally.share, GroupShare | KeptKeys)
    if tally.keys or clips_each_total or neighbours_of(tally.rows) == ADD_REMOVE:
        raise UnboundedSensitivity(
            "a pair of totals is bounded for replaced rows that count in full, without keys"
        )
    reach = 2 * corner_of(tally).all_rows * most
    return Sensitivity(reach, reach**2, reach, "replace", 2)


def _row_bounds(term: Term) -> tuple[int, int]:
    """Bound the contribution of one row, with 0 among its values."""
    low = min(term.low, 0)
    # A term that adds nothing is treated as one that adds a step, so that noise exists.
    least_high = 0 if term.low < 0 else 1
    return low, max(term.high, least_high)


def _within(count: int, cells: int | None) -> int:
    return count if cells is None else min(count, cells)


def _norms(tally: Tally, corner: Corner, bounds: tuple[int, int], cells: int | None) -> Sensitivity:
    """Return Δ1, Δ2² and Δ∞ by the module's formulas; `bounds` are those of one row's value."""
    low, high = bounds
    c = max(-low, high)
    if neighbours_of(tally.rows) == ADD_REMOVE:
        l1 = corner.all_rows * c
        changed = _changed_keys(tally, l1, cells, units=1)
        return Sensitivity(l1, corner.squares * c**2, corner.rows * c, ADD_REMOVE, changed)
    met = list(_met_corners(corner, bounds, cells))
    l1 = max(first for first, _ in met)
    squared = max(second for _, second in met)
    changed = _changed_keys(tally, l1, cells, units=2)
    return Sensitivity(l1, squared, corner.rows * (high - low), "replace", changed)


def _met_corners(
    corner: Corner, bounds: tuple[int, int], cells: int | None
) -> Iterator[tuple[int, int]]:
    """List Δ1 and Δ2² of the lines of the module's table for "replace", at both ends of t."""
    low, high = bounds
    g, r, q = corner.groups, corner.rows, corner.rest
    c = max(-low, high)
    d = min(-low, high)
    w = high - low
    x = r * c + q * d
    # What the keys with q rows add to Δ1 and Δ2², the most t, and the keys they take.
    ways = [
        (2 * q * c, 2 * (q * c) ** 2, g, 2),
        (q * w, (q * w) ** 2, g, 1),
        (q * c - r * c + x, (q * c) ** 2 - (r * c) ** 2 + x**2, g - 1, 1),
        (2 * x - 2 * r * c, 2 * x**2 - 2 * (r * c) ** 2, g - 1, 0),
    ]
    if not q:
        ways = [(0, 0, g, 0)]
    for more_l1, more_squared, most_shared, keys in ways:
        least_shared = 0 if cells is None else max(0, 2 * g + keys - cells)
        if least_shared > most_shared:
            continue
        for t in (least_shared, most_shared):
            l1 = t * r * w + 2 * (g - t) * r * c + more_l1
            squared = t * (r * w) ** 2 + 2 * (g - t) * (r * c) ** 2 + more_squared
            yield l1, squared


def _changed_keys(tally: Tally, l1: int, cells: int | None, *, units: int) -> int:
    """Bound the number of keys whose totals one unit changes."""
    # Totals are integers, so at most Δ1 of them change.
    changed = l1
    if isinstance(tally.share, Free):
        # A row is in one key.
        changed = units * multiplicity(tally.rows)
    if isinstance(tally.share, KeptKeys):
        changed = min(l1, units * tally.share.groups)
    return max(1, _within(changed, cells))


def distinct_influence(tally: Tally, keys: int | None = None) -> Sensitivity:
    """Return the sensitivity of *how many* values occur, a vector over `keys` keys.

    The tally counts whole people, or rows, per key and value with weight 1 and high 1. A person in
    more than g pairs of key and value has a share s < 2^20 and adds ⌊s/2^20⌋ = 0 to each, so a unit
    makes at most n = g·r pairs occur. Add-remove: at most n more in all keys together. Replace: n
    may go and n others come, in two keys or in one, where they balance.

    >>> import discreet as dp
    >>> from discreet.query.algebra.tally import GroupShare, Tally, Term
    >>> from discreet.query.bounds.sensitivity import distinct_influence
    >>> from discreet.query.algebra.expression import Constant, Field
    >>> from discreet.data import Category, Schema
    >>> from discreet.query.algebra.tree import Scan
    >>> city = Category(["Oslo", "Rome"])
    >>> visits = Scan(Schema("visits", dp.People("id", max_rows=3), {"city": city}))
    >>> one = Term(Constant(True), 1, 0, 1)
    >>> tally = Tally(visits, (Field("city"),), (one,), GroupShare(3, 1), people=True)
    >>> int(distinct_influence(tally).l1)
    3

    Law: tests/query/test_sensitivity.py::TestDistinct
    """
    reach = corner_of(tally).all_rows
    neighbours = neighbours_of(tally.rows)
    # In a single key the values that go and those that come balance.
    units = 2 if neighbours != ADD_REMOVE and keys != 1 else 1
    l1 = units * reach
    return Sensitivity(l1, units * reach**2, reach, neighbours, _within(l1, keys))


def _unit_total(tally: Tally) -> int:
    """Bound the contribution of one unit to all counts together: Σ over keys and values ≤ g·r·c."""
    _, high = _row_bounds(tally.terms[0])
    return corner_of(tally).all_rows * high


def rank_influence(tally: Tally, at: Fraction, keys: int | None = None) -> int:
    """Return the sensitivity of the rank scores of the quantile `at` = q, all keys together.

    The result is multiplied by the denominator of q, so that it is whole. The score of cell o in
    one key is −max(0, τ − C(o), C(o−1) − τ) with C the counts up to a cell, τ = q·n + a public
    shift. A unit that adds T to the key, t of it up to a cell, moves q·n − C by qT − t, from
    −(1−q)T to qT; the maximum of three moves no more. A choice in every key is one choice among all
    combinations, by the sum of the scores, and ΣT is at most the unit's total. Add-remove:
    max(q, 1−q)·ΣT. Replace: T goes and T' comes, max(q, 1−q)(ΣT + ΣT'); with one key only,
    qT' + (1−q)T at most, so ΣT.

    >>> from discreet.query.algebra.tally import Free, Tally, Term
    >>> from discreet.query.bounds.sensitivity import rank_influence
    >>> from fractions import Fraction
    >>> from discreet.query.algebra.expression import Constant, Field
    >>> from discreet.data import Integer, Rows, Schema
    >>> from discreet.query.algebra.tree import Scan
    >>> people = Scan(Schema("people", Rows(), {"age": Integer(0, 120)}))
    >>> ages = Tally(people, (Field("age"),), (Term(Constant(True), 1, 0, 1),), Free())
    >>> rank_influence(ages, Fraction(9, 10))
    9

    Law: tests/query/test_sensitivity.py::TestScores
    """
    total = _unit_total(tally)
    # max(q, 1 − q), times the denominator of q.
    steepest = max(at.numerator, at.denominator - at.numerator)
    if neighbours_of(tally.rows) == ADD_REMOVE:
        return total * steepest
    return total * (at.denominator if keys == 1 else 2 * steepest)


def vote_influence(tally: Tally) -> int:
    """Return the sensitivity of the scores of a mode.

    A score is the sum, over keys, of the count of the one value chosen in each key. One unit
    changes it by at most its total over all keys, which is returned. Add-remove: all scores rise
    or all fall (a monotone score). Replace: the unit that goes lowers a score by at most its
    total, the one that comes raises it by at most its total.

    Law: tests/query/test_sensitivity.py::TestScores
    """
    return _unit_total(tally)
