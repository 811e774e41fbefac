"""By what standard a claim is judged: its ceiling, the confidence, the number of runs, and where ε and δ are read."""

from __future__ import annotations

from ..arithmetic.rational import whole
from ..errors import InvalidArgument
from ..frozen import frozen
from ..privacy.measures import ApproxDP, Measure, PureDP
from .evidence.bounds import level
from .evidence.ceiling import Ceiling, PromiseFamily, at_delta, ceiling, family, gaussian_within
from .evidence.claim import claimed_epsilon, read_claim
from .evidence.runs_needed import least_runs


@frozen
class Criteria:
    """What is claimed, and by what standard it is judged."""

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
        """The ceilings of the claim's own number."""
        return at_delta(self.delta, assume=self.assume) if self.assume else family(self.claim)

    def too_few(self) -> str:
        """Say so if even a complete leak could not refute the claim with these runs."""
        needed = 2 * least_runs(self.ceiling, self.alpha)
        if self.samples >= needed:
            return ""
        return f"too few runs: {self.samples} on each input cannot refute {self.claim}; at least {needed} are needed"


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
    sure = level(confidence, "confidence")
    usual = 10_000 if mode == "no" else 200_000
    chosen = usual if samples is None else whole(samples, "samples", least=100)
    _check_assumption(read_claim(claim), assume)
    if isinstance(claim, PureDP | ApproxDP):
        if delta is not None:
            raise InvalidArgument(f"the claim {claim} has its own δ; leave `delta` out")
        at = float(claim.delta) if isinstance(claim, ApproxDP) else 0.0
    else:
        at = 1e-5 if delta is None else level(delta, "delta")
    return Criteria(
        claim, sure, chosen, assume, claimed_epsilon(claim, at), at, ceiling(claim, assume=assume)
    )


def _check_assumption(claim: Measure, assume: str | None) -> None:
    if assume not in (None, "gaussian"):
        raise InvalidArgument(f"assume must be None or 'gaussian', got {assume!r}")
    if assume and gaussian_within(claim) == 0:
        raise InvalidArgument(
            f"no Gaussian noise keeps {claim}: it has no pure ε; state the claim with a δ"
        )
