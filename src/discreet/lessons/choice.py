"""Tenth lesson: the exponential mechanism. The best of several by noisy scores: near the best, rarely far from it."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache

from ..mechanisms.selection.exponential import Exponential
from ..mechanisms.selection.permute_and_flip import PermuteAndFlip
from ..privacy.measures import PureDP
from ..service.pages.charts.chart import HEIGHT, WIDTH, ChartFrame, axes, label, path, picture
from ..show.markup import Html
from ..show.scale import ChartScale, linear
from .lesson import Fact, Lesson, Slide

EPSILON = Slide("epsilon", "Budget", "ε", (0.05, 0.1, 0.2, 0.5, 1, 2), 2)
LEAD = Slide("lead", "Votes that the winner is ahead", "lead", (0, 2, 5, 10, 20, 50), 3)
NAMES = ("Ana", "Ben", "Cem", "Dea", "Eli")
LAST = 40


def choice_lesson(asked: Mapping[str, str]) -> Lesson:
    """Draw the chance of each candidate by the exponential mechanism and by permute-and-flip."""
    return _lesson(EPSILON.at(asked), LEAD.at(asked))


@lru_cache(maxsize=64)
def _lesson(epsilon: Slide, lead: Slide) -> Lesson:
    spend = PureDP(Fraction(str(epsilon.value)))
    scores = [LAST + round(lead.value), LAST, LAST - 5, LAST - 10, LAST - 30]
    laws = {
        kind.__name__: [
            float(chance) for chance in kind.spending(spend, sensitivity=1).probabilities(scores)
        ]
        for kind in (Exponential, PermuteAndFlip)
    }
    missed = Exponential.spending(spend, sensitivity=1).error(len(scores), beta=0.05)
    facts = (
        Fact(
            f"{100 * laws['Exponential'][0]:.1f} %",
            "the winner is named by the exponential mechanism",
        ),
        Fact(
            f"{100 * laws['PermuteAndFlip'][0]:.1f} %",
            "by permute-and-flip, for the same price: never less",
        ),
        Fact(
            f"{float(missed):.1f}",
            "votes behind the winner at most, 95 times in 100, whatever the votes",
        ),
    )
    rows = [
        (name, str(score), f"{100 * a:.1f} %", f"{100 * b:.1f} %")
        for name, score, a, b in zip(NAMES, scores, *laws.values(), strict=True)
    ]
    head = ("candidate", "votes", "exponential", "permute-and-flip")
    return Lesson("choice", (epsilon, lead), _picture(laws, scores), facts, (head, *rows))


def _picture(laws: dict[str, list[float]], scores: list[int]) -> Html:
    frame = ChartFrame(
        ChartScale(-0.5, len(scores) - 0.5, 46, WIDTH - 10), linear(0, 1, HEIGHT - 44, 24)
    )
    parts = [axes(frame, "", "chance", x_ticks=0)]
    for side, (law, kind) in enumerate(zip(laws.values(), ("line other", "bar"), strict=True)):
        for place, chance in enumerate(law):
            x = place - 0.12 + 0.24 * side
            parts.append(path(frame, [(x, 0), (x, chance)], kind))
    parts += [
        label(frame, (place, 0), f"{name} {score}", kind="tick", anchor="middle", dy=17)
        for place, (name, score) in enumerate(zip(NAMES, scores, strict=True))
    ]
    words = "Two bars a candidate: how likely each is named, by the exponential mechanism and by permute-and-flip."
    return picture("Who is named", words, parts)
