"""An attack: many exact means tell who was among the people (Homer 2008; Dwork, Smith, Steinke and others 2015)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from math import isqrt

import numpy as np

from ...mechanisms.additive.discrete_gaussian import DiscreteGaussian
from ...privacy.measures import ZCDP
from ...service.pages.charts.chart import HEIGHT, WIDTH, ChartFrame, area, axes, path, picture
from ...show.markup import Html
from ...show.scale import ChartScale, linear
from ..lesson import Fact, Lesson, Slide

PEOPLE = 200
MEANS = Slide("means", "Shares that are published", "d", (10, 100, 500, 2000), 2)
RHO = Slide(
    "rho",
    "Budget of all of them together",
    "ρ",
    (0.02, 0.5, 5, 50, 0),
    4,
    ("ρ = 0.02", "ρ = 0.5", "ρ = 5", "ρ = 50", "no noise: exact shares"),
)
FALSE = 0.05
BINS = 24


def membership_lesson(asked: Mapping[str, str]) -> Lesson:
    """Publish shares of yes among two hundred people, and score members and strangers by how alike they are to them."""
    means, rho = MEANS.at(asked), RHO.at(asked)
    inside, outside, rates = _people(round(means.value))
    counts = inside.sum(axis=0)
    if rho.value:
        reach = isqrt(round(means.value) - 1) + 1  # all answers of one person, in l2, rounded up
        noise = DiscreteGaussian.spending(
            ZCDP(str(rho.value)), sensitivity=reach, dimension=len(counts)
        )
        counts, off = np.asarray(noise.release(counts)), 200 * float(noise.scale) / PEOPLE
    else:
        off = 0.0
    towards = counts / PEOPLE - rates
    scores = [(people - rates) @ towards for people in (inside, outside)]
    bar = float(np.quantile(scores[1], 1 - FALSE))
    found = float((scores[0] > bar).mean())
    facts = (
        Fact(f"{100 * found:.0f} %", "of those who took part are named by the attack"),
        Fact(
            f"{100 * FALSE:.0f} %",
            "of strangers are named too; who knows nothing names as many of both",
        ),
        Fact(f"± {off:.1f} %", f"is how far off each of the {len(counts):,} shares is"),
    )
    return Lesson("membership", (means, rho), _picture(scores), facts)


@lru_cache(maxsize=8)
def _people(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Make up people who answer at random, by rates that everybody knows: the same on every visit."""
    rng = np.random.default_rng(2008)
    rates = rng.uniform(0.2, 0.8, count)
    inside, outside = ((rng.random((PEOPLE, count)) < rates).astype(np.int64) for _ in range(2))
    return inside, outside, rates


def _picture(scores: list[np.ndarray]) -> Html:
    ends = float(min(map(np.min, scores))), float(max(map(np.max, scores)))
    edges = np.linspace(*ends, BINS + 1)
    laws = [np.histogram(one, edges)[0] / PEOPLE for one in scores]
    middles = ((edges[1:] + edges[:-1]) / 2).tolist()
    frame = ChartFrame(
        ChartScale(*ends, 46, WIDTH - 10), linear(0, float(max(map(np.max, laws))), HEIGHT - 44, 24)
    )
    lines = [list(zip(middles, law.tolist(), strict=True)) for law in laws]
    parts = [
        area(frame, lines[0]),
        axes(frame, "how alike to what is published", "share", x_ticks=0),
        path(frame, lines[1], "line other"),
        path(frame, lines[0]),
    ]
    words = "Two bells of scores, of those who took part and of strangers; far apart, the attack tells them apart."
    return picture("Scores of members and strangers", words, parts)
