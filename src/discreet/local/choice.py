"""Choice: the frequency of each of several options in the local model, without trust in anybody.

The frequency oracle is a member of the two-level family (`family`): k-ary randomized response,
subset selection, Hadamard response or projective-geometry response. The member with the least
variance for the number of options and ε is taken (`choose`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

import numpy as np

from ..arithmetic.arrays import AnyArray, Flags
from ..arithmetic.rational import Number, whole, whole_or_none
from ..errors import InvalidArgument
from ..frozen import field, fill, frozen
from ..mechanisms.reading.allowance import largest_epsilon
from ..mechanisms.response.randomized import Frequencies, read_answers
from ..noise import Bits
from ..privacy.events import Response, Shuffled
from ..privacy.measures import ApproxDP, Measure, PureDP
from .choose import Candidate, Ranking, candidate_of, choose, explain, make
from .designs.design import Integers, read_array
from .estimates.calibration import roughly_least_epsilon
from .estimates.consistent import project
from .estimates.estimate import Array, Estimate, Whose, read_level, read_of
from .estimates.inversion import frequency_intervals
from .family import Family
from .law import TwoLevelLaw
from .reports.parameters import fields_of
from .reports.report import read_text
from .shuffle import Shuffle, largest_report_epsilon, shuffle_choice
from .spend import read_epsilon

_MAX_OPTIONS = 1 << 22


@frozen(init=False, repr=False)
class Choice:
    """Report one of several options under ε-DP for the person who reports.

    `options` are names, or their number d for options 0 … d − 1. The member of the family with the
    least variance is taken; within 2 % the one with the shortest report (`why` has the table).
    `member` or `bits_per_report` restrict the choice.

    With `shuffled=n` a shuffler will remove the senders from the reports of at least n people, and
    the member is taken that has the least variance times price after shuffling. If `spend` is an
    ApproxDP, it is that price: a report then has the largest ε for which n shuffled reports keep
    it. If `spend` is a PureDP, it is the ε of a report, as without `shuffled`.

    >>> from discreet.local import Choice
    >>> from discreet.privacy import PureDP
    >>> browser = Choice(["chrome", "firefox", "safari"], PureDP(100))
    >>> reports = [browser.randomize(name) for name in ("firefox", "safari", "firefox")]
    >>> round(browser.estimate(reports)["firefox"], 3)
    0.667
    >>> from discreet.privacy import ApproxDP
    >>> Choice(10, ApproxDP("1/2", "1e-6"), shuffled=200)
    Choice(10 options, epsilon=442871/250000, member='direct')

    Guarantee: every report is ε-DP (neighbours: replace the value), by exact integer sampling.
    Refuses: `InvalidArgument` for fewer than two options, options listed twice and budgets of
    zero; `randomize` refuses values that are not listed.
    Law: `tests/local/test_family.py::TestExactLaw`
    Law: `tests/local/test_choice.py::TestRefusals`
    """

    names: tuple[str, ...] | None
    family: Family
    taken: Candidate
    places: dict[str, int] = field(compare=False)
    people: int | None = field(compare=False)

    def __init__(
        self,
        options: int | Sequence[str],
        spend: Measure,
        *,
        member: str | None = None,
        bits_per_report: int | None = None,
        shuffled: int | None = None,
    ) -> None:
        names, count = _read_options(options)
        people = whole_or_none(shuffled, "shuffled", least=1)

        def best(epsilon: Fraction) -> Candidate:
            ranking = choose(
                count, epsilon, member=member, bits=bits_per_report, shuffled=people is not None
            )
            return ranking.taken

        epsilon = _report_epsilon(spend, people, best)
        taken = best(epsilon)
        _fill(self, names, make(taken, epsilon), taken, people)

    @classmethod
    def for_error(
        cls, error: Number, *, n: int, options: int | Sequence[str], beta: Number = 0.05
    ) -> Choice:
        """Make the choice with the least ε (to 1 %) whose n reports keep a frequency's error.

        The error is kept with probability at least 1 − β.

        Refuses: `InvalidArgument` for an error that even true answers could not promise by
        Hoeffding's bound.
        """

        def error_at(epsilon: Fraction) -> float:
            return cls(options, PureDP(epsilon)).error(n=n, beta=beta)

        epsilon = roughly_least_epsilon(
            error_at,
            error,
            least=Fraction(1, 1000),
            most=Fraction(64),
            close=Fraction(101, 100),
        )
        return cls(options, PureDP(epsilon))

    def __repr__(self) -> str:
        facts = self.taken.facts
        return f"Choice({facts.options} options, epsilon={self.epsilon}, member={facts.member!r})"

    @property
    def epsilon(self) -> Fraction:
        """The privacy parameter of one report."""
        return self.family.epsilon

    @property
    def law(self) -> TwoLevelLaw:
        """The probabilities p and q, the variance and the price."""
        return self.family.law

    @property
    def why(self) -> Ranking:
        """The reason for this member: variance and report size of all members."""
        is_shuffled = self.people is not None
        return explain(self.taken.facts.options, self.epsilon, self.taken, shuffled=is_shuffled)

    @property
    def event(self) -> Response:
        """Privacy event of one report, for the person who sends it (neighbours: replace value)."""
        return self.law.event

    def randomize(self, value: object, *, bits: Bits | None = None) -> int | AnyArray:
        """Draw the report of one option (a whole number), or an array of reports for a list."""
        if isinstance(value, np.ndarray | list | tuple):
            return self.family.draw(self._read(value), bits=bits)
        report = self.family.draw(self._read([value]), bits=bits)[0]
        if report.ndim:
            # A subset is a row of bytes; a single report is sent as one whole number.
            return int.from_bytes(report.tobytes(), "little")
        return int(report)

    def estimate(
        self,
        reports: object,
        *,
        level: float = 0.95,
        of: Whose = "reporters",
        joint: bool = False,
        consistent: bool = False,
    ) -> Estimate:
        """Estimate the frequency of every option, each with a confidence interval.

        With `joint` the intervals hold all at once, by Bonferroni. With `consistent` the values,
        not the intervals, are moved to the nearest frequencies that are at least 0 and sum to 1:
        closer on the whole, but biased.

        Guarantee: values are unbiased unless `consistent`. Intervals of those who reported invert
        the exact law of the count. Intervals of the population they were drawn from are those of
        Clopper and Pearson (1934).
        Refuses: `InvalidArgument` for no reports, and reports that no device could have sent.
        Law: `tests/local/test_choice.py::TestIntervals`
        """
        beta = 1 - read_level(level)
        if joint:
            beta = beta / self.taken.facts.options
        counts = self.family.counts(reports)
        n = len(self.family.read(reports))
        if n == 0:
            raise InvalidArgument("there are no reports; at least one is needed")
        law = self.law
        values = np.asarray((counts / n - law.q) / law.spread)
        low, high, note = _intervals(counts, n, law, beta, read_of(of))
        variances = [law.variance(n=n, frequency=f) for f in np.clip(values, 0, 1)]
        errors = np.sqrt(variances)
        if joint:
            note += "; all at once"
        if consistent:
            # Errors and intervals stay those of the unbiased values.
            values = project(values)
            note += "; consistent, so biased"
        return Estimate(
            "frequency", self.labels, values, errors, low, high, float(level), n, of, note
        )

    def to_json(self) -> dict[str, object]:
        """Return the parameters: all that a device needs."""
        options = self.taken.facts.options if self.names is None else list(self.names)
        return {
            "mechanism": "choice",
            "version": 1,
            "options": options,
            "epsilon": str(self.epsilon),
            "member": self.taken.facts.member,
            "parameter": self.taken.parameter,
        }

    @classmethod
    def from_json(cls, given: Mapping[str, object]) -> Choice:
        """Read parameters written by `to_json`.

        Refuses: `InvalidArgument` for unknown or missing fields, other versions, and anything
        that the constructor refuses.
        Law: `tests/local/test_choice.py::TestParameters`
        """
        data = fields_of(given, "choice", ("options", "epsilon", "member", "parameter"))
        names, count = _read_options(data["options"])
        epsilon = read_epsilon(data["epsilon"])
        taken = candidate_of(data["member"], count, data["parameter"], epsilon)
        made = cls.__new__(cls)
        _fill(made, names, make(taken, epsilon), taken)
        return made

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the options; numbers as text."""
        return self.names or tuple(str(i) for i in range(self.taken.facts.options))

    def _read(self, values: object) -> Integers:
        """Read options as numbers from 0; no refusal carries a value."""
        array = read_array(values, np.object_ if self.names else None)
        if self.names is None:
            return read_answers(array, self.taken.facts.options)
        indices = []
        for value in array.reshape(-1):
            index = -1
            # Only text is looked up, by its letters: other values may not be hashable, and the
            # methods of an object may fail.
            if issubclass(type(value), str):
                index = self.places.get(str.__str__(value), -1)
            if index < 0:
                raise InvalidArgument(
                    "a value must be one of the options; list one such as 'other' for the rest"
                )
            indices.append(index)
        return np.array(indices, dtype=np.int64)

    def shuffled(self, n: int) -> Shuffle:
        """Return the price of one of at least n shuffled reports, by the mechanism's own law."""
        return shuffle_choice(self.taken.facts, self.epsilon, n)

    def valid(self, reports: object) -> Flags:
        """Return which reports a device could have sent."""
        return self.family.valid(reports)

    def variance(self, *, n: int, frequency: float) -> float:
        """Return the variance of an estimated frequency, over the coins alone."""
        return self.law.variance(n=n, frequency=frequency)

    def error(self, *, n: int, beta: Number = 0.05) -> float:
        """Bound |estimate − frequency| for one option and any frequency (Hoeffding 1963).

        The bound holds with probability at least 1 − β.
        """
        return self.law.error(n=n, beta=beta)

    def influence(self, *, n: int, forged: int = 1) -> float:
        """Bound how far `forged` of n reports can move an estimate, whatever they contain."""
        return self.law.influence(n=n, forged=forged)


