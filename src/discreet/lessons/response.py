"""Fourth lesson: randomized response. Every answer is deniable, and the share can still be estimated."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.rounding import shown
from ..mechanisms.response.randomized import Frequencies, RandomizedResponse
from ..service.pages.charts.chart import WIDTH, ChartFrame, circle, label, path, picture, plain
from ..show.markup import Html, join
from ..show.scale import ChartScale
from .lesson import Fact, Lesson, Slide

EPSILON = Slide("epsilon", "Budget of each person", "ε", (0.1, 0.2, 0.5, 0.7, 1, 1.5, 2, 3, 5), 4)
PEOPLE = Slide("people", "People asked", "n", (100, 300, 1_000, 3_000, 10_000), 2)
SHARE = 0.3
ROWS = 5
COLUMNS = 20
BETA = 0.05
"""Failure probability of the confidence interval that is shown."""


def response_lesson(asked: Mapping[str, str]) -> Lesson:
    """Ask n made-up people, three in ten of whom would truly say yes, and estimate that share."""
    epsilon = EPSILON.at(asked)
    people = PEOPLE.at(asked)
    response = RandomizedResponse(options=2, epsilon=Fraction(str(epsilon.value)))
    would_say_yes = np.arange(round(people.value)) % 10 < round(10 * SHARE)
    truths = would_say_yes.astype(np.int64)
    said = response.release(truths)
    estimate = response.estimate(said)
    drawn = _picture(truths, said, estimate)
    return Lesson("response", (epsilon, people), drawn, _facts(response, said, estimate))


def _facts(
    response: RandomizedResponse, said: NDArray[np.int64], estimate: Frequencies
) -> tuple[Fact, ...]:
    low, high = estimate.interval(BETA)[1]
    # Both ends are rounded outwards, so that the interval shown is never too narrow.
    low_text = shown(100 * low, 3, upward=False)
    high_text = shown(100 * high, 3)
    return (
        Fact(
            f"{100 * response.p:.1f} %", "the chance that a person tells the truth: e^ε / (1 + e^ε)"
        ),
        Fact(f"{100 * said.mean():.1f} %", f"said yes; {100 * SHARE:.0f} % would truly do so"),
        Fact(
            f"{100 * estimate.values[1]:.1f} %",
            f"estimated; the true share lies from {low_text} to {high_text} %, 95 times in 100",
        ),
    )


def _picture(truths: NDArray[np.int64], said: NDArray[np.int64], estimate: Frequencies) -> Html:
    x = ChartScale(0, COLUMNS - 1, 18, WIDTH - 18)
    crowd = ChartFrame(x, ChartScale(0, ROWS - 1, 22, 110))
    dots = []
    for person in range(ROWS * COLUMNS):
        kind = "dot" if said[person] else "ring"
        if said[person] != truths[person]:
            kind += " lied"
        row, column = divmod(person, COLUMNS)
        dots.append(circle(crowd, (column, row), kind, 6))
    description = (
        "The first hundred people: a filled dot said yes; a dashed edge did not tell the truth. "
        "Below, the estimate."
    )
    return picture("A hundred answers", description, [*dots, _interval(estimate)], height=200)


def _interval(estimate: Frequencies) -> Html:
    frame = ChartFrame(ChartScale(0, 1, 18, WIDTH - 18), ChartScale(0, 1, 178, 150))
    low, high = estimate.interval(BETA)[1]
    value = float(estimate.values[1])
    marks = [
        label(frame, (tick, 0), f"{plain(100 * tick)} %", kind="tick", anchor="middle", dy=16)
        for tick in (0.0, 0.25, 0.5, 0.75, 1.0)
    ]
    marks += [
        path(frame, [(0, 0), (1, 0)], "axis"),
        path(frame, [(SHARE, 0), (SHARE, 1)], "truth"),
        label(frame, (SHARE, 1), "truth", kind="word other", anchor="middle", dy=-4),
        path(frame, [(low, 0.4), (high, 0.4)], "bar"),
        circle(frame, (value, 0.4), "dot", 5),
    ]
    return join(marks)
