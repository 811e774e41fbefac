"""Seventh lesson, an attack: answers that are too accurate give the whole table away (Dinur, Nissim 2003)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from math import isqrt

import numpy as np

from ...audit import reconstruct
from ...mechanisms.additive.discrete_gaussian import DiscreteGaussian
from ...privacy.measures import ZCDP
from ...service.pages.charts.chart import WIDTH, ChartFrame, circle, picture
from ...show.markup import Html
from ...show.scale import ChartScale
from ..lesson import Fact, Lesson, Slide

BITS, ROWS = 60, 3
ANSWERS = Slide("answers", "Counts that are told", "k", (20, 60, 120, 240, 480), 3)
RHO = Slide(
    "rho",
    "Budget of all counts together",
    "ρ",
    (0.02, 0.1, 0.5, 5, 50, 500),
    0,
    ("ρ = 0.02", "ρ = 0.1", "ρ = 0.5", "ρ = 5", "ρ = 50", "ρ = 500: next to no noise"),
)


def reconstruction_lesson(asked: Mapping[str, str]) -> Lesson:
    """Hide sixty secret bits, tell noisy counts of random subsets, and solve for the bits."""
    answers, rho = ANSWERS.at(asked), RHO.at(asked)
    secret, queries = _town(round(answers.value))
    noise = DiscreteGaussian.spending(
        ZCDP(str(rho.value)), sensitivity=_reach(queries), dimension=len(queries)
    )
    told = np.asarray(noise.release(queries @ secret))
    right = reconstruct(told, queries) == secret
    facts = (
        Fact(
            f"± {2 * float(noise.scale):.1f}",
            f"each of the {len(queries)} counts of up to {BITS} people is off by",
        ),
        Fact(
            f"{100 * secret.mean():.0f} %",
            "of the people say yes; who always guesses no is right for the rest",
        ),
        Fact(
            f"{100 * right.mean():.0f} %", "of the secrets are found by least squares and rounding"
        ),
    )
    return Lesson("reconstruction", (answers, rho), _picture(secret, right), facts)


def _reach(queries: np.ndarray) -> int:
    """Return how far one person moves all counts together, in l2, rounded up: the root of how many ask about them."""
    return isqrt(int(queries.sum(axis=0).max()) - 1) + 1


@lru_cache(maxsize=8)
def _town(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Make up secrets and questions; the same on every visit, so that only the noise is fresh."""
    rng = np.random.default_rng(2003)
    return (rng.random(BITS) < 0.5).astype(np.int64), rng.integers(0, 2, (count, BITS))


def _picture(secret: np.ndarray, right: np.ndarray) -> Html:
    columns = BITS // ROWS
    frame = ChartFrame(ChartScale(0, columns - 1, 18, WIDTH - 18), ChartScale(0, ROWS - 1, 24, 96))
    dots = [
        circle(
            frame,
            (place % columns, place // columns),
            ("dot" if secret[place] else "ring") + ("" if right[place] else " lied"),
            6,
        )
        for place in range(BITS)
    ]
    words = f"Sixty people, {int(right.sum())} of whose secrets were found; a dashed edge marks those that were not."
    return picture("Secrets and whether they were found", words, dots, height=120)
