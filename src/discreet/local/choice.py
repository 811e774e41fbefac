"""One option of several, asked without trusting anybody: the best member of the two-level family for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.rational import Number, whole
from ..errors import InvalidArgument
from ..frozen import field, fill, frozen
from ..mechanisms.reading.allowance import largest_epsilon
from ..mechanisms.response.randomized import Frequencies, read_answers
from ..noise import Bits
from ..privacy.events import Response
from ..privacy.measures import Measure, PureDP
from .choose import Candidate, Ranking, candidate_of, choose, explain, make
from .designs.design import Flags, Integers, read_array
from .estimates.calibration import near_epsilon
from .estimates.consistent import project
from .estimates.estimate import Array, Estimate, Whose, read_level, read_of
from .estimates.inversion import holders
from .family import Family
from .law import TwoLevelLaw
from .reports.parameters import fields_of
from .reports.report import read_text
from .shuffle import Shuffle, shuffle_choice
from .spend import read_epsilon

_MOST = 1 << 22  # options


@frozen(init=False, repr=False)
class Choice:
    """Report one of several options under ε-DP for the person who reports.

    `options` are names, or their number d for options 0 … d − 1. The member of the family with the least variance is
    taken (`why` has the table; within 2 % the shortest report), unless `member` or `bits_per_report` say otherwise.

    >>> from discreet.local import Choice
    >>> from discreet.privacy import PureDP
    >>> browser = Choice(["chrome", "firefox", "safari"], PureDP(100))
    >>> reports = [browser.randomize(name) for name in ("firefox", "safari", "firefox")]
    >>> round(browser.estimate(reports)["firefox"], 3)
    0.667

    Refuses fewer than two options, options listed twice, budgets of zero; `randomize` refuses what is not listed.
    """

    names: tuple[str, ...] | None
    family: Family
    taken: Candidate
    places: dict[str, int] = field(compare=False)

    def __init__(
        self,
        options: int | Sequence[str],
        spend: Measure,
        *,
        member: str | None = None,
        bits_per_report: int | None = None,
    ) -> None:
        names, count = _read_options(options)
        epsilon = read_epsilon(largest_epsilon(lambda e: Response(e, 2), spend))
        taken = choose(count, epsilon, member=member, bits=bits_per_report).taken
        _fill(self, names, make(taken, epsilon), taken)

    @classmethod
    def for_error(
        cls, error: Number, *, n: int, options: int | Sequence[str], beta: Number = 0.05
    ) -> Choice:
        """Take the least ε (to 1 %) at which n reports tell a frequency to within `error`, with probability at least 1
        − β.

        Refuses an error that even true answers could not promise by Hoeffding's bound.
        """
        found = near_epsilon(
            lambda epsilon: cls(options, PureDP(epsilon)).error(n=n, beta=beta),
            error,
            least=Fraction(1, 1000),
            most=Fraction(64),
            close=Fraction(101, 100),
        )
        return cls(options, PureDP(found))

    def __repr__(self) -> str:
        return f"Choice({self.taken.facts.options} options, epsilon={self.epsilon}, member={self.taken.facts.member!r})"

    @property
    def epsilon(self) -> Fraction:
        """The privacy of one report."""
        return self.family.epsilon

    @property
    def law(self) -> TwoLevelLaw:
        """The chances p and q, the variance and the price."""
        return self.family.law

    @property
    def why(self) -> Ranking:
        """Why this member: the variance and the size of all of them."""
        return explain(self.taken.facts.options, self.epsilon, self.taken)

    @property
    def event(self) -> Response:
        """What one report costs the person who sends it (neighbours: replace the value)."""
        return self.law.event

    def randomize(self, value: object, *, bits: Bits | None = None) -> int | NDArray[Any]:
        """Draw the report of one option (a whole number), or an array of reports for a list of options."""
        if isinstance(value, np.ndarray | list | tuple):
            return self.family.draw(self._read(value), bits=bits)
        report = self.family.draw(self._read([value]), bits=bits)[0]
        return int.from_bytes(report.tobytes(), "little") if report.ndim else int(report)

    def estimate(
        self,
        reports: object,
        *,
        level: float = 0.95,
        of: Whose = "reporters",
        joint: bool = False,
        consistent: bool = False,
    ) -> Estimate:
        """Estimate how frequent every option is, each with an interval (`joint`: all at once, by Bonferroni).

        Unbiased; intervals of those who reported invert the exact law of the count, those of the population they were
        drawn from are Clopper and Pearson's (1934). With `consistent` the values, not the intervals, are moved to the
        nearest frequencies that are at least 0 and sum to 1: closer on the whole, but biased.

        Refuses no reports, and reports that no device could have sent.
        """
        share = (1 - read_level(level)) / (self.taken.facts.options if joint else 1)
        counts = self.family.counts(reports)
        n = len(self.family.read(reports))
        if n == 0:
            raise InvalidArgument("there are no reports; at least one is needed")
        law, values = self.law, _unbiased(counts, n, self.law)
        low, high, note = _intervals(counts, n, law, share, read_of(of))
        errors = np.sqrt([law.variance(n=n, frequency=f) for f in np.clip(values, 0, 1)])
        shown = project(values) if consistent else values
        notes = (
            note
            + ("; all at once" if joint else "")
            + ("; consistent, so biased" if consistent else "")
        )
        return Estimate(
            "frequency", self.labels, shown, errors, low, high, float(level), n, of, notes
        )

    def to_json(self) -> dict[str, object]:
        """Return the parameters, all a device needs."""
        return {
            "mechanism": "choice",
            "version": 1,
            "options": self.taken.facts.options if self.names is None else list(self.names),
            "epsilon": str(self.epsilon),
            "member": self.taken.facts.member,
            "parameter": self.taken.parameter,
        }

    @classmethod
    def from_json(cls, given: Mapping[str, object]) -> Choice:
        """Read parameters written by `to_json`.

        Refuses unknown or missing fields, other versions, and what the constructor refuses.
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
        """Read options as numbers from 0; the refusal carries none of them."""
        array = read_array(values, np.object_ if self.names else None)
        if self.names is None:
            return read_answers(array, self.taken.facts.options)
        found = [self.places.get(v, -1) if isinstance(v, str) else -1 for v in array]
        if -1 in found:
            raise InvalidArgument(
                "a value must be one of the options; list one such as 'other' for the rest"
            )
        return np.array(found, dtype=np.int64)

    def shuffled(self, n: int) -> Shuffle:
        """Return what one report costs among those of at least n people once a shuffler has taken the senders off."""
        return shuffle_choice(self.taken.facts, self.epsilon, n)

    def valid(self, reports: object) -> Flags:
        """Return which reports a device could have sent."""
        return self.family.valid(reports)

    def variance(self, *, n: int, frequency: float) -> float:
        """Return the variance of an estimated frequency, the people being who they are."""
        return self.law.variance(n=n, frequency=frequency)

    def error(self, *, n: int, beta: Number = 0.05) -> float:
        """Bound |estimate − frequency| for one option and any frequency, with probability at least 1 − β (Hoeffding
        1963).
        """
        return self.law.error(n=n, beta=beta)

    def influence(self, *, n: int, forged: int = 1) -> float:
        """Bound how far `forged` of n reports can move an estimate, whatever they say."""
        return self.law.influence(n=n, forged=forged)


