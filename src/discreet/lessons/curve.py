"""Second lesson: the curve δ(ε). Two noises of the same spread, and what each promises."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist

from ..mechanisms.additive.gaussian import Gaussian
from ..mechanisms.additive.laplace import Laplace
from ..privacy.compose import compose
from ..privacy.curve import Curve
from ..service.pages.charts.chart import (
    HEIGHT,
    WIDTH,
    ChartFrame,
    axes,
    label,
    path,
    picture,
    plain,
)
from ..service.pages.number_text import price_words
from ..show.markup import Html
from ..show.scale import ChartScale, linear
from .lesson import Fact, Lesson, Slide

SPREAD = Slide("spread", "Standard deviation of the noise", "σ", (0.5, 0.7, 1, 1.5, 2, 3, 5, 10), 3)
LEAST, POINTS = 1e-9, 40


def curve_lesson(asked: Mapping[str, str]) -> Lesson:
    """Draw δ(ε) of Laplace and Gaussian noise with one spread, for a question that one person changes by 1."""
    slide = SPREAD.at(asked)
    return _lesson(slide)


@lru_cache(maxsize=16)
def _lesson(slide: Slide) -> Lesson:
    laplace, gaussian = _curves(slide.value)
    end = gaussian.epsilon(delta=LEAST)
    pure = laplace.epsilon(delta=0)
    facts = (
        Fact(f"ε = {price_words(pure, 3)}", "Laplace: a pure promise; from there on δ is 0"),
        Fact(
            f"ε = {price_words(gaussian.epsilon(delta=1e-6), 3)}",
            "Gaussian: what it promises at δ = 10⁻⁶; no ε has δ = 0",
        ),
    )
    rows = [("ε", "δ, Laplace", "δ, Gaussian")]
    for part in range(6):
        epsilon = round(end * part / 5, 2)
        rows.append(
            (
                plain(epsilon),
                price_words(laplace.delta(epsilon=epsilon), 3),
                price_words(gaussian.delta(epsilon=epsilon), 3),
            )
        )
    return Lesson(
        "curve",
        (slide,),
        _picture(slide.value, laplace, gaussian, max(end, pure)),
        facts,
        tuple(rows),
    )


def _curves(spread: float) -> tuple[Curve, Curve]:
    scale = Fraction(spread / math.sqrt(2)).limit_denominator(
        10_000
    )  # a Laplace of scale b has variance 2b²
    exact = Fraction(str(spread))
    return compose([Laplace(scale, 1).event]), compose([Gaussian(exact, 1).event])


def tail_bound(mu: float, epsilon: float) -> float:
    """Return P[L > ε] of Gaussian noise, L ~ N(μ²/2, μ²): a δ that is sufficient and looser than the curve.

    >>> from discreet.lessons.curve import tail_bound
    >>> round(tail_bound(1, 1), 4)
    0.3085
    """
    return NormalDist().cdf(mu / 2 - epsilon / mu)


def _picture(spread: float, laplace: Curve, gaussian: Curve, end: float) -> Html:
    x = linear(0, end, 46, WIDTH - 10)
    frame = ChartFrame(x, ChartScale(LEAST, 1, HEIGHT - 44, 24, log=True))
    at = [x.high * i / POINTS for i in range(POINTS + 1)]
    pure = laplace.epsilon(delta=0)
    falls = [
        (e, laplace.delta(epsilon=e))
        for e in (pure * (1 - (1 - i / POINTS) ** 3) for i in range(POINTS))
    ]
    parts = [
        axes(frame, "ε", "δ"),
        path(frame, [(e, tail_bound(1 / spread, e)) for e in at], "line faint"),
        path(frame, [(e, gaussian.delta(epsilon=e)) for e in at], "line"),
        path(frame, [*falls, (pure, LEAST)], "line other"),
        label(frame, (pure, LEAST), "Laplace", dx=6, dy=-8, kind="word other"),
        label(
            frame,
            (x.high * 0.62, gaussian.delta(epsilon=x.high * 0.62)),
            "Gaussian",
            dx=-8,
            dy=14,
            anchor="end",
        ),
    ]
    described = "The curve of Laplace noise falls to nothing at one ε; the curve of Gaussian noise never quite does."
    return picture(f"δ against ε at σ = {spread:g}", described, parts)
