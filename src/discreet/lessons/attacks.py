"""Lessons of attacks, such as the differencing attack, on answers without noise or with bad noise.

| lesson | attack |
|---|---|
| differencing | two counts that differ in one person: exact counts tell the secret, noisy ones do not |
| reconstruction | answers that are too accurate give the whole table away (Dinur, Nissim 2003) |
| membership | many exact means tell who was among the people (Homer 2008; Dwork, Smith, Steinke and others 2015) |
| linkage | names are taken off; a list with the same columns puts them back (Sweeney) |
| floats | textbook noise on floats: which doubles can occur depends on the secret (Mironov 2012) |
"""

from __future__ import annotations

from functools import lru_cache
from math import isqrt

import numpy as np

from ..audit import reconstruct
from ..mechanisms.additive.discrete_gaussian import DiscreteGaussian
from ..mechanisms.additive.laplace import Laplace
from ..privacy.measures import ZCDP, PureDP
from ..service.pages.charts.chart import HEIGHT, WIDTH, ChartFrame, area, axes, label, path, picture
from ..show.markup import Html
from ..show.scale import ChartScale, linear
from .lesson import Fact, Shown, Slide, count_noise, crowd, lesson, pair_points, percent_text, plot

PAIRS = 2_000
REACH = 8
"""Differences farther out are drawn at the ends of the picture."""


@lesson(
    "differencing",
    Slide("epsilon", "Budget of both counts together", "ε", (0.1, 0.2, 0.5, 1, 2, 4, 8), 3),
)
def differencing_lesson(epsilon: Slide) -> Shown:
    """Release a count with Ada and one without her 2,000 times, and guess her diagnosis each time.

    Each count gets half of ε. The guess is tried for both of Ada's secrets, on the same noise.
    """
    each = count_noise(epsilon.exact / 2)
    noise = each.release(np.zeros((2, PAIRS), dtype=np.int64))
    without = np.asarray(noise[0] - noise[1])
    right_with = (without + 1 >= 1).mean()
    right_without = (without < 1).mean()
    right = (right_with + right_without) / 2
    odds = np.exp(epsilon.value)
    facts = (
        Fact("100 %", "right without noise: the difference of the two counts is Ada's secret"),
        Fact(
            percent_text(odds / (1 + odds)),
            "the most that any guess can be right, whatever else is known",
        ),
        Fact(
            percent_text(right),
            f"right with noise, in {PAIRS:,} tries made just now; a coin is right in 50 %",
        ),
    )
    places = np.arange(-REACH, REACH + 1)
    shares = [_shares_at(without + shift, places) for shift in (0, 1)]
    frame = plot(-REACH, REACH, max(map(max, shares)))
    parts = [
        axes(frame, "second count − first count", "share", x_ticks=8),
        path(frame, pair_points(places, shares[0]), "line other"),
        path(frame, pair_points(places, shares[1]), "line"),
    ]
    words = (
        "Two lines that nearly cover each other: "
        "differences if Ada has the diagnosis, and if she has not."
    )
    return Shown(picture("Differences of two noisy counts", words, parts), facts)


def _shares_at(differences: np.ndarray, places: np.ndarray) -> list[float]:
    """Return the fraction of differences at each place; those beyond the ends count at the ends."""
    drawn = np.clip(differences, places[0], places[-1])
    return [float((drawn == place).mean()) for place in places]


SECRETS, SECRET_ROWS = 60, 3
RECONSTRUCTION_RHO = Slide(
    "rho",
    "Budget of all counts together",
    "ρ",
    (0.02, 0.1, 0.5, 5, 50, 500),
    0,
    ("ρ = 0.02", "ρ = 0.1", "ρ = 0.5", "ρ = 5", "ρ = 50", "ρ = 500: next to no noise"),
)


