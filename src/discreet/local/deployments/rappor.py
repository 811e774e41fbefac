"""RAPPOR: a Bloom filter with permanent noise and, for every report, instantaneous noise.

See Erlingsson, Pihur, Korolova 2014.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from ...arithmetic.rational import (
    Number,
    between_0_and_1,
    check_from_0_to_1,
    rational,
    whole,
)
from ...arithmetic.rounding import log_up, up
from ...errors import InvalidArgument
from ...frozen import fill, frozen
from ...mechanisms.laws.error_bound import parameter_repr, read_beta
from ...mechanisms.laws.normal import quantile
from ...noise import Bits, coin, uniform
from ...privacy.events import Promise
from ..estimates.estimate import Estimate
from ..reports.parameters import fields_of, parameters_of
from ..shuffle import Shuffle, shuffle_pure
from ..spend import read_epsilon, read_forged
from .bit_reports import BitReport, BitReports, pack_bits, read_bit_reports
from .flip import promise
from .hashing import RowHashes, Words64, fingerprints, read_key, read_width
from .rappor_decode import all_of, decode, found_of
from .sketch_estimate import read_candidates

_Bits = NDArray[np.bool_]
_FIELDS = ("bits", "hashes", "cohorts", "key", "f", "p", "q")


@frozen(init=False)
class Rappor:
    """Send a cohort and the bits of a Bloom filter, with permanent and instantaneous noise.

    A device draws its cohort once. A value marks `hashes` of the `bits`, by the cohort's public
    hash functions, which follow from `key`. The permanent response is drawn once for a value and
    kept: a bit is 1 with probability f/2, 0 with f/2, else as it is. The instantaneous response is
    drawn for every report: 1 with probability q where the permanent bit is 1, p where it is 0.

    Two values differ in at most `hashes` bits each way. With q* = f(p + q)/2 + (1 − f)q and
    p* = f(p + q)/2 + (1 − f)p:

    | reports | ε |
    |---|---|
    | one | ε₁ = h·ln(q*(1 − p*)/(p*(1 − q*))) (`epsilon`) |
    | all about a value that never changes | ε∞ = 2h·ln((1 − f/2)/(f/2)) (`epsilon_for_ever`) |

    >>> from discreet.local import Rappor
    >>> chrome = Rappor(bits=16, hashes=2, cohorts=64, f=0.5, p=0.5, q=0.75, key="homepage")
    >>> round(float(chrome.epsilon), 4), round(float(chrome.epsilon_for_ever), 4)
    (1.0743, 4.3944)
    >>> cohort, bloom = chrome.randomize("example.org")

    Guarantee: ε₁ and ε∞ as above (Theorems 1 and 2 of the paper). f, p, q are rationals, the coins
    are exact, both prices round up. Not promised: that a device cannot be recognised. Its permanent
    bits are a fingerprint, and the moments at which a value changes show (Naor, Vexler 2020).
    Refuses: `InvalidArgument` for f outside (0, 1), p ≥ q, bits that are no power of two, and
    values that are no text.
    Law: `tests/local/test_rappor.py::TestPrices`
    Law: `tests/local/test_rappor.py::TestRefusals`
    """

    bits: int
    hashes: int
    cohorts: int
    f: Fraction
    p: Fraction
    q: Fraction
    key: str

    __repr__ = parameter_repr

    def __init__(
        self, *, bits: int, hashes: int, cohorts: int, f: Number, p: Number, q: Number, key: str
    ) -> None:
        protects = ", else nothing protects, or nothing is told"
        permanent = between_0_and_1(f, "f", f"{protects}; got {f}")
        on_zero = rational(p, "p")
        on_one = rational(q, "q")
        if not 0 <= on_zero < on_one <= 1:
            raise InvalidArgument(f"p and q must be probabilities with p below q, got {p} and {q}")
        width = read_width(bits, "bits", most=1 << 16)
        hash_count = whole(hashes, "hashes", least=1, most=width)
        public_key = read_key(key)
        cohort_count = whole(cohorts, "cohorts", least=1, most=1 << 16)
        fill(
            self,
            bits=width,
            hashes=hash_count,
            cohorts=cohort_count,
            f=permanent,
            p=on_zero,
            q=on_one,
            key=public_key,
        )
        # Each marked bit must be within the limits of an ε of its own.
        read_epsilon(self.epsilon / self.hashes)

    @classmethod
    def for_error(
        cls,
        error: Number,
        *,
        n: int,
        bits: int,
        hashes: int,
        cohorts: int,
        key: str,
        beta: Number = 0.05,
    ) -> Rappor:
        """Make RAPPOR with the largest f, in steps of 1/64, whose n reports keep an error.

        p is 1/2 and q is 3/4.

        Refuses: `InvalidArgument` for an error that no f of at least 1/64 reaches.
        """
        target = float(rational(error, "error"))
        for step in range(63, 0, -1):
            made = cls(
                bits=bits,
                hashes=hashes,
                cohorts=cohorts,
                f=Fraction(step, 64),
                p=Fraction(1, 2),
                q=Fraction(3, 4),
                key=key,
            )
            if made.error(n=n, beta=beta) <= target:
                return made
        raise InvalidArgument(
            "no f gives this error with so few reports; ask more people or allow more error"
        )

    @property
    def shown(self) -> tuple[Fraction, Fraction]:
        """The probabilities (p*, q*) that a sent bit is 1: of unmarked and of marked bits."""
        replaced = self.f * (self.p + self.q) / 2
        unmarked = replaced + (1 - self.f) * self.p
        marked = replaced + (1 - self.f) * self.q
        return unmarked, marked

    @property
    def epsilon(self) -> Fraction:
        """ε₁ of one report, between any two values, rounded up."""
        p, q = self.shown
        odds_ratio = q * (1 - p) / (p * (1 - q))
        return log_up(odds_ratio) * self.hashes

    @property
    def epsilon_for_ever(self) -> Fraction:
        """ε∞ of all reports about one value, by a device that keeps its permanent bits."""
        odds = (1 - self.f / 2) / (self.f / 2)
        return log_up(odds) * 2 * self.hashes

    @property
    def event(self) -> Promise:
        """Privacy event of one report; for a device that reports repeatedly see `Device`."""
        return promise(self.epsilon)

    @overload
    def randomize(self, value: str, *, bits: Bits | None = None) -> BitReport: ...  # type: ignore[overload-overlap]
    @overload
    def randomize(
        self, value: Sequence[str] | NDArray[Any], *, bits: Bits | None = None
    ) -> BitReports: ...
    def randomize(
        self, value: str | Sequence[str] | NDArray[Any], *, bits: Bits | None = None
    ) -> BitReport | BitReports:
        """Draw the first report of a new device, or of as many new devices as there are values."""
        values = [value] if isinstance(value, str) else value
        prints = fingerprints(values, self.key)
        cohorts = uniform(self.cohorts, prints.size, bits=bits)
        permanent = self.noise_once(self.marks(cohorts, prints), bits)
        reports = pack_bits(cohorts, self.noise_again(permanent, bits))
        if isinstance(value, str):
            return reports[0]
        return reports

    def marks(self, cohorts: NDArray[np.int64], prints: Words64) -> _Bits:
        """Return the Bloom bits of each fingerprint (`prints`) in its cohort, one row each."""
        first_row = cohorts[:, None] * self.hashes
        rows = first_row + np.arange(self.hashes)
        hashes = RowHashes(self.cohorts * self.hashes, self.bits, self.key)
        cells = hashes.place(rows, prints[:, None])
        marked = np.zeros((prints.size, self.bits), dtype=np.bool_)
        person = np.arange(prints.size)[:, None]
        marked[person, cells] = True
        return marked

    def noise_once(self, marked: _Bits, bits: Bits | None = None) -> _Bits:
        """Draw the permanent response: a bit is kept with probability 1 − f, else a fair coin."""
        # 1 and 0 with f/2 each, else the bit itself: the same as a flip with probability f/2.
        flipped = coin(self.f / 2, marked.size, bits=bits)
        return marked ^ flipped.reshape(marked.shape)

    def noise_again(self, permanent: _Bits, bits: Bits | None = None) -> _Bits:
        """Draw the instantaneous response: 1 with probability q on a permanent 1, with p on a 0."""
        # Both coins are drawn for every bit, so that the bits used do not depend on the value.
        on_one = coin(self.q, permanent.size, bits=bits)
        on_zero = coin(self.p, permanent.size, bits=bits)
        shape = permanent.shape
        return np.where(permanent, on_one.reshape(shape), on_zero.reshape(shape))

    def estimate(
        self, reports: object, candidates: Sequence[str], *, level: float = 0.95
    ) -> Estimate:
        """Estimate the frequency of each candidate, each with its own interval.

        See `rappor_decode`.

        Refuses: `InvalidArgument` for no reports, and reports no device could have sent.
        Law: `tests/local/test_rappor.py::TestDecoding`
        """
        read = self.read(reports)
        decoded = decode(self, read, read_candidates(candidates))
        return all_of(decoded, level=level)

    def find(
        self,
        reports: object,
        candidates: Sequence[str],
        *,
        level: float = 0.95,
        false_share: float = 0.05,
    ) -> Estimate:
        """Return the candidates that occur at all, with joint confidence intervals.

        On average at most `false_share` of the candidates returned do not occur (Benjamini,
        Hochberg 1995; see `rappor_decode`). The intervals hold for all candidates at once with
        probability about `level`, so also for those returned. They hold only about, since they take
        the scatter of the cells to be normal. Refuses the same as `estimate`.
        """
        read = self.read(reports)
        decoded = decode(self, read, read_candidates(candidates))
        return found_of(decoded, level=level, false_share=false_share)

    def read(self, reports: object) -> BitReports:
        """Read reports.

        Refuses: `InvalidArgument` for reports no device could have sent.
        """
        return read_bit_reports(reports, rows=self.cohorts, width=self.bits)

    def variance(self, *, n: int, frequency: float = 0.0) -> float:
        """Return the variance of a frequency if no two candidates share a bit.

        At frequency 0 it is p*(1 − p*)/(q* − p*)²/(n·h): the mean of the h bits of a value in every
        cohort. The cost of other candidates is not counted.

        >>> from discreet.local import Rappor
        >>> chrome = Rappor(bits=16, hashes=2, cohorts=64, f=0.5, p=0.5, q=0.75, key="homepage")
        >>> round(10**6 * chrome.variance(n=10**6) ** 0.5)
        2806
        """
        check_from_0_to_1(frequency, "frequency")
        p, q = map(float, self.shown)
        of_holders = frequency * q * (1 - q)
        of_others = (1 - frequency) * p * (1 - p)
        one_bit = of_holders + of_others
        people = whole(n, "n", least=1)
        return one_bit / (people * self.hashes * (q - p) ** 2)

    def error(self, *, n: int, beta: Number = 0.05) -> float:
        """Return the error of a frequency near 0, with probability 1 − β, by the normal law."""
        factor = quantile(read_beta(beta))
        return up(factor * math.sqrt(self.variance(n=n)))

    def influence(self, *, n: int, forged: int = 1) -> float:
        """Return about how far `forged` of n reports move an estimate: forged/n/(q* − p*).

        The forged reports are assumed to be spread over cohorts. It is no bound: the regression
        weighs cells by their contents. So reports that gather in one cohort, or mark the bits that
        candidates share, can move it farther (seen: 0.21 where this is 0.16).
        """
        people, forged_count = read_forged(n, forged)
        p, q = map(float, self.shown)
        return up(forged_count / people / (q - p))

    def shuffled(self, n: int) -> Shuffle:
        """Return the price of one of at least n shuffled reports, by clones (`shuffle_pure`).

        Each further report costs more.
        """
        return shuffle_pure(self.epsilon, n)

    def to_json(self) -> dict[str, object]:
        """Return the parameters: all that a device needs."""
        return parameters_of(self, "rappor", _FIELDS)

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> Rappor:
        """Read parameters written by `to_json`.

        Refuses: `InvalidArgument` for unknown or missing fields, and other versions.
        """
        return cls(**fields_of(given, "rappor", _FIELDS))
