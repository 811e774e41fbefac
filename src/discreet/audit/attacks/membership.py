"""Membership inference: does a model reveal whether a row was in its training data?

The attack says "member" where a score (minus the loss, say) is high. Its threshold is chosen on one
half of the scores and tried on the other, so that its success there is not luck. If training is
(ε, δ)-private for each row, then P(member | in) ≤ e^ε·P(member | out) + δ. So the success is a
lower bound on ε, with the confidence stated.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...arithmetic.arrays import Floats
from ...errors import InvalidArgument
from ...frozen import frozen
from ..evidence.bounds import clopper_pearson_lower, clopper_pearson_upper


@frozen
class Membership:
    """Success of an attack, and the lower bound on ε that follows from it.

    `found` is the fraction of members of whom the attack says "member", `false` that of others.
    Both are of the half that did not choose the threshold. `advantage` is the difference, about 0
    for a guess. `epsilon` is below the true ε with probability at least 1 − alpha.
    """

    found: float
    false: float
    epsilon: float
    alpha: float

    @property
    def advantage(self) -> float:
        """The advantage over a guess."""
        return self.found - self.false

    def __str__(self) -> str:
        rates = f"says member of {self.found:.1%} of the members and {self.false:.1%} of the others"
        bound = f"ε is at least {self.epsilon:.3g} (but for a chance of {self.alpha:g})"
        return f"{rates}: advantage {self.advantage:+.3f}; {bound}"


def membership(members: Any, others: Any, *, delta: float = 0.0, alpha: float = 0.05) -> Membership:  # noqa: ANN401
    """Attack a model by scores of rows in and out of its training data; higher says "member".

    `members` and `others` are the scores of the two kinds of rows, `delta` is the δ of the claim.

    >>> import numpy as np
    >>> from discreet.audit import membership
    >>> rng = np.random.default_rng(0)
    >>> membership(rng.normal(3, 1, 1000), rng.normal(0, 1, 1000)).epsilon > 1
    True
    >>> membership(rng.normal(0, 1, 1000), rng.normal(0, 1, 1000)).epsilon
    0.0

    Guarantee: `epsilon` is below the true ε with probability at least 1 − alpha.
    Refuses: `InvalidArgument` for fewer than 20 scores of members or of others, and for scores that
    are not finite.
    Law: `tests/audit/test_attacks.py::TestMembership`
    """
    member_scores = _read_scores(members)
    other_scores = _read_scores(others)
    threshold = _threshold(member_scores[::2], other_scores[::2])
    hits = member_scores[1::2] >= threshold
    false_hits = other_scores[1::2] >= threshold
    # Half of α for each of the two bounds.
    low = clopper_pearson_lower(int(hits.sum()), len(hits), alpha / 2)
    high = clopper_pearson_upper(int(false_hits.sum()), len(false_hits), alpha / 2)
    ratio = (low - delta) / high if high > 0 else math.inf
    epsilon = 0.0
    if ratio > 0:
        epsilon = max(0.0, math.log(ratio))
    return Membership(float(hits.mean()), float(false_hits.mean()), epsilon, alpha)


def _read_scores(side: Any) -> Floats:  # noqa: ANN401
    """Return scores as floats; refuse fewer than 20, and scores that are not finite."""
    scores = np.asarray(side, dtype=np.float64).ravel()
    if len(scores) < 20 or not np.isfinite(scores).all():
        raise InvalidArgument(
            "membership needs at least 20 finite scores of members and 20 of others"
        )
    return scores


def _threshold(members: Floats, others: Floats) -> float:
    """Return the score from which on members are most in excess of others."""
    candidates = np.unique(np.concatenate([members, others]))
    hits = (members[:, None] >= candidates).mean(axis=0)
    false_hits = (others[:, None] >= candidates).mean(axis=0)
    best = int((hits - false_hits).argmax())
    return float(candidates[best])
