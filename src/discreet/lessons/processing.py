"""Lesson about post-processing: it costs nothing, and often makes an answer better."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from ..mechanisms.additive.discrete_laplace import Geometric
from ..privacy.measures import PureDP
from ..service.pages.charts.chart import (
    HEIGHT,
    WIDTH,
    ChartFrame,
    axes,
    circle,
    label,
    path,
    picture,
)
from ..show.markup import Html
from ..show.scale import ChartScale, linear
from .lesson import Fact, Lesson, Slide

EPSILON = Slide("epsilon", "Budget of the table", "ε", (0.05, 0.1, 0.2, 0.5, 1), 2)
STEP = Slide(
    "step",
    "What is done afterwards",
    "",
    (0, 1, 2, 3),
    1,
    (
        "nothing",
        "negative counts become 0",
        "and they add up to the public total",
        "rounded to tens",
    ),
)
TRUTH = np.array([40, 21, 12, 7, 3, 1, 0, 0])
NAMES = tuple("ABCDEFGH")
TRIES = 2_000


def processing_lesson(asked: Mapping[str, str]) -> Lesson:
    """Release a table of eight counts two thousand times, and compare what is told with what is made of it."""
    epsilon, step = EPSILON.at(asked), STEP.at(asked)
    noise = Geometric.spending(PureDP(Fraction(str(epsilon.value))), sensitivity=1)
    told = np.asarray(noise.release(np.tile(TRUTH, (TRIES, 1))), dtype=float)
    made = process(told, round(step.value))
    facts = (
        Fact(
            f"ε = {epsilon.value:g}",
            "before, and ε is the same after: whoever sees only the answer can do no harm",
        ),
        Fact(f"± {np.abs(told - TRUTH).mean():.1f}", "mean error of a count as it is told"),
        Fact(
            f"± {np.abs(made - TRUTH).mean():.1f}",
            f"mean error afterwards, in {TRIES:,} tries made just now",
        ),
    )
    return Lesson("processing", (epsilon, step), _picture(told[0], made[0]), facts)


def process(told: np.ndarray, step: int) -> np.ndarray:
    """Do a step to tables of counts, row by row: none, no negative ones, those with the public total, tens.

    >>> import numpy as np
    >>> from discreet.lessons.processing import process
    >>> process(np.array([[90.0, -6.0, 4.0]]), 2).sum()
    np.float64(84.0)
    """
    if step == 0:
        return told
    if step == 3:
        return np.asarray(np.round(told / 10) * 10)
    if step == 1:
        return np.asarray(np.maximum(told, 0))
    total, sorted_ = TRUTH.sum(), -np.sort(-told, axis=1)
    # the nearest table without negative counts and with this sum: all are lowered alike, those below become 0
    over = (np.cumsum(sorted_, axis=1) - total) / np.arange(1, told.shape[1] + 1)
    last = told.shape[1] - 1 - np.argmax((sorted_ > over)[:, ::-1], axis=1)
    return np.asarray(np.maximum(told - over[np.arange(len(told)), last][:, None], 0))


def _picture(told: np.ndarray, made: np.ndarray) -> Html:
    low, high = min(0.0, float(told.min())), max(float(told.max()), float(TRUTH.max()))
    frame = ChartFrame(
        ChartScale(-0.5, len(TRUTH) - 0.5, 46, WIDTH - 10), linear(low, high, HEIGHT - 44, 24)
    )
    parts = [axes(frame, "group", "people", x_ticks=0)]
    for place, truth in enumerate(TRUTH):
        parts += [
            path(frame, [(place - 0.35, float(truth)), (place + 0.35, float(truth))], "truth"),
            circle(frame, (place - 0.12, float(told[place])), "ring", 4),
            circle(frame, (place + 0.12, float(made[place])), "dot", 4),
            label(frame, (place, frame.y.low), NAMES[place], kind="tick", anchor="middle", dy=17),
        ]
    words = "Eight groups: a stroke for the truth, a ring for what is told, a dot for what is made of it."
    return picture("Counts as told and afterwards", words, parts)