@lesson(
    "reconstruction",
    Slide("answers", "Counts that are told", "k", (20, 60, 120, 240, 480), 3),
    RECONSTRUCTION_RHO,
)
def reconstruction_lesson(answers: Slide, rho: Slide) -> Shown:
    """Hide sixty secret bits, tell noisy counts of random subsets, and solve for the bits."""
    secret, queries = _secrets(round(answers.value))
    counted = int(queries.sum(axis=0).max())
    noise = _gaussian_noise(rho, counted, len(queries))
    told = np.asarray(noise.release(queries @ secret))
    right = reconstruct(told, queries) == secret
    facts = (
        Fact(
            f"± {2 * float(noise.scale):.1f}",
            f"each of the {len(queries)} counts of up to {SECRETS} people is off by",
        ),
        Fact(
            percent_text(secret.mean(), 0),
            "of the people say yes; who always guesses no is right for the rest",
        ),
        Fact(
            percent_text(right.mean(), 0), "of the secrets are found by least squares and rounding"
        ),
    )
    columns = SECRETS // SECRET_ROWS
    x = ChartScale(0, columns - 1, 18, WIDTH - 18)
    frame = ChartFrame(x, ChartScale(0, SECRET_ROWS - 1, 24, 96))
    dots = crowd(frame, columns, secret.tolist(), right.tolist())
    words = (
        f"Sixty people, {int(right.sum())} of whose secrets were found; "
        "a dashed edge marks those that were not."
    )
    drawn = picture("Secrets and whether they were found", words, dots, height=120)
    return Shown(drawn, facts)


