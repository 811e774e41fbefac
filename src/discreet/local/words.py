"""Frequent words that nobody listed: prefixes are found round by round (Wang, Li, Jha 2019), nobody reports twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.frozen import fill
from ..arithmetic.rational import whole
from ..arithmetic.rounding import up
from ..errors import InvalidArgument
from ..mechanisms.laws.quantile import named
from ..noise import Bits, uniform
from ..privacy.events import Response
from ..privacy.measures import Measure, PureDP
from .choose import choose, make
from .deployments.flip import epsilon_of
from .designs.design import read_array
from .estimates.estimate import Estimate, read_level
from .estimates.prefixes import PrefixEvidence, no_evidence, rank, weigh
from .estimates.proportion import clopper_pearson
from .family import Family
from .law import TwoLevelLaw
from .reports.parameters import fields_of, read_wholes, write_wholes

__all__ = ["WordRound", "Words"]

_FIRST = 20  # bits of the first round: as many candidates as a server counts in well under a second
_STEP = 7  # bits that a later round adds, at most
_KEPT = 1 << (_FIRST - _STEP)  # prefixes kept, so that later rounds have as many candidates as the first

_Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, init=False)
class Words:
    """Find the `top` most frequent words of `bits` bits among words that nobody could list.

    People are divided at random into as many groups as there are rounds. The first group reports the first 20 bits of
    its words; the 8,192 likeliest prefixes are published, and the next group reports which of all their extensions by 7
    bits its word begins with, or that it begins with none; and so on to the last bit. Each report is drawn by the best
    member of the two-level family for that round's candidates. Prefixes and words are ranked by what all rounds say
    together (`estimates.prefixes`); many are kept, since a rare word passes a round that asks for one of 128 more often
    than one that asks for one of 2^14. The values and intervals returned are those of the last round alone.

    Privacy: a device draws its group without looking at its word and reports once, in that group's round, by a
    mechanism that is ε-private for every list of candidates. The list depends on the reports of other people only. So
    whatever they say, the law of one person's only report changes by at most e^ε with the word: ε for each person, not
    ε a round (sequentially interactive local privacy; Kasiviswanathan et al. 2011, Duchi et al. 2013).

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
        fill(self, bits=held, epsilon=epsilon_of(spend), top=whole(top, "top", least=1, most=1 << 10))

    @property
    def lengths(self) -> tuple[int, ...]:
        """How many bits are known after each round."""
        first = min(self.bits, _FIRST)
        rounds = -(-(self.bits - first) // _STEP)
        return (first, *(first + (self.bits - first) * i // rounds for i in range(1, rounds + 1)))

    @property
    def event(self) -> Response:
        """What the whole search costs each person, who reports once (neighbours: replace the word)."""
        return Response(self.epsilon, 2)

    def open(self) -> WordRound:
        """Return the first round."""
        return WordRound(self, 0, (0,))

    def draw_group(self, *, bits: Bits | None = None) -> int:
        """Draw the round in which a device reports; it does so once in its life, without looking at the word."""
        return uniform(len(self.lengths), bits=bits)

    def find(self, values: Sequence[str] | NDArray[Any], *, level: float = 0.95, bits: Bits | None = None) -> Estimate:
        """Play all devices and the server: what the search would find among these words."""
        words = self.read(values)
        groups = uniform(len(self.lengths), words.size, bits=bits)
        asked = self.open()
        for index in range(len(self.lengths) - 1):
            asked = asked.narrow(asked.draw(words[groups == index], bits=bits))
        return asked.estimate(asked.draw(words[groups == asked.index], bits=bits), level=level)

    def read(self, values: object) -> _Ints:
        """Read words as numbers of `bits` bits; the message carries none."""
        array = np.atleast_1d(read_array(values))
        mixed = isinstance(values, list | tuple) and len({isinstance(value, str) for value in values}) > 1
        if array.dtype.kind not in "iuU" or mixed:
            raise InvalidArgument("a word must be text or a whole number")
        if array.dtype.kind in "iu":
            if array.size and (array.min() < 0 or array.max() >= 1 << self.bits):
                raise InvalidArgument(f"a word must be a whole number below 2^{self.bits}")
            return array.astype(np.int64)
        unique, places = np.unique(array, return_inverse=True)
        return np.array([self._number(str(word)) for word in unique], dtype=np.int64)[places]

    def _number(self, word: str) -> int:
        size = -(-self.bits // 8)
        try:
            data = word.encode()[:size].ljust(size, b"\0")
        except UnicodeEncodeError:
            raise InvalidArgument("a word must be text that UTF-8 can write") from None
        return int.from_bytes(data, "big") >> (8 * size - self.bits)

    def text(self, number: int) -> str:
        """Return the text of a number; numbers that are no text are shown in hexadecimal."""
        size = -(-self.bits // 8)
        data = (number << (8 * size - self.bits)).to_bytes(size, "big").rstrip(b"\0")
        try:
            shown = data.decode()
        except UnicodeDecodeError:
            return f"0x{number:x}"
        return shown if shown.isprintable() and shown else f"0x{number:x}"

    def variance(self, *, n: int, frequency: float) -> float:
        """Return the variance of a word's frequency in the last round, in which n/rounds people report."""
        return self._last().variance(n=self._people(n), frequency=frequency)

    def error(self, *, n: int, beta: float = 0.05) -> float:
        """Bound |estimate − frequency| of one word in the last round, with probability at least 1 − β."""
        return self._last().error(n=self._people(n), beta=beta)

    def influence(self, *, n: int, forged: int = 1) -> float:
        """Bound how far `forged` reports, all in the last round, can move an estimate there."""
        return up(self._last().influence(n=self._people(n), forged=min(forged, self._people(n))))

    def _people(self, n: int) -> int:
        return max(1, whole(n, "n", least=1) // len(self.lengths))

    def _last(self) -> TwoLevelLaw:
        index = len(self.lengths) - 1
        return WordRound(self, index, tuple(range(_KEPT if index else 1))).family.law


@dataclass(frozen=True, slots=True)
class WordRound:
    """One round: which of the extensions of the prefixes kept so far a word begins with, or none of them.

    `heard` is what the rounds before say of each prefix: frequency, variance, rivals; the server's, no device needs it.
    """

    words: Words
    index: int
    prefixes: tuple[int, ...]
    heard: tuple[tuple[float, float, float], ...] = ()

    def __post_init__(self) -> None:
        whole(self.index, "index", most=len(self.words.lengths) - 1)
        bounds = -1, *self.prefixes, 1 << self.known
        if not 1 <= len(self.prefixes) <= _KEPT or any(a >= b for a, b in pairwise(bounds)):
            raise InvalidArgument(f"prefixes must rise, within their bits, and be at most {_KEPT}")

    @property
    def known(self) -> int:
        """How many bits the prefixes have."""
        return self.words.lengths[self.index - 1] if self.index else 0

    @property
    def step(self) -> int:
        """How many bits this round adds."""
        return self.words.lengths[self.index] - self.known

    @property
    def options(self) -> int:
        """How many answers there are: every extension, and 'none of them'."""
        return (len(self.prefixes) << self.step) + (self.index > 0)

    @property
    def family(self) -> Family:
        """The member of the two-level family with the least variance for so many answers."""
        return make(choose(self.options, self.words.epsilon).taken, self.words.epsilon)

    @property
    def event(self) -> Response:
        """What the report costs the person who sends it."""
        return self.family.law.event

    @overload
    def randomize(self, value: str | int, *, bits: Bits | None = None) -> int: ...
    @overload
    def randomize(self, value: NDArray[Any], *, bits: Bits | None = None) -> NDArray[Any]: ...
    def randomize(self, value: str | int | NDArray[Any], *, bits: Bits | None = None) -> int | NDArray[Any]:
        """Draw the report of one word, or of words of different people of this round's group."""
        reports = self.draw(self.words.read(value), bits=bits)
        if np.ndim(value):
            return reports
        return int.from_bytes(reports[0].tobytes(), "little") if reports.ndim > 1 else int(reports[0])

    def draw(self, words: _Ints, *, bits: Bits | None = None) -> NDArray[Any]:
        """Randomize words already read."""
        begun = words >> (self.words.bits - self.known) if self.known else np.zeros_like(words)
        rest = (words >> (self.words.bits - self.known - self.step)) & ((1 << self.step) - 1)
        kept = np.array(self.prefixes, dtype=np.int64)
        at = np.minimum(np.searchsorted(kept, begun), kept.size - 1)
        return self.family.draw(np.where(kept[at] == begun, (at << self.step) + rest, self.options - 1), bits=bits)

    def narrow(self, reports: NDArray[Any]) -> WordRound:
        """Return the next round: the likeliest extensions, as many as are kept."""
        found = self._weighed(self.family.counts(reports), len(reports))
        best = np.argsort(-found.odds, kind="stable")[:_KEPT]
        rows = sorted(
            (self._extended(at), (float(found.values[at]), float(found.variances[at]), float(found.rivals[at])))
            for at in best.tolist()
        )
        return WordRound(self.words, self.index + 1, tuple(p for p, _ in rows), tuple(heard for _, heard in rows))

    def estimate(self, reports: NDArray[Any], *, level: float = 0.95) -> Estimate:
        """Return the `top` most frequent words of the last round; intervals hold for all candidates at once.

        Refuses rounds before the last, no reports, and reports no device could have sent.
        """
        if self.index + 1 < len(self.words.lengths):
            raise InvalidArgument("words are known after the last round only; go on with narrow(reports)")
        family, n = self.family, len(reports)
        if n == 0:
            raise InvalidArgument("there are no reports; at least one is needed")
        counts = family.counts(reports)
        law = family.law
        best = rank(self._weighed(counts, n), self.words.top)
        ends = clopper_pearson(counts[best], n, (1 - read_level(level)) / self.options)
        low, high = (np.clip((end - law.q) / law.spread, 0.0, 1.0) for end in ends)
        values = (counts[best] / n - law.q) / law.spread
        errors = np.sqrt([law.variance(n=n, frequency=f) for f in np.clip(values, 0, 1)])
        names = tuple(self.words.text(self._extended(int(at))) for at in best)
        note = f"last round; joint over {self.options} candidates"
        return Estimate("frequency", names, values, errors, low, high, float(level), n, "population", note)

    def _weighed(self, counts: _Ints, n: int) -> PrefixEvidence:
        """Weigh every extension by this round and those before."""
        law, people = self.family.law, max(1, n)
        own = (counts[: len(self.prefixes) << self.step] / people - law.q) / law.spread
        return weigh(
            self._heard(),
            own.reshape(len(self.prefixes), -1),
            law.variance(n=people, frequency=0.0),
            known=self.known,
            length=self.known + self.step,
            wanted=self.words.top,
        )

    def _heard(self) -> PrefixEvidence:
        """Return what earlier rounds said of the prefixes; of a round that was read from JSON nothing is known."""
        nothing = no_evidence(self.words.top, len(self.prefixes))
        if not self.heard:
            return nothing
        values, variances, rivals = np.array(self.heard).T
        return PrefixEvidence(values, variances, rivals, nothing.odds)

    def _extended(self, option: int) -> int:
        return (self.prefixes[option >> self.step] << self.step) | (option & ((1 << self.step) - 1))

    def to_json(self) -> dict[str, object]:
        """Return the parameters of the round, all a device needs."""
        taken = choose(self.options, self.words.epsilon).taken
        member = {"member": taken.facts.member, "parameter": taken.parameter}
        shape = {"bits": self.words.bits, "epsilon": str(self.words.epsilon), "top": self.words.top}
        begun = {"known": self.known, "step": self.step, "prefixes": write_wholes(self.prefixes)}
        return {"mechanism": "words", "version": 1, **shape, **begun, **member}

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> WordRound:
        """Read what `to_json` wrote; refuses unknown or missing fields, and other versions."""
        names = ("bits", "epsilon", "top", "known", "step", "member", "parameter", "prefixes")
        read = fields_of(given, "words", names)
        words = Words(bits=read["bits"], spend=PureDP(read["epsilon"]), top=read["top"])
        ends = (0, *words.lengths)
        if read["known"] not in ends[:-1]:
            raise InvalidArgument("the parameters of words name no round of theirs")
        made = cls(words, ends.index(read["known"]), read_wholes(read["prefixes"], "prefixes"))
        if made.to_json() != dict(given):
            raise InvalidArgument("the parameters of words were made by another release; have them made anew")
        return made
