"""Lesson about adaptive questions: a privacy filter fixes the budget first; how many questions fit?"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache

from ..privacy.events.additive import LaplaceNoise
from ..privacy.events.combined import Repeated
from ..privacy.filters.filter import FilterKind, open_filter
from ..privacy.measures import ApproxDP
from ..service.pages.charts.chart import HEIGHT, WIDTH, ChartFrame, along, label, path, picture
from ..show.markup import Html
from ..show.scale import linear
from .lesson import Fact, Lesson, Slide

EACH = Slide("each", "Budget of one question", "ε₀", (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5), 1)
BUDGET = Slide("budget", "Budget of all, fixed beforehand", "ε", (0.5, 1, 2), 1)
DELTA = Slide("delta", "Chance that it may fail", "δ", (1e-4, 1e-6, 1e-9), 1)
KINDS: dict[FilterKind, str] = {
    "approximate": "adding up",
    "advanced": "advanced",
    "zcdp": "zCDP",
    "renyi": "Rényi",
    "residue": "the ledger's",
}
MOST = 2**16


def filters_lesson(asked: Mapping[str, str]) -> Lesson:
    """Count the questions that fit under each filter, however they are chosen."""
    return _lesson(EACH.at(asked), BUDGET.at(asked), DELTA.at(asked))


@lru_cache(maxsize=256)
def _lesson(each: Slide, budget: Slide, delta: Slide) -> Lesson:
    event = LaplaceNoise(1 / Fraction(str(each.value)), 1)
    promise = ApproxDP(Fraction(str(budget.value)), Fraction(str(delta.value)))
    counts = {words: _fit(kind, promise, event) for kind, words in KINDS.items()}
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
    rows = (
        ("filter", "questions that fit"),
        *((words, f"{count:,}") for words, count in counts.items()),
    )
    return Lesson("filters", (each, budget, delta), _picture(counts), facts, rows)


def _fit(kind: FilterKind, promise: ApproxDP, event: LaplaceNoise) -> int:
    """Return how many such questions a filter admits."""
    book, low, high = open_filter(promise, kind), 0, MOST
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if book.admits(Repeated(event, middle)) else (low, middle)
    return low


def _picture(counts: dict[str, int]) -> Html:
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
    return picture(
        "Questions that fit under each filter", f"One bar for each filter: {told}.", parts
    )
