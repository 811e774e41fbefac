"""First lesson: noise by ε. The distributions of a noisy count with you and without you."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache

from ..arithmetic.rounding import shown
from ..mechanisms.additive.discrete_laplace import Geometric
from ..privacy.advise import meaning
from ..privacy.measures import PureDP
from ..service.pages.charts.chart import HEIGHT, WIDTH, ChartFrame, area, axes, path, picture
from ..show.markup import Html, join
from ..show.scale import ChartScale, linear, steps
from .lesson import Fact, Lesson, Slide

EPSILON = Slide(
    "epsilon", "Budget for this answer", "ε", (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5), 4
)
TRUTH, REACH, DRAWS = 100, 20, 40


def noise_lesson(asked: Mapping[str, str]) -> Lesson:
    """Draw the law of a noisy count for two neighbours, and forty fresh draws of it."""
    slide = EPSILON.at(asked)
    geometric = _noise(slide.value)
    draws = tuple(geometric.release(TRUTH) for _ in range(DRAWS))
    return Lesson("noise", (slide,), _picture(slide.value, draws), _facts(slide.value, geometric))


@lru_cache(maxsize=64)
def _noise(epsilon: float) -> Geometric:
    return Geometric.spending(PureDP(Fraction(str(epsilon))), sensitivity=1)


@lru_cache(maxsize=64)
def _law(epsilon: float, truth: int) -> tuple[tuple[float, float], ...]:
    geometric = _noise(epsilon)
    return tuple(
        (x, float(geometric.pmf(x - truth))) for x in range(TRUTH - REACH, TRUTH + REACH + 1)
    )


def _picture(epsilon: float, draws: tuple[int, ...]) -> Html:
    with_you, without = _law(epsilon, TRUTH), _law(epsilon, TRUTH - 1)
    y = linear(0, max(p for _, p in with_you), HEIGHT - 76, 24)
    frame = ChartFrame(ChartScale(TRUTH - REACH - 0.5, TRUTH + REACH + 0.5, 46, WIDTH - 10), y)
    shown_with, shown_without = (
        steps([(x - 0.5, p) for x, p in law], law[-1][0] + 0.5) for law in (with_you, without)
    )
    parts = [
        area(frame, shown_with, "area"),
        axes(frame, "what is told", "probability", x_ticks=8),
        path(frame, shown_without, "line other"),
        path(frame, shown_with, "line"),
        _marks(frame, draws),
    ]
    described = f"Two bell-like staircases, centred on {TRUTH} and {TRUTH - 1}, that nearly cover each other."
    return picture(f"Noise at ε = {epsilon:g}", described, parts)


def _marks(frame: ChartFrame, draws: tuple[int, ...]) -> Html:
    """Draw each draw as a short stroke under the axis; those beyond the picture stand at its ends."""
    top, rise = frame.y.start + 42, 3.0
    strip = ChartFrame(frame.x, ChartScale(0, 4, top + 4 * rise, top))
    seen: dict[int, int] = {}
    strokes = []
    for draw in sorted(draws):
        x = min(max(draw, TRUTH - REACH), TRUTH + REACH)
        level = seen.get(x, 0)
        seen[x] = level + 1
        strokes.append(path(strip, [(x, level % 4), (x, level % 4 + 0.8)], "stroke"))
    return join(strokes)


def _facts(epsilon: float, geometric: Geometric) -> tuple[Fact, ...]:
    told = meaning(PureDP(Fraction(str(epsilon))))
    _, belief = told.posterior(Fraction(1, 2))
    return (
        Fact(f"± {geometric.error(0.05)}", "off by at most this, 95 times in 100"),
        Fact(
            f"× {shown(math.exp(epsilon), 3)}",
            "no result is more than this much likelier with you than without you",
        ),
        Fact(f"{shown(100 * belief, 3)} %", "the most that a guess of 50 % about you can become"),
    )
