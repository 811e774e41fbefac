"""Eighth lesson, an attack: textbook noise on floats. Which doubles can occur depends on the secret (Mironov 2012)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...mechanisms.additive.laplace import Laplace
from ...privacy.measures import PureDP
from ...service.pages.charts.chart import HEIGHT, WIDTH, ChartFrame, axes, path, picture
from ...show.markup import Html
from ...show.scale import linear
from ..lesson import Fact, Lesson, Slide

DRAWS = 4_000
FIRST, PLACES = 36, 24
"""The places of the binary fraction that are drawn: 36 to 59."""
CHANCE = 0.05
"""What two shares of as many draws may differ by without meaning anything."""
SAMPLER = Slide(
    "sampler",
    "Sampler",
    "",
    (0, 1),
    0,
    ("a textbook's: −b·sign(u)·ln(1 − 2|u|) in doubles", "ours: whole steps"),
)


def floats_lesson(asked: Mapping[str, str]) -> Lesson:
    """Release 0 and 1 with noise of ε = 1 many times, and look at where the last binary digit of the result stands."""
    slide = SAMPLER.at(asked)
    told = [_textbook(value) if slide.value == 0 else _ours(value) for value in (0.0, 1.0)]
    shares = [_last_digits(values) for values in told]
    beyond = [np.cumsum(share[::-1])[::-1] for share in shares]
    place = int(np.argmax(beyond[0] - np.e * beyond[1]))
    zero, one = (float(tail[place]) for tail in beyond)
    broken = zero - np.e * one > CHANCE
    facts = (
        Fact(
            f"{100 * zero:.1f} %",
            f"of results for 0 have a binary digit at place {FIRST + place} or beyond",
        ),
        Fact(
            f"{100 * one:.1f} %",
            "of results for 1; at ε = 1 the first may be at most e = 2.72 times this",
        ),
        Fact(
            "broken" if broken else "kept",
            "the promise: such a result cannot come from 1"
            if broken
            else "the promise, as far as last digits tell",
        ),
    )
    return Lesson("floats", (slide,), _picture(shares), facts)


def _textbook(value: float) -> np.ndarray:
    uniform = np.random.default_rng().random(DRAWS) - 0.5
    return np.asarray(value - np.sign(uniform) * np.log(1 - 2 * np.abs(uniform)))


def _ours(value: float) -> np.ndarray:
    return np.asarray(Laplace.spending(PureDP(1), sensitivity=1).release(np.full(DRAWS, value)))


def _last_digits(values: np.ndarray) -> np.ndarray:
    """Return how often the last binary digit stands at each place; what is nearer to the point counts at the first."""
    fraction, exponent = np.frexp(values)
    whole = (fraction * 2.0**53).astype(np.int64)
    zeros = np.log2((whole & -whole).astype(np.float64))
    place = np.where(whole == 0, 0, 53 - exponent - zeros)
    counts = np.bincount(np.clip(place - FIRST, 0, PLACES - 1).astype(np.int64), minlength=PLACES)
    return np.asarray(counts / DRAWS)


def _picture(shares: list[np.ndarray]) -> Html:
    top = max(float(share.max()) for share in shares)
    frame = ChartFrame(
        linear(FIRST, FIRST + PLACES, 46, WIDTH - 10), linear(0, top, HEIGHT - 44, 24)
    )
    lines = [
        list(zip(range(FIRST, FIRST + PLACES), share.tolist(), strict=True)) for share in shares
    ]
    parts = [
        axes(frame, "place of the last binary digit", "share", x_ticks=6),
        path(frame, lines[0], "line other"),
        path(frame, lines[1], "line"),
    ]
    words = "Two lines: how often the last binary digit of the result stands at each place, for 0 and for 1."
    return picture("Last digits of noisy results", words, parts)
