"""Intervals of days of a stream: sums of days have the noise of the running totals at their ends alone."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.privacy import PureDP
from discreet.privacy.measures import ZCDP
from discreet.statistics.releases.stream_day import (
    DayEstimate,
    StreamDay,
    StreamLaw,
    inner_multiples,
    published_by,
    shares_noise,
)
from discreet.workloads.sealed_line import sealed_line
from discreet.workloads.strategy_norms import StrategyNorms
from discreet.workloads.stream_noise import buy_noise
from discreet.workloads.triangular import Participation, root_strategy

LINES = {"gaussian": (root_strategy(20), ZCDP("1/2")), "sealed": (sealed_line(20), PureDP(1))}


def law_of(kind, step=None):
    line, spend = LINES[kind]
    noise = buy_noise(line, Participation(), 2, StrategyNorms(), spend)
    return StreamLaw("visits", noise, 64, Fraction(2), step)


def width(box):
    return float(box[1] - box[0])


@pytest.mark.parametrize("kind", LINES)
def test_a_sum_of_days_has_the_noise_of_its_ends(kind):
    """Ten days in a row are one difference of running totals; ten days apart are ten of them."""
    law = law_of(kind)
    days = [StreamDay(law, number, 0, Fraction(7)) for number in range(20)]
    parts = [(day, Fraction(1)) for day in days]
    line = law.box(Fraction(3), parts[5:15], 0.05)
    assert sum(line) / 2 == 3 + 10 * 7
    reach = law.noise.reaches([5], [15], 0.05)[0] * law.unit
    assert width(line) >= 2 * float(reach) * 0.999
    assert width(line) < width(law.box(Fraction(3), parts[::2], 0.05))
    # The same day with opposite signs leaves nothing that is not known; bounds round up all the same.
    assert width(law.box(Fraction(1), [parts[4], (days[4], Fraction(-1))], 0.05)) < 1e-300
    # Noise of different keys is independent, and each adds to the interval.
    other = StreamDay(law, 4, 1, Fraction(7))
    assert width(law.box(Fraction(0), [parts[4], (other, Fraction(1))], 0.05)) > width(
        days[4].box(0.05)
    )
    assert days[4].box(0.05) == law.box(Fraction(0), [parts[4]], 0.05)


@pytest.mark.parametrize("kind", LINES)
def test_ends_are_possible_numbers(kind):
    """Whole sums of days are multiples of the column's step, so their intervals end on multiples."""
    free, stepped = law_of(kind), law_of(kind, Fraction(4))
    wide = StreamDay(free, 3, 0, Fraction(10)).box(0.1)
    inner = StreamDay(stepped, 3, 0, Fraction(10)).box(0.1)
    assert wide[0] <= inner[0] <= inner[1] <= wide[1]
    assert inner[0] % 4 == inner[1] % 4 == 0
    day = StreamDay(stepped, 3, 0, Fraction(10))
    # Half a day is no such number, nor is a constant beside the steps.
    assert stepped.box(Fraction(0), [(day, Fraction(1, 2))], 0.1)[0] % 4 != 0
    assert inner_multiples(Fraction(1), Fraction(3), Fraction(4)) == (1, 3)
    assert inner_multiples(Fraction(-5), Fraction(9), Fraction(4)) == (-4, 8)


def test_rows_know_their_stream():
    sealed, gaussian = law_of("sealed"), law_of("gaussian")
    rows = {}
    for name, law in (("sealed", sealed), ("gaussian", gaussian)):
        rows[name] = [{"n": DayEstimate(StreamDay(law, 0, 0, Fraction(7)), shown=6.5)}]
    assert rows["sealed"][0]["n"].value == 6.5
    assert published_by(rows["sealed"]) == "visits" and published_by([]) == ""
    assert shares_noise(rows["sealed"]) and not shares_noise(rows["gaussian"])
    assert published_by([{"n": 3.0}]) == "" and not shares_noise([])
