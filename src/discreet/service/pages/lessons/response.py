"""Fourth lesson: randomized response. Nobody is held to an answer, and the share can still be told."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ....arithmetic.rounding import shown
from ....mechanisms.response.randomized import Frequencies, RandomizedResponse
from ....show.markup import Html, join
from ....show.scale import ChartScale
from ..charts.chart import WIDTH, ChartFrame, circle, label, path, picture, plain
from .lesson import Fact, Lesson, Slide

EPSILON = Slide("epsilon", "Budget of each person", "ε", (0.1, 0.2, 0.5, 0.7, 1, 1.5, 2, 3, 5), 4)
PEOPLE = Slide("people", "People asked", "n", (100, 300, 1_000, 3_000, 10_000), 2)
SHARE = 0.3
ROWS, COLUMNS = 5, 20


def response_lesson(asked: Mapping[str, str]) -> Lesson:
    """Ask n made-up people, three in ten of whom would truly say yes, and estimate that share from what they say."""
    epsilon, people = EPSILON.at(asked), PEOPLE.at(asked)
    response = RandomizedResponse(options=2, epsilon=Fraction(str(epsilon.value)))
    truths = (np.arange(round(people.value)) % 10 < round(10 * SHARE)).astype(np.int64)
    said = response.release(truths)
    found = response.estimate(said)
    return Lesson(
        "response", (epsilon, people), _picture(truths, said, found), _facts(response, said, found)
    )


def _facts(
    response: RandomizedResponse, said: NDArray[np.int64], found: Frequencies
) -> tuple[Fact, ...]:
    low, high = found.interval(0.05)[1]
    return (
        Fact(
            f"{100 * response.p:.1f} %", "the chance that a person tells the truth: e^ε / (1 + e^ε)"
        ),
        Fact(f"{100 * said.mean():.1f} %", f"said yes; {100 * SHARE:.0f} % would truly do so"),
        Fact(
            f"{100 * found.values[1]:.1f} %",
            f"estimated; the true share lies from {shown(100 * low, 3, upward=False)} to {shown(100 * high, 3)} %, "
            "95 times in 100",
        ),
    )


def _picture(truths: NDArray[np.int64], said: NDArray[np.int64], found: Frequencies) -> Html:
    crowd = ChartFrame(ChartScale(0, COLUMNS - 1, 18, WIDTH - 18), ChartScale(0, ROWS - 1, 22, 110))
    dots = []
    for place in range(ROWS * COLUMNS):
        kind = ("dot" if said[place] else "ring") + (
            " lied" if said[place] != truths[place] else ""
        )
        dots.append(circle(crowd, (place % COLUMNS, place // COLUMNS), kind, 6))
    words = "The first hundred people: a filled dot said yes; a dashed edge did not tell the truth. Below, the estimate."
    return picture("A hundred answers", words, [*dots, _interval(found)], height=200)


def _interval(found: Frequencies) -> Html:
    frame = ChartFrame(ChartScale(0, 1, 18, WIDTH - 18), ChartScale(0, 1, 178, 150))
    low, high = found.interval(0.05)[1]
    value = float(found.values[1])
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