def _fill(
    made: Choice,
    names: tuple[str, ...] | None,
    family: Family,
    taken: Candidate,
    people: int | None = None,
) -> None:
    """Set the fields of a choice; `taken` is the member of the family."""
    indices = {name: index for index, name in enumerate(names or ())}
    fill(made, names=names, family=family, taken=taken, places=indices, people=people)


def _report_epsilon(
    spend: Measure, people: int | None, best: Callable[[Fraction], Candidate]
) -> Fraction:
    """Return the largest ε of a report that the spend allows, shuffled among `people` or not."""
    if people is None or not isinstance(spend, ApproxDP) or not spend.delta:
        return read_epsilon(largest_epsilon(lambda e: Response(e, 2), spend))
    read_epsilon(spend.epsilon)

    def event(epsilon: Fraction) -> Shuffled:
        return shuffle_choice(best(epsilon).facts, epsilon, people).event

    return largest_report_epsilon(spend, event)


def _read_options(options: object) -> tuple[tuple[str, ...] | None, int]:
    """Read the names of the options, if they have names, and their number."""
    # A text is a sequence of letters and a bool an int: neither was meant.
    misread = isinstance(options, str | bool)
    if misread or not isinstance(options, int | np.integer | Sequence):
        raise InvalidArgument("options must be a list of names, or how many there are")
    if not isinstance(options, Sequence):
        return None, whole(int(options), "options", least=2, most=_MAX_OPTIONS)
    names = tuple(options)
    if len({read_text(name, "an option") for name in names}) != len(names):
        raise InvalidArgument("options must be text, each listed once")
    whole(len(names), "the number of options", least=2, most=_MAX_OPTIONS)
    return names, len(names)


def _intervals(
    counts: Integers, n: int, law: TwoLevelLaw, beta: float, of: Whose
) -> tuple[Array, Array, str]:
    """Return both ends of every interval, and the theorem by which they hold."""
    if of == "reporters":
        low, high = frequency_intervals(counts, n, law.p, law.q, beta)
        return low, high, "by the exact law of the counts"
    ends = Frequencies(n, counts, law.p, law.q).interval(beta, sampled=True)
    return ends[:, 0], ends[:, 1], "Clopper and Pearson"
