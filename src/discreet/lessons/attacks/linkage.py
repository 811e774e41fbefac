"""An attack: names are taken off and the rest is published; a list with the same columns puts them back (Sweeney)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from ...service.pages.charts.chart import HEIGHT, WIDTH, ChartFrame, axes, label, path, picture
from ...show.markup import Html
from ...show.scale import ChartScale
from ..lesson import Fact, Lesson, Slide

PEOPLE, LISTED = 20_000, 0.6
BIRTH = Slide(
    "birth", "Birth is published as", "", (1, 30, 365, 3650), 0, ("day", "month", "year", "decade")
)
PLACE = Slide("place", "Home is published as", "", (1, 20, 400), 1, ("street", "postcode", "town"))
SIZES = ("alone", "2 to 4", "5 to 19", "20 or more")


def linkage_lesson(asked: Mapping[str, str]) -> Lesson:
    """Publish birth, home and sex of everybody without names, and look them up in a list with names."""
    return _lesson(BIRTH.at(asked), PLACE.at(asked))


@lru_cache(maxsize=16)
def _lesson(birth: Slide, place: Slide) -> Lesson:
    days, streets, sexes, listed = _town()
    cells = np.stack([days // int(birth.value), streets // int(place.value), sexes])
    _, groups, counts = np.unique(cells, axis=1, return_inverse=True, return_counts=True)
    alike = counts[groups.ravel()]
    shares = [
        float(part.mean())
        for part in (alike == 1, (alike > 1) & (alike < 5), (alike > 4) & (alike < 20), alike > 19)
    ]
    facts = (
        Fact(
            f"{100 * shares[0]:.0f} %",
            "of the rows have a birth, home and sex that nobody else has",
        ),
        Fact(
            f"{100 * float(((alike == 1) & listed).mean()):.0f} %",
            "get their name back from a list of six in ten",
        ),
        Fact(
            f"{int(np.median(alike)):,}",
            "people share all three with the median person; who shares may still share a secret",
        ),
    )
    return Lesson("linkage", (birth, place), _picture(shares), facts)


@lru_cache(maxsize=1)
def _town() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Make up people: born on one of 30,000 days, in one of 400 streets; six in ten stand on a public list."""
    rng = np.random.default_rng(1997)
    listed = rng.random(PEOPLE) < LISTED
    return (
        rng.integers(0, 30_000, PEOPLE),
        rng.integers(0, 400, PEOPLE),
        rng.integers(0, 2, PEOPLE),
        listed,
    )


def _picture(shares: list[float]) -> Html:
    frame = ChartFrame(ChartScale(-0.5, 3.5, 46, WIDTH - 10), ChartScale(0, 1, HEIGHT - 44, 24))
    parts = [axes(frame, "people with the same birth, home and sex", "share", x_ticks=0)]
    for place, (words, share) in enumerate(zip(SIZES, shares, strict=True)):
        corners = [
            (place - 0.3, 0.0),
            (place - 0.3, share),
            (place + 0.3, share),
            (place + 0.3, 0.0),
        ]
        parts += [
            path(frame, corners, "fill" if place == 0 else "column"),
            label(frame, (place, share), f"{100 * share:.0f} %", anchor="middle", dy=-6),
            label(frame, (place, 0.0), words, kind="tick", anchor="middle", dy=17),
        ]
    told = ", ".join(
        f"{words} {100 * share:.0f} %" for words, share in zip(SIZES, shares, strict=True)
    )
    return picture("How many people share birth, home and sex", f"Four columns: {told}.", parts)
