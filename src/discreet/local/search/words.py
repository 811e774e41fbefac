"""Heavy hitters in the local model: frequent words that nobody listed.

Prefixes are found round by round (Wang, Li, Jha 2019), and nobody reports twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from ...arithmetic.rational import Number, whole
from ...arithmetic.rounding import up
from ...errors import InvalidArgument
from ...frozen import fill, frozen, replace
from ...mechanisms.laws.error_bound import parameter_repr
from ...mechanisms.response.count import clopper_pearson
from ...noise import Bits, uniform
from ...privacy.events import Response
from ...privacy.measures import Measure, PureDP
from ..choose import candidate_of, choose, make
from ..deployments.flip import epsilon_of
from ..estimates.calibration import reach_error
from ..estimates.estimate import Array, Estimate, read_level
from ..family import Family, extra_option
from ..law import TwoLevelLaw
from ..reports.parameters import fields_of, read_wholes, write_wholes
from .oracle import best_extra_option_field, frequencies_of
from .prefixes import (
    PrefixEvidence,
    add_round,
    certain_words,
    clear_fraction,
    no_evidence,
    rank,
    without_extensions,
)
from .rounds import Stage, check_rising, groups_of, people_of, stages_of
from .spelling import read_words, text_of

_Ints: TypeAlias = NDArray[np.int64]
# Evidence about one prefix: its frequency, the variance, and ln of the sum of its rivals.
_Evidence: TypeAlias = tuple[float, float, float]


@frozen(init=False)
class Words:
    """Search for the `top` most frequent words of `bits` bits among words nobody could list.

    Words of at most 20 bits need one round. For longer ones people are divided at random into
    groups, one for each round:

    1. A few small groups, the scouts, search in steps of up to 14 bits. Words that they find beyond
       doubt count as "none" in the rounds of step 2. A separate set of outputs for "none" makes
       such reports cost the others less noise (`oracle`).
    2. The next group reports the first 20 bits of its words. The 8,192 likeliest prefixes are
       published. The group after it reports which of their extensions by at most 7 bits its word
       begins with, or none; and so on.
    3. The last group reports which of the likeliest words it holds.

    Words are ranked by the evidence of all rounds (`prefixes`). The values and intervals returned
    are those of the last round alone.

    A word is text, of which the first bits/8 bytes in UTF-8 count, or a whole number below 2^bits.

    >>> import discreet as dp
    >>> from discreet.local import Words
    >>> words = Words(bits=16, spend=dp.PureDP(2), top=2)
    >>> found = words.find(["hi"] * 1200 + ["ho"] * 800)
    >>> sorted(found.names)
    ['hi', 'ho']

    Guarantee: ε for each person in total, not ε for each round. A device draws its group without
    looking at its word and reports once, by a mechanism that is ε-private for every list of
    candidates. The list depends on reports of other people only (sequentially interactive local
    privacy; Kasiviswanathan et al. 2011, Duchi et al. 2013).
    Refuses: `InvalidArgument` for fewer than 8 or more than 62 bits, and for words that are
    neither text nor numbers.
    Law: `tests/local/test_words.py::test_frequent_words_are_found_and_their_intervals_hold`
    """

    bits: int
    epsilon: Fraction
    top: int

    __repr__ = parameter_repr

    def __init__(self, *, bits: int = 48, spend: Measure, top: int = 20) -> None:
        word_bits = whole(bits, "bits", least=8, most=62)
        epsilon = epsilon_of(spend)
        wanted = whole(top, "top", least=1, most=1 << 10)
        fill(self, bits=word_bits, epsilon=epsilon, top=wanted)

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The rounds: known and asked bits, and the fraction of the people of each."""
        return stages_of(self.bits, self.top)

    @property
    def lengths(self) -> tuple[int, ...]:
        """Number of bits known after each round: scouts, then the search proper, then counting."""
        return tuple(stage.length for stage in self.stages)

    @property
    def event(self) -> Response:
        """Privacy event of the whole search for each person (neighbours: replace the word)."""
        return Response(self.epsilon, 2)

    def open(self) -> WordRound:
        """Return the first round."""
        return WordRound(self, 0, (0,))

    def draw_group(self, *, bits: Bits | None = None) -> int:
        """Draw the round in which a device reports.

        A device draws once in its life, without looking at its word.
        """
        drawn = uniform(people_of(self.stages), bits=bits)
        groups = groups_of(self.stages, np.array([drawn]))
        return int(groups[0])

    def find(
        self, values: Sequence[str] | NDArray[Any], *, level: float = 0.95, bits: Bits | None = None
    ) -> Estimate:
        """Simulate all devices and the server: search among these words."""
        words = self.read(values)
        drawn = uniform(people_of(self.stages), words.size, bits=bits)
        groups = groups_of(self.stages, drawn)
        asked = self.open()
        for index in range(len(self.stages) - 1):
            reports = asked.draw(words[groups == index], bits=bits)
            asked = asked.narrow(reports)
        last_reports = asked.draw(words[groups == asked.index], bits=bits)
        return asked.estimate(last_reports, level=level)

    def read(self, values: object) -> _Ints:
        """Read words as numbers of `bits` bits; no refusal carries a word."""
        return read_words(values, self.bits)

    def text(self, number: int) -> str:
        """Return the text of a number; numbers that are no text are shown in hexadecimal."""
        return text_of(number, self.bits)

    def variance(self, *, n: int, frequency: float) -> float:
        """Return the variance of a word's frequency in the last round of a search among n people.

        About a tenth of them take part in it; all of them, for words of at most 20 bits.
        """
        return self._last_law().variance(n=self._last_people(n), frequency=frequency)

    def error(self, *, n: int, beta: Number = 0.05) -> float:
        """Bound |estimate − frequency| of one word in the last round of a search among n people.

        The bound holds with probability at least 1 − β.
        """
        return self._last_law().error(n=self._last_people(n), beta=beta)

    @classmethod
    def for_error(cls, error: Number, *, n: int, beta: Number = 0.05, **shape: int) -> Words:
        """Make the search with the least ε whose last round is within `error` for n people.

        The error is kept with probability at least 1 − β. `shape` gives `bits` and `top`.
        """

        def make_words(spend: Measure) -> Words:
            return cls(spend=spend, **shape)

        return reach_error(make_words, error, n=n, beta=beta)

    def influence(self, *, n: int, forged: int = 1) -> float:
        """Bound how far `forged` reports, all in the last round, can move an estimate there."""
        people = self._last_people(n)
        # Rounded up: a bound on harm is never too small.
        forged_here = min(forged, people)
        return up(self._last_law().influence(n=people, forged=forged_here))

    def _last_people(self, n: int) -> int:
        """Return how many of n people the last round asks, rounded down: errors grow so."""
        thousandths = self.stages[-1].people
        people = whole(n, "n", least=1) * thousandths
        return max(1, people // people_of(self.stages))

    def _last_law(self) -> TwoLevelLaw:
        """Return the law of the last round with as many candidates as it can have."""
        last = len(self.stages) - 1
        prefixes = tuple(range(self.stages[last].most))
        return WordRound(self, last, prefixes).family.law


@frozen
class WordRound:
    """One round: a device reports which extension of a published prefix its word begins with.

    | field | meaning |
    |---|---|
    | `prefixes` | prefixes kept so far, rising |
    | `found` | words that scouts found; they count as "none of them" |
    | `field` | elements of the geometry's field with a separate set for "none"; 0: without one |
    | `heard` | evidence of earlier rounds about `found`, then `prefixes`; no device needs it |

    Refuses: `InvalidArgument` for prefixes or found words that are out of order, have too many bits
    or are too many, no prefix, and a separate set in the first or the last round.
    Law: `tests/local/test_limits.py::test_prefixes_rise_within_their_bits`
    Law: `tests/local/test_words.py::test_a_word_that_begins_otherwise_or_is_found_is_none_of_them`
    """

    words: Words
    index: int
    prefixes: tuple[int, ...]
    found: tuple[int, ...] = ()
    field: int = 0
    heard: tuple[_Evidence, ...] = ()

    def __post_init__(self) -> None:
        last = len(self.words.stages) - 1
        whole(self.index, "index", most=last)
        check_rising(self.prefixes, self.stage.known, "prefixes", most=self.stage.most)
        check_rising(self.found, self.words.bits, "found words", most=self.words.top)
        if not self.prefixes:
            raise InvalidArgument("a round needs at least one prefix")
        if self.field and self.index in (0, last):
            raise InvalidArgument("the first round and the last have no set apart")
        if self.field:
            candidate_of("geometry", self.options - 1, self.field, self.words.epsilon)

    @property
    def stage(self) -> Stage:
        """The bits that the round knows and asks for."""
        return self.words.stages[self.index]

    @property
    def step(self) -> int:
        """Number of bits this round adds."""
        return self.stage.length - self.stage.known

    @property
    def options(self) -> int:
        """Number of answers: every extension and, after the first round, 'none of them'."""
        return (len(self.prefixes) << self.step) + (self.index > 0)

    @property
    def family(self) -> Family:
        """The member of the two-level family with the least variance for `options` answers."""
        epsilon = self.words.epsilon
        if self.field:
            return extra_option(self.options, epsilon, self.field)
        return make(choose(self.options, epsilon).taken, epsilon)

    @property
    def event(self) -> Response:
        """Privacy event of one report, for the person who sends it."""
        return self.family.law.event

    @overload
    def randomize(self, value: str | int, *, bits: Bits | None = None) -> int: ...
    @overload
    def randomize(self, value: NDArray[Any], *, bits: Bits | None = None) -> NDArray[Any]: ...
    def randomize(
        self, value: str | int | NDArray[Any], *, bits: Bits | None = None
    ) -> int | NDArray[Any]:
        """Draw the report of one word, or of words of different people of this round's group."""
        reports = self.draw(self.words.read(value), bits=bits)
        if np.ndim(value):
            return reports
        if reports.ndim > 1:
            # A subset is a row of bytes; a single report is sent as one whole number.
            return int.from_bytes(reports[0].tobytes(), "little")
        return int(reports[0])

    def draw(self, words: _Ints, *, bits: Bits | None = None) -> NDArray[Any]:
        """Randomize words already read."""
        prefix = words >> (self.words.bits - self.stage.known)
        up_to_length = words >> (self.words.bits - self.stage.length)
        extension = up_to_length & ((1 << self.step) - 1)
        kept = np.array(self.prefixes, dtype=np.int64)
        # A prefix above all kept ones is searched at the end; the comparison below rejects it.
        position = np.minimum(np.searchsorted(kept, prefix), kept.size - 1)
        found = np.array(self.found, dtype=np.int64)
        already_found = np.isin(words, found)
        is_candidate = (kept[position] == prefix) & ~already_found
        candidate = (position << self.step) + extension
        none_of_them = self.options - 1
        return self.family.draw(np.where(is_candidate, candidate, none_of_them), bits=bits)

    def narrow(self, reports: NDArray[Any]) -> WordRound:
        """Return the next round, by the evidence of these reports and of earlier rounds.

        After the last round of scouts, the words present beyond doubt become `found`. After other
        rounds the likeliest extensions are kept as `prefixes`.

        Refuses: `InvalidArgument` for the last round, and for reports no device could have sent.
        Law: `tests/local/test_words.py::test_scouts_find_words_and_the_search_leaves_them_out`
        """
        if self.index + 1 == len(self.words.stages):
            raise InvalidArgument("this is the last round; it tells the words by estimate(reports)")
        family = self.family
        people = max(1, len(reports))
        own, variance = frequencies_of(family, family.counts(reports), people)
        evidence = self._weighed(own, variance)
        following = self.words.stages[self.index + 1]
        if following.known == self.words.bits:
            return self._counting_round(evidence)
        if following.known == 0:
            return self._round_after_scouts(evidence)
        best = np.argsort(-evidence.odds, kind="stable")[: following.most]
        kept = self._evidence_by_word(evidence, best)
        of_found = self.heard[: len(self.found)]
        none = 1 - clear_fraction(own, variance, best)
        heard = (*of_found, *kept.values())
        return self._next(tuple(kept), self.found, heard, none)

    def _counting_round(self, evidence: PrefixEvidence) -> WordRound:
        """Make the last round: its candidates are the likeliest words and those scouts found."""
        best = rank(evidence, 2 * self.words.top)
        by_word = self._evidence_by_word(without_extensions(evidence, self.words.bits), best)
        # A round read from JSON has no evidence about found words; they are then left out.
        by_word |= dict(zip(self.found, self.heard, strict=False))
        ordered = dict(sorted(by_word.items()))
        heard = tuple(ordered.values())
        return WordRound(self.words, self.index + 1, tuple(ordered), heard=heard)

    def _round_after_scouts(self, evidence: PrefixEvidence) -> WordRound:
        """Begin the search proper; the words present beyond doubt count as "none" from now on."""
        sure = certain_words(evidence, self.words.top)
        found = self._evidence_by_word(without_extensions(evidence, self.words.bits), sure)
        none = float(evidence.values[sure].sum())
        return self._next((0,), tuple(found), tuple(found.values()), none)

    def _evidence_by_word(
        self, evidence: PrefixEvidence, indices: NDArray[np.intp]
    ) -> dict[int, _Evidence]:
        """Return the evidence about the extensions at `indices`, by rising extended prefix."""
        values = evidence.values[indices].tolist()
        variances = evidence.variances[indices].tolist()
        rivals = evidence.rivals[indices].tolist()
        extended = [self._extended(option) for option in indices.tolist()]
        rows = zip(values, variances, rivals, strict=True)
        return dict(sorted(zip(extended, rows, strict=True)))

    def _next(
        self,
        prefixes: tuple[int, ...],
        found: tuple[int, ...],
        heard: tuple[_Evidence, ...],
        none: float,
    ) -> WordRound:
        """Make the next round; `none` is the estimated fraction who hold no candidate.

        A separate set for "none of them" is used where it has less variance.
        """
        asked = WordRound(self.words, self.index + 1, prefixes, found, heard=heard)
        # The estimate is noisy and may leave 0 … 1.
        fraction = min(max(none, 0.0), 1.0)
        best_field = best_extra_option_field(asked.options, self.words.epsilon, fraction)
        return replace(asked, field=best_field)

    def estimate(self, reports: NDArray[Any], *, level: float = 0.95) -> Estimate:
        """Return the `top` most frequent words of the last round, with confidence intervals.

        Guarantee: the intervals hold for all candidates at once (Bonferroni), so also for those
        picked by the ranking.
        Refuses: `InvalidArgument` for rounds before the last, no reports, and reports no device
        could have sent.
        Law: `tests/local/test_words.py::test_frequent_words_are_found_and_their_intervals_hold`
        """
        if self.index + 1 < len(self.words.stages):
            raise InvalidArgument(
                "words are known after the last round only; narrow(reports), or --next, leads there"
            )
        n = len(reports)
        if n == 0:
            raise InvalidArgument("there are no reports; at least one is needed")
        family = self.family
        law = family.law
        counts = family.counts(reports)
        own, own_variance = frequencies_of(family, counts, n)
        best = rank(self._weighed(own, own_variance), self.words.top)
        # Bonferroni: the failure probability is shared by all candidates, not by the top ones.
        beta = (1 - read_level(level)) / self.options
        least, greatest = clopper_pearson(counts[best], n, beta)
        lower = (least - law.q) / law.spread
        upper = (greatest - law.q) / law.spread
        low = np.clip(lower, 0.0, 1.0)
        high = np.clip(upper, 0.0, 1.0)
        values = (counts[best] / n - law.q) / law.spread
        variances = [law.variance(n=n, frequency=f) for f in np.clip(values, 0, 1)]
        errors = np.sqrt(variances)
        names = tuple(self.words.text(self._extended(option)) for option in best.tolist())
        note = f"last round; joint over {self.options} candidates"
        return Estimate(
            "frequency", names, values, errors, low, high, float(level), n, "population", note
        )

    def _weighed(self, own: Array, variance: float) -> PrefixEvidence:
        """Weigh every extension by this round and those before.

        `own` are the frequencies of this round's options, each with this variance.

        A round read from JSON has no evidence of earlier rounds.
        """
        evidence = no_evidence(self.words.top, len(self.prefixes))
        of_prefixes = self.heard[len(self.found) :]
        if of_prefixes:
            values, variances, rivals = np.array(of_prefixes).T
            evidence = PrefixEvidence(values, variances, rivals, evidence.odds)
        extensions = len(self.prefixes) << self.step
        # The column of "none of them" is last and has no prefix.
        table = own[:extensions].reshape(len(self.prefixes), -1)
        return add_round(
            evidence,
            table,
            variance,
            known=self.stage.known,
            length=self.stage.length,
            wanted=self.words.top,
        )

    def _extended(self, option: int) -> int:
        """Return the prefix of an option, extended by the bits of this round."""
        prefix = self.prefixes[option >> self.step]
        extension = option & ((1 << self.step) - 1)
        return (prefix << self.step) | extension

    def to_json(self) -> dict[str, object]:
        """Return the parameters of the round: all that a device needs."""
        if self.field:
            member = "apart"
            parameter = self.field
        else:
            taken = choose(self.options, self.words.epsilon).taken
            member = taken.facts.member
            parameter = taken.parameter
        return {
            "mechanism": "words",
            "version": 1,
            "bits": self.words.bits,
            "epsilon": str(self.words.epsilon),
            "top": self.words.top,
            "round": self.index,
            "known": self.stage.known,
            "step": self.step,
            "prefixes": write_wholes(self.prefixes),
            "found": write_wholes(self.found),
            "member": member,
            "parameter": parameter,
        }

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> WordRound:
        """Read parameters written by `to_json`.

        Refuses: `InvalidArgument` for unknown or missing fields, and for other versions.
        """
        counted = ("bits", "epsilon", "top", "round", "known", "step")
        listed = ("prefixes", "found")
        read = fields_of(given, "words", (*counted, *listed, "member", "parameter"))
        words = Words(bits=read["bits"], spend=PureDP(read["epsilon"]), top=read["top"])
        prefixes = read_wholes(read["prefixes"], "prefixes")
        found = read_wholes(read["found"], "found")
        field = 0
        if read["member"] == "apart":
            field = whole(read["parameter"], "parameter")
        made = cls(words, whole(read["round"], "round"), prefixes, found, field)
        # The member is recomputed here: a device and a server must not draw by different laws.
        if made.to_json() != dict(given):
            raise InvalidArgument(
                "the parameters of words were made by another release; have them made anew"
            )
        return made
