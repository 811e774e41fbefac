"""Frequent words that nobody listed: prefixes are found round by round (Wang, Li, Jha 2019), nobody reports twice."""

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
from ...mechanisms.laws.error_bound import named
from ...noise import Bits, uniform
from ...privacy.events import Response
from ...privacy.measures import Measure, PureDP
from ..choose import candidate_of, choose, make
from ..deployments.flip import epsilon_of
from ..estimates.calibration import reach_error
from ..estimates.estimate import Array, Estimate, read_level
from ..estimates.proportion import clopper_pearson
from ..family import Family, apart
from ..law import TwoLevelLaw
from ..reports.parameters import fields_of, read_wholes, write_wholes
from .oracle import best_apart, frequencies_of
from .prefixes import PrefixEvidence, alone, clear_share, no_evidence, rank, sure_of, weigh
from .rounds import Stage, check_rising, groups_of, people_of, stages_of
from .spelling import read_words, text_of

_Ints: TypeAlias = NDArray[np.int64]
_Heard: TypeAlias = tuple[tuple[float, float, float], ...]


@frozen(init=False)
class Words:
    """Find the `top` most frequent words of `bits` bits among words that nobody could list.

    People are divided at random into groups, one a round. The first of the search reports the first 20 bits of its
    words; the 8,192 likeliest prefixes are published, and the next reports which of their extensions by 7 bits its word
    begins with, or none; and so on. Scouts search so before, in longer steps: words that they find for sure count as
    "none" in the search proper, and a set apart makes such reports cost the others less noise (`oracle`). The last
    group reports which of the likeliest words it holds. Words are ranked by what all rounds say together (`prefixes`);
    the values and intervals returned are those of the last round alone.

    Privacy: a device draws its group without looking at its word and reports once, by a mechanism that is ε-private for
    every list of candidates. The list depends on the reports of other people only. So ε for each person, not ε a round
    (sequentially interactive local privacy; Kasiviswanathan et al. 2011, Duchi et al. 2013).

    A word is text, of which the first bits/8 bytes in UTF-8 count, or a whole number below 2^bits.

    >>> import discreet as dp
    >>> from discreet.local import Words
    >>> words = Words(bits=16, spend=dp.PureDP(2), top=2)
    >>> found = words.find(["hi"] * 1200 + ["ho"] * 800)
    >>> sorted(found.names)
    ['hi', 'ho']

    Refuses fewer than 8 or more than 62 bits, and words that are neither text nor numbers.
    """

    bits: int
    epsilon: Fraction
    top: int

    __repr__ = named

    def __init__(self, *, bits: int = 48, spend: Measure, top: int = 20) -> None:
        held = whole(bits, "bits", least=8, most=62)
        fill(
            self, bits=held, epsilon=epsilon_of(spend), top=whole(top, "top", least=1, most=1 << 10)
        )

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The rounds: what each knows and asks for, and its share of the people."""
        return stages_of(self.bits, self.top)

    @property
    def lengths(self) -> tuple[int, ...]:
        """How many bits are known after each round; scouts come first, then the search proper, then counting."""
        return tuple(stage.length for stage in self.stages)

    @property
    def event(self) -> Response:
        """What the whole search costs each person, who reports once (neighbours: replace the word)."""
        return Response(self.epsilon, 2)

    def open(self) -> WordRound:
        """Return the first round."""
        return WordRound(self, 0, (0,))

    def draw_group(self, *, bits: Bits | None = None) -> int:
        """Draw the round in which a device reports; it does so once in its life, without looking at the word."""
        return int(
            groups_of(self.stages, np.array([uniform(people_of(self.stages), bits=bits)]))[0]
        )

    def find(
        self, values: Sequence[str] | NDArray[Any], *, level: float = 0.95, bits: Bits | None = None
    ) -> Estimate:
        """Play all devices and the server: what the search would find among these words."""
        words = self.read(values)
        groups = groups_of(self.stages, uniform(people_of(self.stages), words.size, bits=bits))
        asked = self.open()
        for index in range(len(self.stages) - 1):
            asked = asked.narrow(asked.draw(words[groups == index], bits=bits))
        return asked.estimate(asked.draw(words[groups == asked.index], bits=bits), level=level)

    def read(self, values: object) -> _Ints:
        """Read words as numbers of `bits` bits; the message carries none."""
        return read_words(values, self.bits)

    def text(self, number: int) -> str:
        """Return the text of a number; numbers that are no text are shown in hexadecimal."""
        return text_of(number, self.bits)

    def variance(self, *, n: int, frequency: float) -> float:
        """Return the variance of a word's frequency in the last round, which a tenth of n people take part in."""
        return self._last().variance(n=self._people(n), frequency=frequency)

    def error(self, *, n: int, beta: Number = 0.05) -> float:
        """Bound |estimate − frequency| of one word in the last round, with probability at least 1 − β."""
        return self._last().error(n=self._people(n), beta=beta)

    @classmethod
    def for_error(cls, error: Number, *, n: int, beta: Number = 0.05, **shape: int) -> Words:
        """Take the least ε at which n people tell the last round's words to within `error`, with probability 1 − β."""
        return reach_error(lambda spend: cls(spend=spend, **shape), error, n=n, beta=beta)

    def influence(self, *, n: int, forged: int = 1) -> float:
        """Bound how far `forged` reports, all in the last round, can move an estimate there."""
        return up(self._last().influence(n=self._people(n), forged=min(forged, self._people(n))))

    def _people(self, n: int) -> int:
        return max(1, whole(n, "n", least=1) * self.stages[-1].people // people_of(self.stages))

    def _last(self) -> TwoLevelLaw:
        return WordRound(self, len(self.stages) - 1, tuple(range(self.stages[-1].most))).family.law


@frozen
class WordRound:
    """One round: which of the extensions of the prefixes kept so far a word begins with, or none of them.

    Words that were `found` count as none. `field` is that of a geometry with a set apart for "none"; 0: the best member
    without one. `heard` is what the rounds before say of found words and prefixes (frequency, variance, rivals): no
    device needs it.
    """

    words: Words
    index: int
    prefixes: tuple[int, ...]
    found: tuple[int, ...] = ()
    field: int = 0
    heard: _Heard = ()

    def __post_init__(self) -> None:
        whole(self.index, "index", most=len(self.words.stages) - 1)
        check_rising(self.prefixes, self.stage.known, "prefixes", most=self.stage.most)
        check_rising(self.found, self.words.bits, "found words", most=self.words.top)
        if not self.prefixes:
            raise InvalidArgument("a round needs at least one prefix")
        if self.field and self.index in (0, len(self.words.stages) - 1):
            raise InvalidArgument("the first round and the last have no set apart")
        if self.field:
            candidate_of("geometry", self.options - 1, self.field, self.words.epsilon)

    @property
    def stage(self) -> Stage:
        """What the round knows and asks for."""
        return self.words.stages[self.index]

    @property
    def step(self) -> int:
        """How many bits this round adds."""
        return self.stage.length - self.stage.known

    @property
    def options(self) -> int:
        """How many answers there are: every extension, and 'none of them'."""
        return (len(self.prefixes) << self.step) + (self.index > 0)

    @property
    def family(self) -> Family:
        """The member of the two-level family with the least variance for so many answers."""
        if self.field:
            return apart(self.options, self.words.epsilon, self.field)
        return make(choose(self.options, self.words.epsilon).taken, self.words.epsilon)

    @property
    def event(self) -> Response:
        """What the report costs the person who sends it."""
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
        return (
            int.from_bytes(reports[0].tobytes(), "little") if reports.ndim > 1 else int(reports[0])
        )

    def draw(self, words: _Ints, *, bits: Bits | None = None) -> NDArray[Any]:
        """Randomize words already read."""
        begun = words >> (self.words.bits - self.stage.known)
        rest = (words >> (self.words.bits - self.stage.length)) & ((1 << self.step) - 1)
        kept = np.array(self.prefixes, dtype=np.int64)
        at = np.minimum(np.searchsorted(kept, begun), kept.size - 1)
        held = (kept[at] == begun) & ~np.isin(words, np.array(self.found, dtype=np.int64))
        return self.family.draw(
            np.where(held, (at << self.step) + rest, self.options - 1), bits=bits
        )

    def narrow(self, reports: NDArray[Any]) -> WordRound:
        """Return the next round: what scouts are sure of is found; else the likeliest extensions go on.

        Refuses the last round, and reports no device could have sent.
        """
        if self.index + 1 == len(self.words.stages):
            raise InvalidArgument("this is the last round; it tells the words by estimate(reports)")
        told = frequencies_of(self.family, self.family.counts(reports), max(1, len(reports)))
        heard, following = self._weighed(*told), self.words.stages[self.index + 1]
        if following.known == self.words.bits:
            rows = self._rows(alone(heard, self.words.bits), rank(heard, 2 * self.words.top))
            every = sorted({**rows, **dict(zip(self.found, self.heard, strict=False))}.items())
            return WordRound(
                self.words,
                self.index + 1,
                tuple(w for w, _ in every),
                heard=tuple(h for _, h in every),
            )
        if following.known == 0:
            sure = sure_of(heard, self.words.top)
            found = self._rows(alone(heard, self.words.bits), sure)
            return self._next(
                (0,), tuple(found), tuple(found.values()), float(heard.values[sure].sum())
            )
        best = np.argsort(-heard.odds, kind="stable")[: following.most]
        kept, before = self._rows(heard, best), self.heard[: len(self.found)]
        return self._next(
            tuple(kept), self.found, (*before, *kept.values()), 1 - clear_share(*told, best)
        )

    def _rows(
        self, heard: PrefixEvidence, places: NDArray[np.intp]
    ) -> dict[int, tuple[float, float, float]]:
        parts = (
            column[places].tolist() for column in (heard.values, heard.variances, heard.rivals)
        )
        return dict(
            sorted(zip(map(self._extended, places.tolist()), zip(*parts, strict=True), strict=True))
        )

    def _next(
        self, prefixes: tuple[int, ...], found: tuple[int, ...], heard: _Heard, none: float
    ) -> WordRound:
        """Make the next round, with a set apart if that is better for the share of people who hold none."""
        asked = WordRound(self.words, self.index + 1, prefixes, found, heard=heard)
        return replace(
            asked, field=best_apart(asked.options, self.words.epsilon, min(max(none, 0.0), 1.0))
        )

    def estimate(self, reports: NDArray[Any], *, level: float = 0.95) -> Estimate:
        """Return the `top` most frequent words of the last round; intervals hold for all candidates at once.

        Refuses rounds before the last, no reports, and reports no device could have sent.
        """
        if self.index + 1 < len(self.words.stages):
            raise InvalidArgument(
                "words are known after the last round only; narrow(reports), or --next, leads there"
            )
        family, n = self.family, len(reports)
        if n == 0:
            raise InvalidArgument("there are no reports; at least one is needed")
        counts, law = family.counts(reports), family.law
        best = rank(self._weighed(*frequencies_of(family, counts, n)), self.words.top)
        ends = clopper_pearson(counts[best], n, (1 - read_level(level)) / self.options)
        low, high = (np.clip((end - law.q) / law.spread, 0.0, 1.0) for end in ends)
        values = (counts[best] / n - law.q) / law.spread
        errors = np.sqrt([law.variance(n=n, frequency=f) for f in np.clip(values, 0, 1)])
        names = tuple(map(self.words.text, map(self._extended, best.tolist())))
        note = f"last round; joint over {self.options} candidates"
        return Estimate(
            "frequency", names, values, errors, low, high, float(level), n, "population", note
        )

    def _weighed(self, own: Array, variance: float) -> PrefixEvidence:
        """Weigh every extension by this round and those before; of a round read from JSON nothing is known."""
        heard = no_evidence(self.words.top, len(self.prefixes))
        if len(self.heard) > len(self.found):
            values, variances, rivals = np.array(self.heard[len(self.found) :]).T
            heard = PrefixEvidence(values, variances, rivals, heard.odds)
        table = own[: len(self.prefixes) << self.step].reshape(len(self.prefixes), -1)
        return weigh(
            heard,
            table,
            variance,
            known=self.stage.known,
            length=self.stage.length,
            wanted=self.words.top,
        )

    def _extended(self, option: int) -> int:
        return (self.prefixes[option >> self.step] << self.step) | (option & ((1 << self.step) - 1))

    def to_json(self) -> dict[str, object]:
        """Return the parameters of the round, all a device needs."""
        taken = choose(self.options, self.words.epsilon).taken
        member = ("apart", self.field) if self.field else (taken.facts.member, taken.parameter)
        shape = {"bits": self.words.bits, "epsilon": str(self.words.epsilon), "top": self.words.top}
        begun = {"round": self.index, "known": self.stage.known, "step": self.step}
        lists = {"prefixes": write_wholes(self.prefixes), "found": write_wholes(self.found)}
        drawn = {"member": member[0], "parameter": member[1]}
        return {"mechanism": "words", "version": 1, **shape, **begun, **lists, **drawn}

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> WordRound:
        """Read what `to_json` wrote; refuses unknown or missing fields, and other versions."""
        shape, begun = ("bits", "epsilon", "top", "round", "known", "step"), ("prefixes", "found")
        read = fields_of(given, "words", (*shape, *begun, "member", "parameter"))
        words = Words(bits=read["bits"], spend=PureDP(read["epsilon"]), top=read["top"])
        prefixes, found = (read_wholes(read[name], name) for name in begun)
        field = whole(read["parameter"], "parameter") if read["member"] == "apart" else 0
        made = cls(words, whole(read["round"], "round"), prefixes, found, field)
        if made.to_json() != dict(given):
            raise InvalidArgument(
                "the parameters of words were made by another release; have them made anew"
            )
        return made
