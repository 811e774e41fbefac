"""Lessons about budgets: the curve δ(ε), composition, adaptive questions under a privacy filter, sparse vector.

| lesson | shows |
|---|---|
| curve | two noises of the same spread, and the δ that each promises at every ε |
| sum | the cost of k questions by three theorems; all three hold, one is least |
| filters | a privacy filter fixes the budget first: how many adaptive questions fit? |
| sparse | questions below a threshold cost nothing more; each one above it is paid for |
"""

from __future__ import annotations

import math
from bisect import bisect_left
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from ..mechanisms.adaptive.sparse_vector import SparseVector
from ..mechanisms.additive.gaussian import Gaussian
from ..mechanisms.additive.laplace import Laplace
from ..privacy.compose import compose
from ..privacy.curve import Curve
from ..privacy.events.additive import LaplaceNoise
from ..privacy.events.combined import Repeated
from ..privacy.explain.why import Why
from ..privacy.filters.filter import FilterKind, open_filter
from ..privacy.measures import ApproxDP, PureDP
from ..service.pages.charts.chart import (
    HEIGHT,
    WIDTH,
    ChartFrame,
    along,
    axes,
    circle,
    label,
    path,
    picture,
    plain,
)
from ..service.pages.number_text import price_words
from ..show.markup import Html
from ..show.scale import ChartScale, linear
from .lesson import Fact, Shown, Slide, lesson, plot

LEAST_DELTA = 1e-9
"""Least δ of the curve's picture."""

CURVE_POINTS = 40


@lesson(
    "curve",
    Slide("spread", "Standard deviation of the noise", "σ", (0.5, 0.7, 1, 1.5, 2, 3, 5, 10), 3),
    keep=16,
)
def curve_lesson(spread: Slide) -> Shown:
    """Draw δ(ε) of Laplace and Gaussian noise with one spread, for a question that one person changes by 1."""
    # A Laplace distribution of scale b has variance 2b².
    scale = Fraction(spread.value / math.sqrt(2)).limit_denominator(10_000)
    laplace = compose([Laplace(scale, 1).event])
    gaussian = compose([Gaussian(spread.exact, 1).event])
    end = gaussian.epsilon(delta=LEAST_DELTA)
    pure = laplace.epsilon(delta=0)
    at_usual_delta = gaussian.epsilon(delta=1e-6)
    facts = (
        Fact(f"ε = {price_words(pure, 3)}", "Laplace: a pure promise; from there on δ is 0"),
        Fact(
            f"ε = {price_words(at_usual_delta, 3)}",
            "Gaussian: what it promises at δ = 10⁻⁶; no ε has δ = 0",
        ),
    )
    table: list[tuple[str, ...]] = [("ε", "δ, Laplace", "δ, Gaussian")]
    for part in range(6):
        epsilon = round(end * part / 5, 2)
        deltas = laplace.delta(epsilon=epsilon), gaussian.delta(epsilon=epsilon)
        table.append((plain(epsilon), *(price_words(delta, 3) for delta in deltas)))
    drawn = _draw_curves(spread.value, laplace, gaussian, max(end, pure))
    return Shown(drawn, facts, tuple(table))


def tail_bound(mu: float, epsilon: float) -> float:
    """Return P[L > ε] of Gaussian noise, L ~ N(μ²/2, μ²): a δ that is sufficient and looser than the curve.

    >>> from discreet.lessons.many_answers import tail_bound
    >>> round(tail_bound(1, 1), 4)
    0.3085
    """
    return NormalDist().cdf(mu / 2 - epsilon / mu)


def _draw_curves(spread: float, laplace: Curve, gaussian: Curve, end: float) -> Html:
    """Draw δ(ε) of both noises up to the ε `end`, and the tail bound of the Gaussian one."""
    x = linear(0, end, 46, WIDTH - 10)
    frame = ChartFrame(x, ChartScale(LEAST_DELTA, 1, HEIGHT - 44, 24, log=True))
    bounds = []
    gaussian_points = []
    for part in range(CURVE_POINTS + 1):
        epsilon = x.high * part / CURVE_POINTS
        bounds.append((epsilon, tail_bound(1 / spread, epsilon)))
        gaussian_points.append((epsilon, gaussian.delta(epsilon=epsilon)))
    pure = laplace.epsilon(delta=0)
    falls = []
    for part in range(CURVE_POINTS):
        # Points lie closer towards the end, where the curve falls steeply.
        epsilon = pure * (1 - (1 - part / CURVE_POINTS) ** 3)
        falls.append((epsilon, laplace.delta(epsilon=epsilon)))
    falls.append((pure, LEAST_DELTA))
    named_at = x.high * 0.62
    gaussian_name = (named_at, gaussian.delta(epsilon=named_at))
    parts = [
        axes(frame, "ε", "δ"),
        path(frame, bounds, "line faint"),
        path(frame, gaussian_points, "line"),
        path(frame, falls, "line other"),
        label(frame, (pure, LEAST_DELTA), "Laplace", dx=6, dy=-8, kind="word other"),
        label(frame, gaussian_name, "Gaussian", dx=-8, dy=14, anchor="end"),
    ]
    described = (
        "The curve of Laplace noise falls to nothing at one ε; "
        "the curve of Gaussian noise never quite does."
    )
    return picture(f"δ against ε at σ = {spread:g}", described, parts)


