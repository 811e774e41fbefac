"""Sixth lesson, an attack: two counts that differ in one person. Exact counts tell the secret, noisy ones do not."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from ...mechanisms.additive.discrete_laplace import Geometric
from ...privacy.measures import PureDP
from ...service.pages.charts.chart import HEIGHT, WIDTH, ChartFrame, axes, path, picture
from ...show.markup import Html
from ...show.scale import ChartScale, linear
from ..lesson import Fact, Lesson, Slide

EPSILON = Slide("epsilon", "Budget of both counts together", "ε", (0.1, 0.2, 0.5, 1, 2, 4, 8), 3)
ASKED = 2_000
REACH = 8
"""Differences farther out are drawn at the ends of the picture."""


def differencing_lesson(asked: Mapping[str, str]) -> Lesson:
    """Ask for both counts two thousand times, and guess each time whether Ada has the diagnosis."""
    slide = EPSILON.at(asked)
    each = Geometric.spending(PureDP(Fraction(str(slide.value)) / 2), sensitivity=1)
    noise = each.release(np.zeros((2, ASKED), dtype=np.int64))
    without = np.asarray(noise[0] - noise[1])
    right = ((without + 1 >= 1).mean() + (without < 1).mean()) / 2
    best = np.exp(slide.value) / (1 + np.exp(slide.value))
    facts = (
        Fact("100 %", "right without noise: the difference of the two counts is Ada's secret"),
        Fact(f"{100 * best:.1f} %", "the most that any guess can be right, whatever else is known"),
        Fact(
            f"{100 * right:.1f} %",
            f"right with noise, in {ASKED:,} tries made just now; a coin is right in 50 %",
        ),
    )
    return Lesson("differencing", (slide,), _picture(without), facts)


def _picture(without: np.ndarray) -> Html:
    places = np.arange(-REACH, REACH + 1)
    found = {
        shift: [float((np.clip(without + shift, -REACH, REACH) == x).mean()) for x in places]
        for shift in (0, 1)
    }
    frame = ChartFrame(
        ChartScale(-REACH, REACH, 46, WIDTH - 10),
        linear(0, max(map(max, found.values())), HEIGHT - 44, 24),
    )
    parts = [
        axes(frame, "second count − first count", "share", x_ticks=8),
        path(frame, list(zip(places.tolist(), found[0], strict=True)), "line other"),
        path(frame, list(zip(places.tolist(), found[1], strict=True)), "line"),
    ]
    words = "Two lines that nearly cover each other: differences if Ada has the diagnosis, and if she has not."
    return picture("Differences of two noisy counts", words, parts)
