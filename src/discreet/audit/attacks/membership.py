"""Membership: can anybody tell from a model whether a row was among those it has learned from?

The attack says "member" where a score (minus the loss, say) is high. Its threshold is chosen on one half of the scores
and tried on the other, so that what it reaches there is not luck. If training is (ε, δ)-private for each row, then
P(member | in) ≤ e^ε·P(member | out) + δ: what the attack reaches is a lower bound on ε, with the confidence stated.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import InvalidArgument
from ...frozen import frozen
from ..evidence.bounds import clopper_pearson_lower, clopper_pearson_upper


@frozen
class Membership:
    """What an attack reached: how often it says "member" of members and of others, and what that says about ε.

    `advantage` is the difference, 0 for a guess; `epsilon` is below the true ε with probability at least 1 − alpha.
    """

    found: float
    false: float
    epsilon: float
    alpha: float

    @property
    def advantage(self) -> float:
        """How much better than a guess."""
        return self.found - self.false

    def __str__(self) -> str:
        return (
            f"says member of {self.found:.1%} of the members and {self.false:.1%} of the others: advantage "
            f"{self.advantage:+.3f}; ε is at least {self.epsilon:.3g} (but for a chance of {self.alpha:g})"
        )


def membership(members: Any, others: Any, *, delta: float = 0.0, alpha: float = 0.05) -> Membership:  # noqa: ANN401
    """Attack a model by the scores of rows it has learned from and of rows it has not; higher says "member".

    >>> import numpy as np
    >>> from discreet.audit import membership
    >>> rng = np.random.default_rng(0)
    >>> membership(rng.normal(3, 1, 1000), rng.normal(0, 1, 1000)).epsilon > 1
    True
    >>> membership(rng.normal(0, 1, 1000), rng.normal(0, 1, 1000)).epsilon
    0.0

    Refuses fewer than 20 scores of either kind.
    """
    first, second = (_scores(side) for side in (members, others))
    cut = _threshold(first[::2], second[::2])
    hits, misses = first[1::2] >= cut, second[1::2] >= cut
    low = clopper_pearson_lower(int(hits.sum()), len(hits), alpha / 2)
    high = clopper_pearson_upper(int(misses.sum()), len(misses), alpha / 2)
    reached = (low - delta) / high if high > 0 else math.inf
    return Membership(
        float(hits.mean()),
        float(misses.mean()),
        max(0.0, math.log(reached)) if reached > 0 else 0.0,
        alpha,
    )


def _scores(side: Any) -> NDArray[np.float64]:  # noqa: ANN401
    found = np.asarray(side, dtype=np.float64).ravel()
    if len(found) < 20 or not np.isfinite(found).all():
        raise InvalidArgument(
            "membership needs at least 20 finite scores of members and 20 of others"
        )
    return found


def _threshold(members: NDArray[np.float64], others: NDArray[np.float64]) -> float:
    """Return the score above which members are most in excess of others."""
    places = np.unique(np.concatenate([members, others]))
    ahead = (members[:, None] >= places).mean(axis=0) - (others[:, None] >= places).mean(axis=0)
    return float(places[int(ahead.argmax())])