SHARES = (0.02, 0.05, 0.1, 0.18, 0.27, 0.38, 0.5, 0.63, 0.76, 0.88, 1.0)
"""Shares of k at which the lines of the composition lesson are computed."""

LINES = {"basic": "line faint", "advanced": "line other", "tightest": "line"}


@lesson(
    "sum",
    Slide("queries", "Number of questions", "k", (2, 5, 10, 20, 50, 100, 200, 500, 1000), 5),
    Slide("each", "Budget of each", "ε₀", (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1), 3),
    Slide("delta", "Chance that the sum may fail", "δ", (1e-4, 1e-5, 1e-6, 1e-9), 2),
    keep=512,
)
def sum_lesson(queries: Slide, each: Slide, delta: Slide) -> Shown:
    """Draw the total ε of k Laplace answers: basic, advanced, and the tightest that is known to hold."""
    k = round(queries.value)
    counts = sorted({1, *(max(1, round(k * share)) for share in SHARES)})
    lines: dict[str, list[tuple[int, float]]] = {method: [] for method in LINES}
    for count in counts:
        for method, price in _prices(_why(count, each, delta)).items():
            lines[method].append((count, price))
    whys = _why(k, each, delta)
    prices = _prices(whys)
    best = whys.winner
    facts = (
        Fact(f"ε = {price_words(prices['basic'])}", "basic: the ε add up, δ is 0"),
        Fact(
            f"ε = {price_words(prices['advanced'])}",
            "advanced: ε₀√(2k ln(1/δ)) + kε₀(e^ε₀ − 1)",
        ),
        Fact(f"ε = {price_words(best.epsilon)}", f"tightest: {best.method}, {best.because}"),
    )
    table = [("method", "total ε", "why")]
    for row in whys.rows:
        table.append((row.method, price_words(row.epsilon), row.because))
    return Shown(_draw_sums(k, lines), facts, tuple(table))


@lru_cache(maxsize=4096)
def _why(k: int, each: Slide, delta: Slide) -> Why:
    event = Laplace.spending(PureDP(each.exact), sensitivity=1).event
    return compose([event] * k).why(delta=delta.value)


def _prices(whys: Why) -> dict[str, float]:
    """Return the total ε by the two textbook theorems, and the least of all that hold."""
    by_method = {row.method: row.epsilon for row in whys.rows}
    return {
        "basic": by_method["basic"],
        "advanced": by_method["advanced"],
        "tightest": whys.winner.epsilon,
    }


def _draw_sums(k: int, lines: dict[str, list[tuple[int, float]]]) -> Html:
    """Draw the total ε of up to k questions by each theorem."""
    ends = {name: points[-1] for name, points in lines.items()}
    top = max(price for points in lines.values() for _, price in points)
    frame = ChartFrame(linear(0, k, 46, WIDTH - 64), linear(0, top, HEIGHT - 44, 24))
    heights = {name: frame.y.place(price) for name, (_, price) in ends.items()}
    spread = _spread(heights)
    parts = [axes(frame, "questions", "total ε", x_ticks=5)]
    for name, points in lines.items():
        moved = spread[name] - heights[name] + 4
        parts.append(path(frame, points, LINES[name]))
        parts.append(label(frame, ends[name], name, dx=6, dy=moved, kind=f"word {name}"))
    told = ", ".join(f"{name} {price_words(price, 3)}" for name, (_, price) in ends.items())
    description = f"Three rising lines; at {k} questions: {told}."
    return picture(f"Total ε of {k} questions", description, parts)


def _spread(places: dict[str, float], gap: float = 14) -> dict[str, float]:
    """Move words apart so that none covers another, from the lowest up.

    >>> from discreet.lessons.many_answers import _spread
    >>> _spread({"a": 100, "b": 96})
    {'a': 100, 'b': 86}
    """
    found: dict[str, float] = {}
    last = float("inf")
    for name, place in sorted(places.items(), key=lambda item: -item[1]):
        last = min(place, last - gap)
        found[name] = last
    return found


FILTERS: dict[FilterKind, str] = {
    "approximate": "adding up",
    "advanced": "advanced",
    "zcdp": "zCDP",
    "renyi": "Rényi",
    "residue": "the ledger's",
}
MAX_QUESTIONS = 2**16


