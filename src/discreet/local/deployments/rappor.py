"""RAPPOR: a Bloom filter, noised once for ever and once more for every report (Erlingsson, Pihur, Korolova 2014)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from ...arithmetic.rational import Number, rational, whole
from ...arithmetic.rounding import fraction_up, up
from ...errors import InvalidArgument
from ...frozen import fill, frozen
from ...mechanisms.laws.error_bound import named, read_beta
from ...noise import Bits, coin, uniform
from ...privacy.events import Promise
from ..estimates.estimate import Estimate
from ..estimates.proportion import deviations
from ..reports.parameters import fields_of
from ..shuffle import Shuffle, shuffle_pure
from ..spend import read_epsilon
from .bit_reports import BitReport, BitReports, pack_bits, read_bit_reports
from .flip import promise
from .hashing import RowHashes, Words64, fingerprints, read_key, read_width
from .rappor_decode import all_of, decode, found_of
from .sketch_estimate import read_candidates

_Bits = NDArray[np.bool_]


@frozen(init=False)
class Rappor:
    """Send a cohort and the bits of a Bloom filter, with a permanent and an instantaneous noise.

    A device draws its cohort once. A value marks `hashes` of the `bits`, by the cohort's hash functions. Permanent
    response, drawn once for a value and kept: a bit is 1 with probability f/2, 0 with f/2, else as it is. Instantaneous
    response, drawn for every report: 1 with probability q where the permanent bit is 1, p where it is 0.

    Two values differ in at most `hashes` bits each way. With q* = f(p + q)/2 + (1 − f)q, p* = f(p + q)/2 + (1 − f)p:
    one report is ε₁ = h·ln(q*(1 − p*)/(p*(1 − q*))) private (`epsilon`), and all reports about a value that never
    changes, for ever, ε∞ = 2h·ln((1 − f/2)/(f/2)) (`epsilon_for_ever`); Theorems 1 and 2 of the paper. f, p, q are
    rationals, the coins are exact, both prices round up.

    What ε∞ does not promise: that a device cannot be recognised. Its permanent bits are a fingerprint, and the moments
    at which a value changes show (Naor, Vexler 2020).

    >>> from discreet.local import Rappor
    >>> chrome = Rappor(bits=16, hashes=2, cohorts=64, f=0.5, p=0.5, q=0.75, key="homepage")
    >>> round(float(chrome.epsilon), 4), round(float(chrome.epsilon_for_ever), 4)
    (1.0743, 4.3944)
    >>> cohort, bloom = chrome.randomize("example.org")

    Refuses f outside (0, 1), p ≥ q, bits that are no power of two, and values that are no text.
    """

    bits: int
    hashes: int
    cohorts: int
    f: Fraction
    p: Fraction
    q: Fraction
    key: str

    __repr__ = named

    def __init__(
        self, *, bits: int, hashes: int, cohorts: int, f: Number, p: Number, q: Number, key: str
    ) -> None:
        shares = {name: rational(value, name) for name, value in {"f": f, "p": p, "q": q}.items()}
        if not 0 < shares["f"] < 1:
            raise InvalidArgument(
                f"f must lie between 0 and 1, else nothing protects, or nothing is told; got {f}"
            )
        if not 0 <= shares["p"] < shares["q"] <= 1:
            raise InvalidArgument(f"p and q must be probabilities with p below q, got {p} and {q}")
        width = read_width(bits, "bits", most=1 << 16)
        shape = {
            "bits": width,
            "hashes": whole(hashes, "hashes", least=1, most=width),
            "key": read_key(key),
        }
        fill(self, **shape, **shares, cohorts=whole(cohorts, "cohorts", least=1, most=1 << 16))
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
        """Take the largest f, in steps of 1/64, with p = 1/2 and q = 3/4 at which n reports reach an error.

        Refuses an error that no f of at least 1/64 reaches.
        """
        target = float(rational(error, "error"))
        for step in range(63, 0, -1):
            shape = {"bits": bits, "hashes": hashes, "cohorts": cohorts, "key": key}
            made = cls(f=Fraction(step, 64), p=Fraction(1, 2), q=Fraction(3, 4), **shape)  # type: ignore[arg-type]
            if made.error(n=n, beta=beta) <= target:
                return made
        raise InvalidArgument(
            "no f gives this error with so few reports; ask more people or allow more error"
        )

    @property
    def shown(self) -> tuple[Fraction, Fraction]:
        """The probabilities (p*, q*) that a sent bit is 1 where the value does not mark it, and where it does."""
        half = self.f * (self.p + self.q) / 2
        return half + (1 - self.f) * self.p, half + (1 - self.f) * self.q

    @property
    def epsilon(self) -> Fraction:
        """ε₁, of one report: any two values; rounded up."""
        p, q = self.shown
        return _log_up(q * (1 - p) / (p * (1 - q))) * self.hashes

    @property
    def epsilon_for_ever(self) -> Fraction:
        """ε∞, of all reports about one value that never changes, by a device that keeps its permanent bits."""
        return _log_up((1 - self.f / 2) / (self.f / 2)) * 2 * self.hashes

    @property
    def event(self) -> Promise:
        """What one report costs the person who sends it; for a device that goes on reporting see `Device`."""
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
        prints = fingerprints([value] if isinstance(value, str) else value, self.key)
        cohorts = uniform(self.cohorts, prints.size, bits=bits)
        reports = pack_bits(
            cohorts, self.noise_again(self.noise_once(self.marks(cohorts, prints), bits), bits)
        )
        return reports[0] if isinstance(value, str) else reports

    def marks(self, cohorts: NDArray[np.int64], prints: Words64) -> _Bits:
        """Mark the Bloom bits of each fingerprint in its cohort."""
        rows = cohorts[:, None] * self.hashes + np.arange(self.hashes)
        cells = RowHashes(self.cohorts * self.hashes, self.bits, self.key).place(
            rows, prints[:, None]
        )
        marked = np.zeros((prints.size, self.bits), dtype=np.bool_)
        marked[np.arange(prints.size)[:, None], cells] = True
        return marked

    def noise_once(self, marked: _Bits, bits: Bits | None = None) -> _Bits:
        """Draw the permanent response: keep a bit with probability 1 − f, else it is a fair coin."""
        flipped = coin(self.f / 2, marked.size, bits=bits).reshape(marked.shape)
        return (
            marked ^ flipped
        )  # 1 and 0 with f/2 each and the bit with 1 − f: a flip with probability f/2

    def noise_again(self, permanent: _Bits, bits: Bits | None = None) -> _Bits:
        """Draw the instantaneous response: 1 with probability q on a permanent 1, with p on a 0."""
        high = coin(self.q, permanent.size, bits=bits).reshape(permanent.shape)
        low = coin(self.p, permanent.size, bits=bits).reshape(permanent.shape)
        return np.where(permanent, high, low)

    def estimate(
        self, reports: object, candidates: Sequence[str], *, level: float = 0.95
    ) -> Estimate:
        """Estimate how frequent each candidate is, each with its own interval; see `rappor_decode`.

        Refuses no reports, and reports no device could have sent.
        """
        read = self.read(reports)
        return all_of(decode(self, read, read_candidates(candidates)), level=level)

    def find(
        self,
        reports: object,
        candidates: Sequence[str],
        *,
        level: float = 0.95,
        false_share: float = 0.05,
    ) -> Estimate:
        """Return the candidates that are there at all, with intervals that hold jointly although these were picked.

        On average at most `false_share` of what is returned is not there (Benjamini, Hochberg 1995; see
        `rappor_decode`). The intervals hold for all candidates at once with probability about `level`, so for any that
        are picked: about, for they take the scatter of the cells to be normal. Refuses what `estimate` refuses.
        """
        read = self.read(reports)
        return found_of(
            decode(self, read, read_candidates(candidates)), level=level, false_share=false_share
        )

    def read(self, reports: object) -> BitReports:
        """Read reports; refuses those no device could have sent."""
        return read_bit_reports(reports, rows=self.cohorts, width=self.bits)

    def variance(self, *, n: int, frequency: float = 0.0) -> float:
        """Return the variance of a frequency if no two candidates share a bit: p*(1 − p*)/(q* − p*)²/(n·h) and more.

        The mean of the h bits of a value in every cohort, without what other candidates take away.

        >>> from discreet.local import Rappor
        >>> chrome = Rappor(bits=16, hashes=2, cohorts=64, f=0.5, p=0.5, q=0.75, key="homepage")
        >>> round(10**6 * chrome.variance(n=10**6) ** 0.5)
        2806
        """
        if not 0 <= frequency <= 1:
            raise InvalidArgument("frequency must lie from 0 to 1")
        p, q = map(float, self.shown)
        spread = frequency * q * (1 - q) + (1 - frequency) * p * (1 - p)
        return spread / (whole(n, "n", least=1) * self.hashes * (q - p) ** 2)

    def error(self, *, n: int, beta: Number = 0.05) -> float:
        """Return how far off a frequency near 0 is, with probability 1 − β, by the normal law with `variance`."""
        return up(deviations(read_beta(beta)) * math.sqrt(self.variance(n=n)))

    def influence(self, *, n: int, forged: int = 1) -> float:
        """Return about how far `forged` of n reports move an estimate, spread over cohorts: 1/(q* − p*) a report.

        No bound: the regression weighs cells by what they say, so reports that gather in one cohort, or mark the bits
        that candidates share, can move it farther (seen: 0.21 where this is 0.16).
        """
        people, (p, q) = whole(n, "n", least=1), map(float, self.shown)
        return up(whole(forged, "forged", most=people) / people / (q - p))

    def shuffled(self, n: int) -> Shuffle:
        """Return what one report costs among those of at least n people, by clones; further ones cost more, each."""
        return shuffle_pure(self.epsilon, n)

    def to_json(self) -> dict[str, object]:
        """Return the parameters, all a device needs."""
        shape = {"bits": self.bits, "hashes": self.hashes, "cohorts": self.cohorts, "key": self.key}
        shares = {"f": str(self.f), "p": str(self.p), "q": str(self.q)}
        return {"mechanism": "rappor", "version": 1, **shape, **shares}

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> Rappor:
        """Read what `to_json` wrote; refuses unknown or missing fields, and other versions."""
        return cls(
            **fields_of(given, "rappor", ("bits", "hashes", "cohorts", "f", "p", "q", "key"))
        )


def _log_up(ratio: Fraction) -> Fraction:
    """Return ln(ratio), rounded up."""
    if ratio < 2:
        return fraction_up(math.log1p(ratio - 1))
    return fraction_up(math.log(ratio.numerator) - math.log(ratio.denominator), 2.0**-36)
