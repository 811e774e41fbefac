"""Lesson about neighbouring data sets: by row or person, added or replaced; the same ε differs in meaning."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache

from ..arithmetic.rounding import shown
from ..mechanisms.additive.discrete_laplace import Geometric
from ..privacy.measures import PureDP
from ..service.pages.charts.chart import HEIGHT, WIDTH, ChartFrame, area, axes, path, picture
from ..show.markup import Html
from ..show.scale import ChartScale, linear, steps
from .lesson import Fact, Lesson, Slide

ROWS = Slide("rows", "Visits of one person", "k", (1, 2, 3, 5, 10, 20), 3)
EPSILON = Slide("epsilon", "Budget of the count", "ε", (0.1, 0.3, 1, 3), 2)
UNIT = Slide("unit", "What is hidden", "", (0, 1), 0, ("one visit", "one person, with all visits"))
RELATION = Slide(
    "relation",
    "A neighbour differs by one",
    "",
    (0, 1),
    0,
    ("added or removed", "replaced by another"),
)
TRUTH, REACH = 500, 60
LOW, HIGH = 20, 60


def neighbours_lesson(asked: Mapping[str, str]) -> Lesson:
    """Draw the law of a count of visits with one person and without, for noise that hides a visit or a person."""
    return _lesson(ROWS.at(asked), EPSILON.at(asked), UNIT.at(asked), RELATION.at(asked))


@lru_cache(maxsize=128)
def _lesson(rows: Slide, epsilon: Slide, unit: Slide, relation: Slide) -> Lesson:
    k = round(rows.value)
    noise = Geometric.spending(
        PureDP(Fraction(str(epsilon.value))), sensitivity=k if unit.value else 1
    )
    person = epsilon.value if unit.value else k * epsilon.value
    replaced = bool(relation.value)
    facts = (
        Fact(f"ε = {shown(person, 3)}", "is what this answer promises to the person"),
        Fact(f"± {noise.error(0.05)}", f"off by at most this, 95 times in 100, of {TRUTH} visits"),
        Fact(
            f"{100 / (1 + math.exp(-min(person, 50))):.1f} %",
            "the most that any guess can be right whether the person is among the visits",
        ),
        Fact(
            f"{0 if replaced else 1} and {HIGH - LOW if replaced else HIGH}",
            f"so far one row moves COUNT(*), and a SUM of ages from {LOW} to {HIGH}, "
            + (
                "if it is replaced: how many rows there are is public then"
                if replaced
                else "if it may be missing"
            ),
        ),
    )
    return Lesson("neighbours", (rows, epsilon, unit, relation), _picture(noise, k), facts)


def _picture(noise: Geometric, k: int) -> Html:
    laws = [
        [(x, float(noise.pmf(x - truth))) for x in range(TRUTH - REACH, TRUTH + REACH)]
        for truth in (TRUTH, TRUTH - k)
    ]
    ends = [steps([(x - 0.5, p) for x, p in law], law[-1][0] + 0.5) for law in laws]
    y = linear(0, max(p for law in laws for _, p in law), HEIGHT - 44, 24)
    frame = ChartFrame(ChartScale(TRUTH - REACH - 0.5, TRUTH + REACH - 0.5, 46, WIDTH - 10), y)
    parts = [
        area(frame, ends[0]),
        axes(frame, "visits that are told", "probability", x_ticks=6),
        path(frame, ends[1], "line other"),
        path(frame, ends[0]),
    ]
    words = f"Two staircases, centred on {TRUTH} visits with the person and {TRUTH - k} without."
    return picture("A count of visits with one person and without", words, parts)
