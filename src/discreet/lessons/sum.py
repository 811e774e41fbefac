"""Third lesson: composition. The cost of k questions by three theorems; all three hold, one is least."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache

from ..mechanisms.additive.laplace import Laplace
from ..privacy.compose import compose
from ..privacy.explain.why import Why
from ..privacy.measures import PureDP
from ..service.pages.charts.chart import HEIGHT, WIDTH, ChartFrame, axes, label, path, picture
from ..service.pages.number_text import price_words
from ..show.markup import Html
from ..show.scale import linear
from .lesson import Fact, Lesson, Slide

QUERIES = Slide("queries", "Number of questions", "k", (2, 5, 10, 20, 50, 100, 200, 500, 1000), 5)
EACH = Slide("each", "Budget of each", "ε₀", (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1), 3)
DELTA = Slide("delta", "Chance that the sum may fail", "δ", (1e-4, 1e-5, 1e-6, 1e-9), 2)
SHARES = (0.02, 0.05, 0.1, 0.18, 0.27, 0.38, 0.5, 0.63, 0.76, 0.88, 1.0)


def sum_lesson(asked: Mapping[str, str]) -> Lesson:
    """Draw the total ε of k Laplace answers: basic, advanced, and the tightest that is known to hold."""
    return _lesson(QUERIES.at(asked), EACH.at(asked), DELTA.at(asked))


@lru_cache(maxsize=512)
def _lesson(queries: Slide, each: Slide, delta: Slide) -> Lesson:
    k = round(queries.value)
    counts = sorted({1, *(max(1, round(k * share)) for share in SHARES)})
    lines = {
        m: [(n, _price(n, each.value, delta.value, m)) for n in counts]
        for m in ("basic", "advanced", "tightest")
    }
    whys = _why(k, each.value, delta.value)
    best = whys.winner
    facts = (
        Fact(
            f"ε = {price_words(_price(k, each.value, delta.value, 'basic'))}",
            "basic: the ε add up, δ is 0",
        ),
        Fact(
            f"ε = {price_words(_price(k, each.value, delta.value, 'advanced'))}",
            "advanced: ε₀√(2k ln(1/δ)) + kε₀(e^ε₀ − 1)",
        ),
        Fact(f"ε = {price_words(best.epsilon)}", f"tightest: {best.method}, {best.because}"),
    )
    table = (
        ("method", "total ε", "why"),
        *((r.method, price_words(r.epsilon), r.because) for r in whys.rows),
    )
    return Lesson("sum", (queries, each, delta), _picture(k, lines), facts, table)


@lru_cache(maxsize=4096)
def _why(k: int, each: float, delta: float) -> Why:
    event = Laplace.spending(PureDP(Fraction(str(each))), sensitivity=1).event
    return compose([event] * k).why(delta=delta)


def _price(k: int, each: float, delta: float, method: str) -> float:
    whys = _why(k, each, delta)
    if method == "tightest":
        return whys.winner.epsilon
    return next(row.epsilon for row in whys.rows if row.method == method)


def _picture(k: int, lines: dict[str, list[tuple[int, float]]]) -> Html:
    top = max(price for points in lines.values() for _, price in points)
    frame = ChartFrame(linear(0, k, 46, WIDTH - 64), linear(0, top, HEIGHT - 44, 24))
    kinds = {"basic": "line faint", "advanced": "line other", "tightest": "line"}
    words = _spread({name: frame.y.place(points[-1][1]) for name, points in lines.items()})
    parts = [axes(frame, "questions", "total ε", x_ticks=5)]
    for name, points in lines.items():
        parts.append(path(frame, points, kinds[name]))
        end = points[-1]
        parts.append(
            label(
                frame,
                end,
                name,
                dx=6,
                dy=words[name] - frame.y.place(end[1]) + 4,
                kind=f"word {name}",
            )
        )
    ends = ", ".join(f"{name} {price_words(points[-1][1], 3)}" for name, points in lines.items())
    return picture(
        f"Total ε of {k} questions", f"Three rising lines; at {k} questions: {ends}.", parts
    )


def _spread(places: dict[str, float], room: float = 14) -> dict[str, float]:
    """Move words apart so that none covers another, from the lowest up.

    >>> from discreet.lessons.sum import _spread
    >>> _spread({"a": 100, "b": 96})
    {'a': 100, 'b': 86}
    """
    found: dict[str, float] = {}
    last = float("inf")
    for name, place in sorted(places.items(), key=lambda item: -item[1]):
        last = min(place, last - room)
        found[name] = last
    return found
