"""Exact flip of a bit, true with probability 1/(1 + e^ε), and the ε of a report.

The coin has exactly that probability, drawn from random bits without floating point.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ...arithmetic.arrays import Flags
from ...mechanisms.reading.allowance import largest_epsilon
from ...noise import Bits
from ...noise.block_draws import cached, serve
from ...privacy.events import Promise
from ...privacy.measures import REPLACE, Measure, PureDP
from ..family import InsideCoin
from ..spend import read_epsilon


@cached
def _kept(epsilon: object) -> InsideCoin:
    """Return the coin that is true where a bit is not flipped."""
    return InsideCoin(epsilon)  # type: ignore[arg-type]


def flips(epsilon: Fraction, count: int, bits: Bits | None = None) -> Flags:
    """Draw `count` independent flips, each true with probability exactly 1/(1 + e^ε).

    >>> from discreet.local.deployments.flip import flips
    >>> from fractions import Fraction
    >>> flips(Fraction(10**6), 3).any()
    np.False_

    Law: `tests/local/test_sketches.py::TestExactLaws`
    """
    kept = np.asarray(serve(_kept(epsilon), count, bits), dtype=np.bool_)
    return ~kept


def promise(epsilon: Fraction) -> Promise:
    """Return the event of an ε-private report, for any two values of the person who reports."""
    return Promise(PureDP(epsilon), neighbours=REPLACE)


def epsilon_of(spend: Measure) -> Fraction:
    """Return the largest ε of one report that fits a budget; ε itself under PureDP.

    >>> import discreet as dp
    >>> from discreet.local.deployments.flip import epsilon_of
    >>> epsilon_of(dp.PureDP(2))
    Fraction(2, 1)

    Refuses: `InvalidArgument` for a budget of zero, anything but a measure, and ε that
    `read_epsilon` refuses.
    """
    return read_epsilon(largest_epsilon(promise, spend))
