"""Eleventh lesson: sparse vector. Many questions below a threshold cost nothing more; each one above it is paid for."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from ..mechanisms.adaptive.sparse_vector import SparseVector
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

EPSILON = Slide("epsilon", "Budget for all days", "ε", (0.2, 0.5, 1, 2, 5), 2)
ALARMS = Slide("alarms", "Alarms that are paid for", "c", (1, 2, 3, 5), 1)
DAYS, USUAL, THRESHOLD = 60, 100, 160
OUTBREAKS = {17: 190, 18: 200, 40: 185, 52: 210}


def sparse_lesson(asked: Mapping[str, str]) -> Lesson:
    """Watch a clinic's daily counts for outbreaks until the paid alarms are used up."""
    epsilon, alarms = EPSILON.at(asked), ALARMS.at(asked)
    counts = [OUTBREAKS.get(day, USUAL + day * 7 % 23) for day in range(DAYS)]
    spend = PureDP(Fraction(str(epsilon.value)))
    vector = SparseVector.spending(spend, sensitivity=1, answers=round(alarms.value), monotone=True)
    said = vector.release(counts, threshold=THRESHOLD).tolist()
    found = sum(answer and day in OUTBREAKS for day, answer in enumerate(said))
    plain = DAYS / epsilon.value * np.sqrt(2)
    facts = (
        Fact(
            f"{len(said)}",
            f"days watched before {round(alarms.value)} alarms were used up, of {DAYS}",
        ),
        Fact(
            f"± {plain:.0f}", "noise of each count if every day were told instead, for the same ε"
        ),
        Fact(
            f"{found} of {sum(said)}",
            "alarms were outbreaks; days without an alarm cost nothing more",
        ),
    )
    return Lesson("sparse", (epsilon, alarms), _picture(counts, said), facts)


def _picture(counts: list[int], said: list[bool]) -> Html:
    frame = ChartFrame(ChartScale(0, DAYS, 46, WIDTH - 10), linear(0, max(counts), HEIGHT - 44, 24))
    parts = [
        axes(frame, "day", "cases", x_ticks=6),
        path(frame, [(0, THRESHOLD), (DAYS, THRESHOLD)], "limit"),
        label(frame, (22, THRESHOLD), "threshold", kind="word limit", dy=-5),
        path(frame, list(enumerate(counts)), "line faint"),
        *(circle(frame, (day, counts[day]), "dot", 5) for day, answer in enumerate(said) if answer),
    ]
    words = f"Daily counts with four outbreaks; {sum(said)} days were called out, those with a dot."
    return picture("Alarms of a watch", words, parts)
