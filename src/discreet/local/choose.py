"""Which member of the two-level family: the one with the least variance, computed; the shortest report among equals.

member     best where (an outcome of the computation, not a rule that is followed)
direct     few options: d below about 3e^ε + 2
subset     up to a few hundred options, where nothing else comes within 2 % of it
geometry   many options: within 2 % of subset selection from 1,000 options on, in 2 or 3 bytes instead of hundreds
hadamard   small ε, where it is the geometry over two elements but for one output
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache

from ..arithmetic.rational import whole
from ..errors import InvalidArgument
from ..frozen import frozen
from ..show.table import html_table
from .designs.design import Facts
from .designs.direct import direct_facts
from .designs.field import LARGEST, prime_power
from .designs.geometry import geometry_facts
from .designs.hadamard import hadamard_facts
from .designs.subset import subset_facts
from .family import Family, direct, geometry, hadamard, subset
from .law import TwoLevelLaw

MEMBERS = ("direct", "subset", "hadamard", "geometry")
NEAR = 0.02
"""Variances within 2 % of the least count as equal: then the shorter report wins."""
_LISTED = 4096  # options beyond which a subset is no report to send
_POINTS, _VECTORS = (
    1 << 22,
    1 << 24,
)  # points that a server transforms: so many, or with all multiples so many
FIELDS = tuple(q for q in range(2, LARGEST + 1) if prime_power(q))


@frozen
class Candidate:
    """One member: its sizes, its parameter (options named, or elements of the field), its variance."""

    facts: Facts
    parameter: int
    variance: float


@frozen
class Ranking:
    """The best of every member, the least variance first, and which one was taken."""

    rows: tuple[Candidate, ...]
    taken: Candidate

    def table(self) -> list[tuple[str, ...]]:
        """Return the rows as text: member, variance against the least, bits a report, taken or not."""
        least = max(self.rows[0].variance, 1e-300)
        return [
            (
                _name(row),
                f"{row.variance / least:.4f}",
                str(row.facts.bits),
                "taken" if row is self.taken else "",
            )
            for row in self.rows
        ]

    def __str__(self) -> str:
        lines = [
            f"{name:<14}{ratio:>12}{bits:>8}  {mark}".rstrip()
            for name, ratio, bits, mark in self.table()
        ]
        return "\n".join([f"{'member':<14}{'variance ×':>12}{'bits':>8}", *lines])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_table(("member", "variance ×", "bits", ""), self.table())


def choose(
    options: int, epsilon: Fraction, *, member: str | None = None, bits: int | None = None
) -> Ranking:
    """Compute the variance of every member (summed over the options it does not depend on the data), and take the best.

    `member` admits one only, `bits` only those whose report is no larger.

    >>> from discreet.local.choose import choose
    >>> from fractions import Fraction
    >>> choose(10_000, Fraction(1)).taken.facts.member, choose(4, Fraction(1)).taken.facts.member
    ('geometry', 'direct')

    Refuses an unknown member, and limits that no member keeps.
    """
    if member is not None and member not in MEMBERS:
        raise InvalidArgument(f"member must be one of {', '.join(MEMBERS)}, got {member!r}")
    most = None if bits is None else whole(bits, "bits_per_report", least=1)
    known = [c for c in _candidates(options, epsilon) if member in (None, c.facts.member)]
    fit = [c for c in known if most is None or c.facts.bits <= most]
    if not fit:
        shortest = min((c.facts.bits for c in known), default=0)
        raise InvalidArgument(
            f"no member reports on {options} options so; the shortest report has {shortest} bits"
        )
    best = max(min(c.variance for c in fit), 1e-300)
    near = [c for c in fit if c.variance <= best * (1 + NEAR)]
    taken = min(
        near,
        key=lambda c: (c.facts.width, round(c.variance / best, 9), MEMBERS.index(c.facts.member)),
    )
    return explain(options, epsilon, taken)


def explain(options: int, epsilon: Fraction, taken: Candidate) -> Ranking:
    """Put the candidate that was taken beside the best of every member."""
    known = [c for c in _candidates(options, epsilon) if c.facts.member != taken.facts.member]
    others = [_best(known, name) for name in {c.facts.member for c in known}]
    return Ranking(tuple(sorted([*others, taken], key=lambda c: c.variance)), taken)


def candidate_of(member: object, options: int, parameter: object, epsilon: Fraction) -> Candidate:
    """Read a member and its parameter, as parameters sent to devices name them.

    Refuses an unknown member, a parameter that makes none, and sizes that `choose` would not take.
    """
    match member:
        case "direct":
            return _candidate(direct_facts(options), whole(parameter, "parameter", most=0), epsilon)
        case "hadamard":
            return _candidate(
                hadamard_facts(options), whole(parameter, "parameter", most=0), epsilon
            )
        case "subset":
            named = whole(parameter, "parameter", least=1, most=min(options, _LISTED) - 1)
            whole(options, "options of a subset", most=_LISTED)
            return _candidate(subset_facts(options, named), named, epsilon)
        case "geometry":
            q = whole(parameter, "parameter", least=2, most=LARGEST)
            if q in FIELDS and fits(geometry_facts(options, q), q):
                return _candidate(geometry_facts(options, q), q, epsilon)
    raise InvalidArgument(
        "the member of the family, or its parameter, is not known to this release"
    )


def make(taken: Candidate, epsilon: Fraction) -> Family:
    """Make the family of a candidate."""
    options = taken.facts.options
    match taken.facts.member:
        case "direct":
            return direct(options, epsilon)
        case "subset":
            return subset(options, epsilon, taken.parameter)
        case "hadamard":
            return hadamard(options, epsilon)
        case _:
            return geometry(options, epsilon, taken.parameter)


def _best(fit: list[Candidate], name: str) -> Candidate:
    return min((c for c in fit if c.facts.member == name), key=lambda c: (c.variance, c.facts.bits))


@lru_cache(maxsize=256)
def _candidates(options: int, epsilon: Fraction) -> tuple[Candidate, ...]:
    return tuple(_listed(options, epsilon))


def _listed(options: int, epsilon: Fraction) -> Iterator[Candidate]:
    """List every member that can serve, at each parameter worth trying."""
    yield _candidate(direct_facts(options), 0, epsilon)
    yield _candidate(hadamard_facts(options), 0, epsilon)
    if options <= _LISTED:
        middle = options / (math.exp(min(float(epsilon), 50.0)) + 1)
        for named in {max(1, math.floor(middle)), min(options - 1, math.ceil(middle))} - {0}:
            yield _candidate(subset_facts(options, named), named, epsilon)
    for q in FIELDS:
        facts = geometry_facts(options, q)
        if fits(facts, q):
            yield _candidate(facts, q, epsilon)


def fits(facts: Facts, q: int) -> bool:
    """Return whether a server can transform the space of a geometry."""
    return facts.outputs < _POINTS or facts.outputs * (q - 1) < _VECTORS


def _candidate(facts: Facts, parameter: int, epsilon: Fraction) -> Candidate:
    return Candidate(facts, parameter, TwoLevelLaw(facts, epsilon).total_variance)


def _name(row: Candidate) -> str:
    words = {"subset": f"subset {row.parameter}", "geometry": f"geometry {row.parameter}"}
    return words.get(row.facts.member, row.facts.member)
