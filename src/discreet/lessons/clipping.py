"""Ninth lesson: sensitivity and clipping. A wide bound adds noise, a tight one cuts off; the best lies between."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from ..service.pages.charts.chart import (
    HEIGHT,
    WIDTH,
    ChartFrame,
    axes,
    circle,
    label,
    path,
    picture,
    plain,
)
from ..show.markup import Html
from ..show.scale import decades
from .lesson import Fact, Lesson, Slide

PEOPLE = Slide("people", "People", "n", (100, 1_000, 10_000, 100_000), 1)
EPSILON = Slide("epsilon", "Budget", "ε", (0.1, 0.3, 1, 3), 2)
BOUND = Slide("bound", "Upper bound of an income", "bound", (2e4, 5e4, 1e5, 2e5, 5e5, 1e6, 1e7), 4)
BOUNDS = np.geomspace(1e4, 1e7, 61)


def clipping_lesson(asked: Mapping[str, str]) -> Lesson:
    """Draw the error of a mean income against the bound: what is cut off, what the noise adds, and both."""
    return _lesson(PEOPLE.at(asked), EPSILON.at(asked), BOUND.at(asked))


@lru_cache(maxsize=256)
def _lesson(people: Slide, epsilon: Slide, bound: Slide) -> Lesson:
    cut, noise = _errors(people.value, epsilon.value, BOUNDS)
    both = np.hypot(cut, noise)
    here_cut, here_noise = (
        float(error[0]) for error in _errors(people.value, epsilon.value, np.array([bound.value]))
    )
    best = float(BOUNDS[int(np.argmin(both))])
    facts = (
        Fact(plain(round(here_cut)), "too low on average: what clipping cuts off"),
        Fact(plain(round(here_noise)), "deviation of the noise: bound / (n·ε) · √2"),
        Fact(
            plain(float(f"{best:.2g}")),
            "the best bound here; it must be known without looking at the data",
        ),
    )
    return Lesson(
        "clipping", (people, epsilon, bound), _picture(cut, noise, both, bound.value), facts
    )


def _errors(people: float, epsilon: float, bounds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return what is cut off the mean of incomes, and the deviation of the noise of a sum over n."""
    incomes = _incomes()
    cut = np.array([incomes.mean() - np.minimum(incomes, bound).mean() for bound in bounds])
    return cut, bounds / (people * epsilon) * np.sqrt(2)


@lru_cache(maxsize=1)
def _incomes() -> np.ndarray:
    """Make up incomes with a long tail: the same on every visit."""
    return np.random.default_rng(9).lognormal(np.log(30_000), 0.8, 20_000)


def _picture(cut: np.ndarray, noise: np.ndarray, both: np.ndarray, bound: float) -> Html:
    x, y = (
        decades(1e4, 1e7, 56, WIDTH - 10),
        decades(1, float(max(both.max(), 10)), HEIGHT - 44, 24),
    )
    frame = ChartFrame(x, y)
    lines = {"line faint": cut, "line other": noise, "line": both}
    parts = [axes(frame, "upper bound", "error of the mean", x_ticks=4, y_ticks=5)]
    parts += [
        path(frame, list(zip(BOUNDS.tolist(), np.maximum(e, 1).tolist(), strict=True)), k)
        for k, e in lines.items()
    ]
    here = float(np.interp(bound, BOUNDS, both))
    parts += [
        circle(frame, (bound, here), "dot", 5),
        label(frame, (bound, here), "here", dx=8, dy=-6),
    ]
    words = "Error against bound: what is cut off falls, noise rises, and their sum has a lowest point between."
    return picture("What a bound costs", words, parts)
