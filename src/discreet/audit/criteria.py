"""Criteria of an audit: the claim's ceiling, the confidence, the runs, and the reported ε and δ."""

from __future__ import annotations

from ..arithmetic.rational import whole
from ..errors import InvalidArgument
from ..frozen import frozen
from ..privacy.measures import ApproxDP, Measure, PureDP
from .evidence.bounds import read_probability
from .evidence.ceiling import Ceiling, PromiseFamily, at_delta, ceiling, family, gaussian_within
from .evidence.claim import claimed_epsilon, read_claim
from .evidence.runs_needed import least_runs


@frozen
class Criteria:
    """Claim, and the standard by which it is judged."""

    claim: Measure
    confidence: float
    samples: int
    assume: str | None
    epsilon: float
    delta: float
    ceiling: Ceiling

    @property
    def alpha(self) -> float:
        """The probability of a false alarm."""
        return 1 - self.confidence

    def own(self) -> PromiseFamily:
        """Return the ceilings of the claim's own number."""
        if self.assume:
            return at_delta(self.delta, assume=self.assume)
        return family(self.claim)

    def too_few(self) -> str:
        """Return a refusal if even a complete leak could not refute the claim with these runs."""
        # Half of the runs may be needed to search, the other half to judge.
        needed = 2 * least_runs(self.ceiling, self.alpha)
        if self.samples >= needed:
            return ""
        return (
            f"too few runs: {self.samples} on each input cannot refute {self.claim}; "
            f"at least {needed} are needed"
        )


def judge_for(
    claim: Measure,
    confidence: float,
    samples: int | None,
    *,
    mode: str,
    assume: str | None = None,
    delta: float | None = None,
) -> Criteria:
    """Read the arguments of an audit; `mode` says whether many runs can be asked for at once."""
    sure = read_probability(confidence, "confidence")
    usual = 10_000 if mode == "no" else 200_000
    runs = usual if samples is None else whole(samples, "samples", least=100)
    _check_assumption(read_claim(claim), assume)
    at = _delta_of(claim, delta)
    epsilon = claimed_epsilon(claim, at)
    return Criteria(claim, sure, runs, assume, epsilon, at, ceiling(claim, assume=assume))


def _delta_of(claim: Measure, delta: float | None) -> float:
    """Return the δ at which ε is reported: the claim's own, if it has one."""
    if not isinstance(claim, PureDP | ApproxDP):
        return 1e-5 if delta is None else read_probability(delta, "delta")
    if delta is not None:
        raise InvalidArgument(f"the claim {claim} has its own δ; leave `delta` out")
    return float(claim.delta) if isinstance(claim, ApproxDP) else 0.0


def _check_assumption(claim: Measure, assume: str | None) -> None:
    """Refuse an unknown assumption, and one under which the claim cannot hold."""
    if assume not in (None, "gaussian"):
        raise InvalidArgument(f"assume must be None or 'gaussian', got {assume!r}")
    if assume and gaussian_within(claim) == 0:
        raise InvalidArgument(
            f"no Gaussian noise keeps {claim}: it has no pure ε; state the claim with a δ"
        )