def _fill(made: Choice, names: tuple[str, ...] | None, family: Family, taken: Candidate) -> None:
    places = {name: at for at, name in enumerate(names or ())}
    fill(made, names=names, family=family, taken=taken, places=places)


def _read_options(options: object) -> tuple[tuple[str, ...] | None, int]:
    if (
        isinstance(options, str)
        or not isinstance(options, int | np.integer | Sequence)
        or isinstance(options, bool)
    ):
        raise InvalidArgument("options must be a list of names, or how many there are")
    if not isinstance(options, Sequence):
        return None, whole(int(options), "options", least=2, most=_MOST)
    names = tuple(options)
    if len({read_text(name, "an option") for name in names}) != len(names):
        raise InvalidArgument("options must be text, each listed once")
    whole(len(names), "the number of options", least=2, most=_MOST)
    return names, len(names)


def _unbiased(counts: Integers, n: int, law: TwoLevelLaw) -> Array:
    return np.asarray((counts / n - law.q) / law.spread)


def _intervals(
    counts: Integers, n: int, law: TwoLevelLaw, beta: float, of: Whose
) -> tuple[Array, Array, str]:
    if of == "reporters":
        low, high = holders(counts, n, law.p, law.q, beta)
        return low, high, "by the exact law of the counts"
    ends = Frequencies(n, counts, law.p, law.q).interval(beta, sampled=True)
    return ends[:, 0], ends[:, 1], "Clopper and Pearson"