@lru_cache(maxsize=8)
def _secrets(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Make up secrets and questions; the same on every visit, so that only the noise is fresh."""
    rng = np.random.default_rng(2003)
    secret = (rng.random(SECRETS) < 0.5).astype(np.int64)
    return secret, rng.integers(0, 2, (count, SECRETS))


def _gaussian_noise(rho: Slide, counted: int, dimension: int) -> DiscreteGaussian:
    """Return the noise of counts, at most `counted` of which one person is in."""
    # The l2 sensitivity is the root of that number, rounded up.
    sensitivity = isqrt(counted - 1) + 1
    return DiscreteGaussian.spending(ZCDP(rho.exact), sensitivity=sensitivity, dimension=dimension)


MEMBERS = 200
FALSE_ALARMS = 0.05
BINS = 24


@lesson(
    "membership",
    Slide("means", "Shares that are published", "d", (10, 100, 500, 2000), 2),
    Slide(
        "rho",
        "Budget of all of them together",
        "ρ",
        (0.02, 0.5, 5, 50, 0),
        4,
        ("ρ = 0.02", "ρ = 0.5", "ρ = 5", "ρ = 50", "no noise: exact shares"),
    ),
)
def membership_lesson(means: Slide, rho: Slide) -> Shown:
    """Publish shares of yes among two hundred people, and find out who was among them.

    Members and strangers are scored by how much their answers agree with what is published. The
    attack names people whose score is above that of 95 % of the strangers.
    """
    inside, outside, rates = _people(round(means.value))
    counts = inside.sum(axis=0)
    off = 0.0
    if rho.value:
        noise = _gaussian_noise(rho, len(counts), len(counts))
        counts = np.asarray(noise.release(counts))
        off = 200 * float(noise.scale) / MEMBERS
    towards = counts / MEMBERS - rates
    inside_scores = (inside - rates) @ towards
    outside_scores = (outside - rates) @ towards
    threshold = float(np.quantile(outside_scores, 1 - FALSE_ALARMS))
    found = float((inside_scores > threshold).mean())
    facts = (
        Fact(percent_text(found, 0), "of those who took part are named by the attack"),
        Fact(
            percent_text(FALSE_ALARMS, 0),
            "of strangers are named too; who knows nothing names as many of both",
        ),
        Fact(f"± {off:.1f} %", f"is how far off each of the {len(counts):,} shares is"),
    )
    return Shown(_draw_scores(inside_scores, outside_scores), facts)


@lru_cache(maxsize=8)
def _people(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Make up people who answer at random, by rates that everybody knows: the same on every visit."""
    rng = np.random.default_rng(2008)
    rates = rng.uniform(0.2, 0.8, count)
    inside = (rng.random((MEMBERS, count)) < rates).astype(np.int64)
    outside = (rng.random((MEMBERS, count)) < rates).astype(np.int64)
    return inside, outside, rates


def _draw_scores(inside: np.ndarray, outside: np.ndarray) -> Html:
    """Draw the distributions of the scores of members and strangers."""
    low = float(min(inside.min(), outside.min()))
    high = float(max(inside.max(), outside.max()))
    edges = np.linspace(low, high, BINS + 1)
    middles = (edges[1:] + edges[:-1]) / 2
    inside_shares = np.histogram(inside, edges)[0] / MEMBERS
    outside_shares = np.histogram(outside, edges)[0] / MEMBERS
    frame = plot(low, high, float(max(inside_shares.max(), outside_shares.max())))
    members = pair_points(middles, inside_shares)
    parts = [
        area(frame, members),
        axes(frame, "how alike to what is published", "share", x_ticks=0),
        path(frame, pair_points(middles, outside_shares), "line other"),
        path(frame, members),
    ]
    words = (
        "Two bells of scores, of those who took part and of strangers; "
        "far apart, the attack tells them apart."
    )
    return picture("Scores of members and strangers", words, parts)


RESIDENTS, LISTED = 20_000, 0.6
GROUP_SIZES = {"alone": 1, "2 to 4": 2, "5 to 19": 5, "20 or more": 20}
"""Classes of people with the same columns, and the least size of each."""


@lesson(
    "linkage",
    Slide(
        "birth",
        "Birth is published as",
        "",
        (1, 30, 365, 3650),
        0,
        ("day", "month", "year", "decade"),
    ),
    Slide("place", "Home is published as", "", (1, 20, 400), 1, ("street", "postcode", "town")),
    keep=16,
)
def linkage_lesson(birth: Slide, place: Slide) -> Shown:
    """Publish birth, home and sex of everybody without names, and look them up in a list with names."""
    days, streets, sexes, listed = _residents()
    cells = np.stack([days // int(birth.value), streets // int(place.value), sexes])
    _, groups, counts = np.unique(cells, axis=1, return_inverse=True, return_counts=True)
    alike = counts[groups.ravel()]
    classes = np.digitize(alike, list(GROUP_SIZES.values())) - 1
    shares = [float((classes == index).mean()) for index in range(len(GROUP_SIZES))]
    named = float(((alike == 1) & listed).mean())
    facts = (
        Fact(
            percent_text(shares[0], 0),
            "of the rows have a birth, home and sex that nobody else has",
        ),
        Fact(percent_text(named, 0), "get their name back from a list of six in ten"),
        Fact(
            f"{int(np.median(alike)):,}",
            "people share all three with the median person; who shares may still share a secret",
        ),
    )
    return Shown(_draw_group_sizes(shares), facts)


@lru_cache(maxsize=1)
def _residents() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Make up people: born on one of 30,000 days, in one of 400 streets; six in ten are on a public list."""
    rng = np.random.default_rng(1997)
    listed = rng.random(RESIDENTS) < LISTED
    days = rng.integers(0, 30_000, RESIDENTS)
    streets = rng.integers(0, 400, RESIDENTS)
    sexes = rng.integers(0, 2, RESIDENTS)
    return days, streets, sexes, listed


def _draw_group_sizes(shares: list[float]) -> Html:
    """Draw a column for each class of group sizes."""
    frame = plot(-0.5, 3.5, 1)
    parts = [axes(frame, "people with the same birth, home and sex", "share", x_ticks=0)]
    told = []
    for place, (words, share) in enumerate(zip(GROUP_SIZES, shares, strict=True)):
        left = place - 0.3
        right = place + 0.3
        kind = "fill" if place == 0 else "column"
        share_text = percent_text(share, 0)
        parts += [
            path(frame, [(left, 0.0), (left, share), (right, share), (right, 0.0)], kind),
            label(frame, (place, share), share_text, anchor="middle", dy=-6),
            label(frame, (place, 0.0), words, kind="tick", anchor="middle", dy=17),
        ]
        told.append(f"{words} {share_text}")
    description = f"Four columns: {', '.join(told)}."
    return picture("How many people share birth, home and sex", description, parts)


RELEASES = 4_000
FIRST_DIGIT, DIGITS = 36, 24
"""Places of the binary fraction that are drawn: 36 to 59."""

CHANCE = 0.05
"""Difference of two shares of as many releases that may well be chance."""


@lesson(
    "floats",
    Slide(
        "sampler",
        "Sampler",
        "",
        (0, 1),
        0,
        ("a textbook's: −b·sign(u)·ln(1 − 2|u|) in doubles", "ours: whole steps"),
    ),
)
def floats_lesson(sampler: Slide) -> Shown:
    """Release 0 and 1 with noise of ε = 1 many times, and find the last binary digit of each result."""
    release = _release_ours if sampler.value else _release_textbook
    shares = [_last_digits(release(value)) for value in (0.0, 1.0)]
    # Shares of results with a digit at each place or beyond.
    tails = [np.cumsum(share[::-1])[::-1] for share in shares]
    place = int(np.argmax(tails[0] - np.e * tails[1]))
    zero = float(tails[0][place])
    one = float(tails[1][place])
    if zero - np.e * one > CHANCE:
        verdict = Fact("broken", "the promise: such a result cannot come from 1")
    else:
        verdict = Fact("kept", "the promise, as far as last digits tell")
    facts = (
        Fact(
            percent_text(zero),
            f"of results for 0 have a binary digit at place {FIRST_DIGIT + place} or beyond",
        ),
        Fact(
            percent_text(one),
            "of results for 1; at ε = 1 the first may be at most e = 2.72 times this",
        ),
        verdict,
    )
    return Shown(_draw_digits(shares), facts)


def _release_textbook(value: float) -> np.ndarray:
    uniform = np.random.default_rng().random(RELEASES) - 0.5
    return np.asarray(value - np.sign(uniform) * np.log(1 - 2 * np.abs(uniform)))


def _release_ours(value: float) -> np.ndarray:
    mechanism = Laplace.spending(PureDP(1), sensitivity=1)
    return np.asarray(mechanism.release(np.full(RELEASES, value)))


def _last_digits(values: np.ndarray) -> np.ndarray:
    """Return how often the last binary digit is at each of the places that are drawn.

    Digits nearer to the point count at the first place, digits beyond at the last.
    """
    fraction, exponent = np.frexp(values)
    whole = (fraction * 2.0**53).astype(np.int64)
    zeros = np.log2((whole & -whole).astype(np.float64))
    place = np.where(whole == 0, 0, 53 - exponent - zeros)
    drawn = np.clip(place - FIRST_DIGIT, 0, DIGITS - 1).astype(np.int64)
    return np.asarray(np.bincount(drawn, minlength=DIGITS) / RELEASES)


def _draw_digits(shares: list[np.ndarray]) -> Html:
    """Draw how often the last binary digit is at each place, for 0 and for 1."""
    places = range(FIRST_DIGIT, FIRST_DIGIT + DIGITS)
    top = max(float(share.max()) for share in shares)
    x = linear(places.start, places.stop, 46, WIDTH - 10)
    frame = ChartFrame(x, linear(0, top, HEIGHT - 44, 24))
    parts = [
        axes(frame, "place of the last binary digit", "share", x_ticks=6),
        path(frame, pair_points(places, shares[0]), "line other"),
        path(frame, pair_points(places, shares[1]), "line"),
    ]
    words = (
        "Two lines: how often the last binary digit of the result stands at each place, "
        "for 0 and for 1."
    )
    return picture("Last digits of noisy results", words, parts)
