"""Choice of the member of the two-level family: shortest report within 2 % of the least variance.

Reports that will be shuffled are compared at the price that is paid then: the variance times the
square of the privacy loss that the shuffler leaves.

member     best where (an outcome of the computation, not a rule that is followed)
direct     few options: d below about 3e^ε + 2
subset     up to a few hundred options, where nothing else comes within 2 % of it
geometry   many options: within 2 % of subset selection from 1,000 options on, in 2 or 3 bytes
           instead of hundreds
hadamard   small ε, where it is the geometry over two elements but for one output
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache

from ..arithmetic.rational import whole, whole_or_none
from ..errors import InvalidArgument
from ..frozen import field, frozen, replace
from ..show.table import html_table
from .designs.design import DesignSizes
from .designs.direct import direct_facts
from .designs.field import MAX_FIELD, prime_power
from .designs.geometry import geometry_facts
from .designs.hadamard import hadamard_facts
from .designs.subset import subset_facts
from .family import Family, direct, geometry, hadamard, subset
from .law import TwoLevelLaw
from .shuffle import shuffled_loss

MEMBERS = ("direct", "subset", "hadamard", "geometry")
NEAR = 0.02
"""Variances within 2 % of the least count as equal: then the report of fewer bytes wins."""
# Number of options beyond which the bytes of a subset are too many to send.
_MAX_SUBSET_OPTIONS = 4096
# Points that a server transforms: fewer than so many, or with all multiples fewer than so many.
_MAX_POINTS = 1 << 22
_MAX_VECTORS = 1 << 24
# Least variance that ratios are taken to; at large ε the variance underflows to 0.
_MIN_VARIANCE = 1e-300
FIELDS = tuple(q for q in range(2, MAX_FIELD + 1) if prime_power(q))


@frozen
class Candidate:
    """One member: its sizes, its parameter, its variance.

    The parameter is the size of a named subset, the number of elements of a field, or 0.

    `figure` is what members are compared by: the variance, or for shuffled reports the variance
    times the mean square of the loss that a shuffler leaves, n times.
    """

    facts: DesignSizes
    parameter: int
    variance: float
    figure: float = field(compare=False)


@frozen
class Ranking:
    """Best candidate of every member, the least figure first, and the one taken."""

    rows: tuple[Candidate, ...]
    taken: Candidate
    shuffled: bool = False

    @property
    def heading(self) -> str:
        """Name of the figure that members are compared by."""
        return "variance × price" if self.shuffled else "variance ×"

    def table(self) -> list[tuple[str, ...]]:
        """Return the rows as text: member, figure against the least, bits a report, taken."""
        least = max(self.rows[0].figure, _MIN_VARIANCE)
        table: list[tuple[str, ...]] = []
        for row in self.rows:
            ratio = f"{row.figure / least:.4f}"
            mark = "taken" if row is self.taken else ""
            table.append((_label(row), ratio, str(row.facts.bits), mark))
        return table

    def __str__(self) -> str:
        lines = [f"{'member':<14}{self.heading:>12}{'bits':>8}"]
        for name, ratio, bits, mark in self.table():
            line = f"{name:<14}{ratio:>12}{bits:>8}  {mark}"
            lines.append(line.rstrip())
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_table(("member", self.heading, "bits", ""), self.table())


def choose(
    options: int,
    epsilon: Fraction,
    *,
    member: str | None = None,
    bits: int | None = None,
    shuffled: bool = False,
) -> Ranking:
    """Compute the variance of every member and take the best.

    Summed over the options, the variance does not depend on the data. `member` admits one member
    only, `bits` only members whose report is no larger. With `shuffled` members are compared at the
    price of shuffled reports.

    >>> from discreet.local.choose import choose
    >>> from fractions import Fraction
    >>> choose(10_000, Fraction(1)).taken.facts.member, choose(4, Fraction(1)).taken.facts.member
    ('geometry', 'direct')
    >>> choose(10, Fraction(1), shuffled=True).taken.facts.member
    'direct'

    Guarantee: the variance is within 2 % of the least of all members that fit the limits; with
    `shuffled`, the variance times the price is.
    Refuses: `InvalidArgument` for an unknown member, and for limits that no member keeps.
    Law: `tests/local/test_choice.py::TestChooser`
    """
    if member is not None and member not in MEMBERS:
        raise InvalidArgument(f"member must be one of {', '.join(MEMBERS)}, got {member!r}")
    max_bits = whole_or_none(bits, "bits_per_report", least=1)
    sizes = []
    fitting = []
    for candidate in _candidates(options, epsilon, shuffled):
        if member not in (None, candidate.facts.member):
            continue
        report_bits = candidate.facts.bits
        sizes.append(report_bits)
        if max_bits is None or report_bits <= max_bits:
            fitting.append(candidate)
    if not fitting:
        shortest = min(sizes, default=0)
        raise InvalidArgument(
            f"no member reports on {options} options so; the shortest report has {shortest} bits"
        )
    least = max(min(c.figure for c in fitting), _MIN_VARIANCE)
    near = [c for c in fitting if c.figure <= least * (1 + NEAR)]

    def preference(candidate: Candidate) -> tuple[int, float, int]:
        # Rounded, so that the last bits of a float do not decide between equal variances.
        ratio = round(candidate.figure / least, 9)
        return candidate.facts.width, ratio, MEMBERS.index(candidate.facts.member)

    return explain(options, epsilon, min(near, key=preference), shuffled=shuffled)


def explain(
    options: int, epsilon: Fraction, taken: Candidate, *, shuffled: bool = False
) -> Ranking:
    """Rank the candidate that was taken beside the best candidate of every other member."""
    ranked = []
    for name in MEMBERS:
        rivals = []
        for candidate in _candidates(options, epsilon, shuffled):
            if candidate.facts.member == name:
                rivals.append(candidate)
        if rivals and name != taken.facts.member:
            ranked.append(min(rivals, key=_by_figure))
    ranked.append(taken)
    ranked.sort(key=_by_figure)
    return Ranking(tuple(ranked), taken, shuffled)


def _by_figure(candidate: Candidate) -> tuple[float, int]:
    return candidate.figure, candidate.facts.bits


def candidate_of(member: object, options: int, parameter: object, epsilon: Fraction) -> Candidate:
    """Read a member and its parameter, as parameters sent to devices name them.

    Refuses: `InvalidArgument` for an unknown member, an impossible parameter, and sizes that
    `choose` would not take.
    Law: `tests/local/test_limits.py::test_parameters_keep_the_limits_of_the_chooser`
    """
    match member:
        case "direct":
            return _candidate(direct_facts(options), whole(parameter, "parameter", most=0), epsilon)
        case "hadamard":
            unused = whole(parameter, "parameter", most=0)
            return _candidate(hadamard_facts(options), unused, epsilon)
        case "subset":
            most = min(options, _MAX_SUBSET_OPTIONS) - 1
            named = whole(parameter, "parameter", least=1, most=most)
            whole(options, "options of a subset", most=_MAX_SUBSET_OPTIONS)
            return _candidate(subset_facts(options, named), named, epsilon)
        case "geometry":
            q = whole(parameter, "parameter", least=2, most=MAX_FIELD)
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


@lru_cache(maxsize=256)
def _candidates(options: int, epsilon: Fraction, shuffled: bool) -> tuple[Candidate, ...]:
    listed = tuple(_listed(options, epsilon))
    if not shuffled:
        return listed
    return tuple(_priced(candidate, epsilon) for candidate in listed)


def _priced(candidate: Candidate, epsilon: Fraction) -> Candidate:
    return replace(candidate, figure=candidate.variance * shuffled_loss(candidate.facts, epsilon))


def _listed(options: int, epsilon: Fraction) -> Iterator[Candidate]:
    """List every member that can serve, at each parameter worth trying."""
    yield _candidate(direct_facts(options), 0, epsilon)
    yield _candidate(hadamard_facts(options), 0, epsilon)
    if options <= _MAX_SUBSET_OPTIONS:
        # The best size of a subset is d/(e^ε + 1) (Ye, Barg 2018), rounded one way or the other.
        # Beyond ε = 50 the size is 1 whatever ε is, and e^ε would leave the floats.
        middle = options / (math.exp(min(float(epsilon), 50.0)) + 1)
        smaller = max(1, math.floor(middle))
        larger = min(options - 1, math.ceil(middle))
        for named in {smaller, larger} - {0}:
            yield _candidate(subset_facts(options, named), named, epsilon)
    for q in FIELDS:
        facts = geometry_facts(options, q)
        if fits(facts, q):
            yield _candidate(facts, q, epsilon)


def fits(facts: DesignSizes, q: int) -> bool:
    """Return whether a server can transform the space of a geometry."""
    return facts.outputs < _MAX_POINTS or facts.outputs * (q - 1) < _MAX_VECTORS


def _candidate(facts: DesignSizes, parameter: int, epsilon: Fraction) -> Candidate:
    variance = TwoLevelLaw(facts, epsilon).total_variance
    return Candidate(facts, parameter, variance, variance)


def _label(row: Candidate) -> str:
    """Return the member's name, with its parameter where it has one."""
    if row.facts.member in ("subset", "geometry"):
        return f"{row.facts.member} {row.parameter}"
    return row.facts.member