@lesson(
    "filters",
    Slide("each", "Budget of one question", "ε₀", (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5), 1),
    Slide("budget", "Budget of all, fixed beforehand", "ε", (0.5, 1, 2), 1),
    Slide("delta", "Chance that it may fail", "δ", (1e-4, 1e-6, 1e-9), 1),
    keep=256,
)
def filters_lesson(each: Slide, budget: Slide, delta: Slide) -> Shown:
    """Count the questions that fit under each filter, however they are chosen."""
    event = LaplaceNoise(1 / each.exact, 1)
    promise = ApproxDP(budget.exact, delta.exact)
    counts = {words: _fit(kind, promise, event) for kind, words in FILTERS.items()}
    best = max(counts, key=lambda words: counts[words])
    facts = (
        Fact(f"{counts['adding up']:,}", "questions fit if their ε are added up"),
        Fact(
            f"{counts[best]:,}",
            f"fit under the best filter here ({best}); it chooses nothing by the answers",
        ),
        Fact(
            "× 4.2",
            "the promised δ, at worst found, if a ledger admits by the price of what was asked so far",
        ),
    )
    table = [("filter", "questions that fit")]
    for words, count in counts.items():
        table.append((words, f"{count:,}"))
    return Shown(_draw_filters(counts), facts, tuple(table))


def _fit(kind: FilterKind, promise: ApproxDP, event: LaplaceNoise) -> int:
    """Return how many such questions a filter admits, fewer than MAX_QUESTIONS, by bisection."""
    book = open_filter(promise, kind)

    def is_refused(count: int) -> bool:
        return not book.admits(Repeated(event, count))

    return bisect_left(range(1, MAX_QUESTIONS), True, key=is_refused)


def _draw_filters(counts: dict[str, int]) -> Html:
    """Draw a bar for each filter with the number of questions that fit."""
    x = linear(0, max(counts.values()), 84, WIDTH - 40)
    frame = ChartFrame(x, linear(0, len(counts), 20, HEIGHT - 50))
    parts = [along(x, HEIGHT - 44, "questions", ticks=4)]
    for place, (words, count) in enumerate(counts.items()):
        at = place + 0.5
        parts += [
            label(frame, (0, at), words, kind="row-name", anchor="end", dx=-8, dy=4),
            path(frame, [(0, at), (count, at)], "bar"),
            label(frame, (count, at), f"{count:,}", kind="tick", dx=6, dy=4),
        ]
    told = ", ".join(f"{words} {count}" for words, count in counts.items())
    description = f"One bar for each filter: {told}."
    return picture("Questions that fit under each filter", description, parts)


DAYS, USUAL, THRESHOLD = 60, 100, 160
OUTBREAKS = {17: 190, 18: 200, 40: 185, 52: 210}
"""Cases on the days of an outbreak."""


@lesson(
    "sparse",
    Slide("epsilon", "Budget for all days", "ε", (0.2, 0.5, 1, 2, 5), 2),
    Slide("alarms", "Alarms that are paid for", "c", (1, 2, 3, 5), 1),
)
def sparse_lesson(epsilon: Slide, alarms: Slide) -> Shown:
    """Watch a clinic's daily counts for outbreaks until the paid alarms are used up."""
    paid = round(alarms.value)
    counts = [OUTBREAKS.get(day, USUAL + day * 7 % 23) for day in range(DAYS)]
    vector = SparseVector.spending(
        PureDP(epsilon.exact), sensitivity=1, answers=paid, monotone=True
    )
    said = vector.release(counts, threshold=THRESHOLD).tolist()
    alarm_days = [day for day, alarm in enumerate(said) if alarm]
    outbreaks = len(OUTBREAKS.keys() & set(alarm_days))
    noise_of_each_day = DAYS / epsilon.value * np.sqrt(2)
    facts = (
        Fact(f"{len(said)}", f"days watched before {paid} alarms were used up, of {DAYS}"),
        Fact(
            f"± {noise_of_each_day:.0f}",
            "noise of each count if every day were told instead, for the same ε",
        ),
        Fact(
            f"{outbreaks} of {len(alarm_days)}",
            "alarms were outbreaks; days without an alarm cost nothing more",
        ),
    )
    return Shown(_draw_alarms(counts, alarm_days), facts)


def _draw_alarms(counts: list[int], alarm_days: list[int]) -> Html:
    """Draw the daily counts, the threshold and the days with an alarm."""
    frame = plot(0, DAYS, max(counts))
    parts = [
        axes(frame, "day", "cases", x_ticks=6),
        path(frame, [(0, THRESHOLD), (DAYS, THRESHOLD)], "limit"),
        label(frame, (22, THRESHOLD), "threshold", kind="word limit", dy=-5),
        path(frame, list(enumerate(counts)), "line faint"),
    ]
    for day in alarm_days:
        parts.append(circle(frame, (day, counts[day]), "dot", 5))
    words = (
        f"Daily counts with four outbreaks; {len(alarm_days)} days were called out, "
        "those with a dot."
    )
    return picture("Alarms of a watch", words, parts)
