"""Intervals of what is made of released answers, by the exact law of its noise: siblings, sums, margins, half sums.

The noise is known: discrete Gaussian or two-sided geometric, each total drawn by itself. So the probability that an
interval holds is a sum over a convolution of laws, worked out here with floating-point numbers from the widths alone.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import discreet as dp

LEVELS = (0.5, 0.9, 0.95, 0.99)
EPSILON = dp.PureDP("1/40")
RHO = dp.ZCDP("1/4000")
MOST = 0.015
"""An interval holds with at most this much more than its level."""
FLOAT = 1e-9


def curator(measure, cells):
    columns = {
        "a": dp.Integer(1, cells, default=1),
        "b": dp.Integer(1, 25, default=1),
        "kind": dp.Category(["x", "y"], default="x"),
    }
    schema = dp.Schema("t", dp.Rows(), columns)
    rows = [{"a": 1 + n % cells, "b": 1 + n % 25, "kind": "xy"[n % 2]} for n in range(500)]
    ledger = dp.open_ledger(":memory:", type(measure)(99))
    return dp.Curator(dp.Memory({"t": rows}), [schema], ledger, who="ana")


def law(mechanism):
    """Return the probabilities of the noise of one total, symmetric about the middle of an array."""
    scale = float(Fraction(mechanism.scale))
    most = int(60 * scale)
    steps = np.arange(-most, most + 1, dtype=float)
    if "Gaussian" in type(mechanism).__name__:
        weights = np.exp(-(steps**2) / (2 * scale**2))
    else:
        weights = np.exp(-np.abs(steps) / scale)
    return weights / weights.sum()


def convolved(laws):
    """Return the law of a sum of independent noises, by fast Fourier transforms."""
    size = sum(len(one) - 1 for one in laws) + 1
    length = 1 << size.bit_length()
    product = np.ones(length // 2 + 1, dtype=complex)
    for one in laws:
        product *= np.fft.rfft(one, length)
    return np.fft.irfft(product, length)[:size]


def chance(noise, reach):
    """Return the probability that a noise lies within `reach` of 0, both ends included."""
    middle = len(noise) // 2
    most = min(middle, int(np.floor(reach + 1e-6)))
    return noise[middle - most : middle + most + 1].sum()


def reaches(answer, level):
    """Return half the width of each interval of an answer."""
    return [(row["n"][1] - row["n"][0]) / 2 for row in answer.interval(level)]


def mechanism_of(asked, sql, spend):
    [release] = asked.plan(sql, spend).releases
    return release.mechanism


def check(answer, noise, unit=1):
    """Compare intervals with the exact law of their noise; numbers are whole multiples of 1/unit.

    Counts are whole, so ends are moved inwards to whole numbers. The longest interval was not moved.
    """
    for level in LEVELS:
        told = reaches(answer, level)
        assert max(told) - min(told) <= 1
        held = chance(noise, max(told) * unit)
        assert level - FLOAT <= held <= level + MOST, (level, held)


@pytest.mark.parametrize("spend", [EPSILON, RHO])
class TestTheExactLaw:
    def test_of_siblings(self, spend):
        """Cells that were measured with another, and shown later."""
        asked = curator(spend, 30)
        asked.sql("SELECT b, COUNT(*) AS n FROM t WHERE a = 7 GROUP BY b", spend=spend)
        sql = "SELECT b, COUNT(*) AS n FROM t WHERE a = 8 GROUP BY b"
        answer = asked.sql(sql, spend=spend, reuse="only")
        check(answer, law(mechanism_of(asked, sql, spend)))

    @pytest.mark.parametrize("cells", [2, 3, 10, 60])
    def test_of_margins(self, spend, cells):
        asked = curator(spend, cells)
        fine = "SELECT a, b, COUNT(*) AS n FROM t GROUP BY a, b"
        asked.sql(fine, spend=spend)
        one = law(mechanism_of(asked, fine, spend))
        margin = "SELECT b, COUNT(*) AS n FROM t GROUP BY b"
        answer = asked.sql(margin, spend=spend, within=99, reuse="only")
        check(answer, convolved([one] * cells))

    @pytest.mark.parametrize("cells", [2, 12])
    def test_of_a_pinned_sum(self, spend, cells):
        """One value of one key, summed over the values of another."""
        asked = curator(spend, cells)
        fine = "SELECT a, b, COUNT(*) AS n FROM t GROUP BY a, b"
        asked.sql(fine, spend=spend)
        one = law(mechanism_of(asked, fine, spend))
        pinned = "SELECT COUNT(*) AS n FROM t WHERE b = 3"
        answer = asked.sql(pinned, spend=spend, within=99, reuse="only")
        check(answer, convolved([one] * cells))


@pytest.mark.parametrize("first", ["", " WHERE b > 20"])
def test_of_contrasts(first):
    """Half the sum of a total, or of both sides of another condition, and a signed count."""
    asked = curator(RHO, 30)
    total = asked.sql(f"SELECT a, COUNT(*) AS n FROM t{first} GROUP BY a", spend=RHO)
    sql = "SELECT a, COUNT(*) AS n FROM t WHERE b < 10 GROUP BY a"
    answer = asked.sql(sql, spend=RHO)
    assert answer.receipt.total is not None
    known = float(total.receipt.event.variance)
    signed = float(answer.receipt.event.variance)
    noises = [law(dp.DiscreteGaussian(scale=known**0.5, sensitivity=1))] * (2 if first else 1)
    noises.append(law(dp.DiscreteGaussian(scale=signed**0.5, sensitivity=1)))
    check(answer, convolved(noises), unit=2)
