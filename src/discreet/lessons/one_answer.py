"""Lessons about one answer: noise by ε, neighbouring data sets, sensitivity and clipping, post-processing, selection.

| lesson | shows |
|---|---|
| noise | distributions of a noisy count with you and without you |
| neighbours | by row or person, added or replaced: the same ε differs in meaning |
| clipping | a wide bound adds noise, a tight one cuts off; the best lies between |
| processing | post-processing costs nothing, and often makes an answer better |
| choice | exponential mechanism and permute-and-flip: near the best, rarely far from it |
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np

from ..arithmetic.rounding import shown
from ..mechanisms.additive.discrete_laplace import Geometric
from ..mechanisms.selection.exponential import Exponential
from ..mechanisms.selection.permute_and_flip import PermuteAndFlip
from ..privacy.advise import meaning
from ..privacy.measures import PureDP
from ..service.pages.charts.chart import (
    HEIGHT,
    WIDTH,
    ChartFrame,
    area,
    axes,
    circle,
    label,
    path,
    picture,
    plain,
)
from ..show.markup import Html, join
from ..show.scale import ChartScale, Point, decades, linear
from .lesson import (
    Fact,
    Shown,
    Slide,
    count_noise,
    distribution_steps,
    lesson,
    pair_points,
    percent_text,
    plot,
)

BETA = 0.05
"""Failure probability of the errors that are shown."""

COUNT, COUNT_REACH, DRAWS = 100, 20, 40
"""True count of the first lesson, how far around it the picture goes, and fresh draws shown below it."""


@lesson(
    "noise",
    Slide(
        "epsilon",
        "Budget for this answer",
        "ε",
        (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5),
        4,
    ),
)
def noise_lesson(epsilon: Slide) -> Shown:
    """Draw the distribution of a noisy count for two neighbours, and forty fresh draws of it."""
    noise = count_noise(epsilon.exact)
    draws = [noise.release(COUNT) for _ in range(DRAWS)]
    told = meaning(PureDP(epsilon.exact))
    _, belief = told.posterior(Fraction(1, 2))
    likelier = shown(math.exp(epsilon.value), 3)
    facts = (
        Fact(f"± {noise.error(BETA)}", "off by at most this, 95 times in 100"),
        Fact(
            f"× {likelier}", "no result is more than this much likelier with you than without you"
        ),
        Fact(f"{shown(100 * belief, 3)} %", "the most that a guess of 50 % about you can become"),
    )
    return Shown(_draw_noise(epsilon, draws), facts)


@lru_cache(maxsize=64)
def _count_steps(epsilon: Slide, truth: int) -> list[Point]:
    places = range(COUNT - COUNT_REACH, COUNT + COUNT_REACH + 1)
    return distribution_steps(count_noise(epsilon.exact), truth, places)


def _draw_noise(epsilon: Slide, draws: list[int]) -> Html:
    """Draw the distributions of the count with and without you, and the draws below them."""
    with_you = _count_steps(epsilon, COUNT)
    without = _count_steps(epsilon, COUNT - 1)
    ends = with_you[0][0], with_you[-1][0]
    # Higher than the usual plot area: the draws stand below the axis.
    y = linear(0, max(chance for _, chance in with_you), HEIGHT - 76, 24)
    frame = ChartFrame(ChartScale(*ends, 46, WIDTH - 10), y)
    parts = [
        area(frame, with_you),
        axes(frame, "what is told", "probability", x_ticks=8),
        path(frame, without, "line other"),
        path(frame, with_you),
        _draw_strokes(frame, draws),
    ]
    described = (
        f"Two bell-like staircases, centred on {COUNT} and {COUNT - 1}, "
        "that nearly cover each other."
    )
    return picture(f"Noise at ε = {epsilon.value:g}", described, parts)


def _draw_strokes(frame: ChartFrame, draws: list[int]) -> Html:
    """Draw each draw as a short stroke under the axis; those beyond the picture stand at its ends."""
    top = frame.y.start + 42
    strip = ChartFrame(frame.x, ChartScale(0, 4, top + 12, top))
    seen: dict[int, int] = {}
    strokes = []
    for draw in sorted(draws):
        x = min(max(draw, COUNT - COUNT_REACH), COUNT + COUNT_REACH)
        earlier = seen.get(x, 0)
        seen[x] = earlier + 1
        # Equal draws are stacked, four to a stack.
        height = earlier % 4
        strokes.append(path(strip, [(x, height), (x, height + 0.8)], "stroke"))
    return join(strokes)


VISITS, VISIT_REACH = 500, 60
YOUNGEST, OLDEST = 20, 60


@lesson(
    "neighbours",
    Slide("rows", "Visits of one person", "k", (1, 2, 3, 5, 10, 20), 3),
    Slide("epsilon", "Budget of the count", "ε", (0.1, 0.3, 1, 3), 2),
    Slide("unit", "What is hidden", "", (0, 1), 0, ("one visit", "one person, with all visits")),
    Slide(
        "relation",
        "A neighbour differs by one",
        "",
        (0, 1),
        0,
        ("added or removed", "replaced by another"),
    ),
    keep=128,
)
def neighbours_lesson(rows: Slide, epsilon: Slide, unit: Slide, relation: Slide) -> Shown:
    """Draw a count of visits with one person and without, for noise that hides a visit or a person."""
    k = round(rows.value)
    if unit.value:
        noise = count_noise(epsilon.exact, sensitivity=k)
        person = epsilon.value
    else:
        # Noise for one row hides a person with k rows at k times the price only.
        noise = count_noise(epsilon.exact)
        person = k * epsilon.value
    if relation.value:
        moves = f"0 and {OLDEST - YOUNGEST}"
        reason = "if it is replaced: how many rows there are is public then"
    else:
        moves = f"1 and {OLDEST}"
        reason = "if it may be missing"
    best_guess = 1 / (1 + math.exp(-min(person, 50)))
    facts = (
        Fact(f"ε = {shown(person, 3)}", "is what this answer promises to the person"),
        Fact(f"± {noise.error(BETA)}", f"off by at most this, 95 times in 100, of {VISITS} visits"),
        Fact(
            percent_text(best_guess),
            "the most that any guess can be right whether the person is among the visits",
        ),
        Fact(
            moves,
            f"so far one row moves COUNT(*), and a SUM of ages from {YOUNGEST} to {OLDEST}, "
            + reason,
        ),
    )
    return Shown(_draw_neighbours(noise, k), facts)


def _draw_neighbours(noise: Geometric, k: int) -> Html:
    """Draw the distributions of the count with a person's k visits and without."""
    places = range(VISITS - VISIT_REACH, VISITS + VISIT_REACH)
    with_person = distribution_steps(noise, VISITS, places)
    without = distribution_steps(noise, VISITS - k, places)
    top = max(chance for _, chance in with_person + without)
    frame = plot(places[0] - 0.5, places[-1] + 0.5, top)
    parts = [
        area(frame, with_person),
        axes(frame, "visits that are told", "probability", x_ticks=6),
        path(frame, without, "line other"),
        path(frame, with_person),
    ]
    words = f"Two staircases, centred on {VISITS} visits with the person and {VISITS - k} without."
    return picture("A count of visits with one person and without", words, parts)


CLIPPED_PEOPLE = Slide("people", "People", "n", (100, 1_000, 10_000, 100_000), 1)
BOUNDS = np.geomspace(1e4, 1e7, 61)


@lesson(
    "clipping",
    CLIPPED_PEOPLE,
    Slide("epsilon", "Budget", "ε", (0.1, 0.3, 1, 3), 2),
    Slide("bound", "Upper bound of an income", "bound", (2e4, 5e4, 1e5, 2e5, 5e5, 1e6, 1e7), 4),
    keep=256,
)
def clipping_lesson(people: Slide, epsilon: Slide, bound: Slide) -> Shown:
    """Draw the error of a mean income against the bound: clipping error, noise, and both."""
    bounds = np.append(BOUNDS, bound.value)
    incomes = _incomes()
    clipped_means = np.array([np.minimum(incomes, high).mean() for high in bounds])
    cut = incomes.mean() - clipped_means
    noise = bounds / (people.value * epsilon.value) * np.sqrt(2)
    both = np.hypot(cut, noise)[:-1]
    best = float(BOUNDS[int(np.argmin(both))])
    facts = (
        Fact(plain(round(float(cut[-1]))), "too low on average: what clipping cuts off"),
        Fact(plain(round(float(noise[-1]))), "deviation of the noise: bound / (n·ε) · √2"),
        Fact(
            plain(float(f"{best:.2g}")),
            "the best bound here; it must be known without looking at the data",
        ),
    )
    return Shown(_draw_clipping(cut[:-1], noise[:-1], both, bound.value), facts)


@lru_cache(maxsize=1)
def _incomes() -> np.ndarray:
    """Make up incomes with a long tail: the same on every visit."""
    return np.random.default_rng(9).lognormal(np.log(30_000), 0.8, 20_000)


def _draw_clipping(cut: np.ndarray, noise: np.ndarray, both: np.ndarray, bound: float) -> Html:
    """Draw both errors and their sum against the bound, with a dot at the chosen bound."""
    top = float(max(both.max(), 10))
    frame = ChartFrame(decades(1e4, 1e7, 56, WIDTH - 10), decades(1, top, HEIGHT - 44, 24))
    parts = [axes(frame, "upper bound", "error of the mean", x_ticks=4, y_ticks=5)]
    for kind, error in (("line faint", cut), ("line other", noise), ("line", both)):
        # No error at all has no place on a logarithmic axis.
        parts.append(path(frame, pair_points(BOUNDS, np.maximum(error, 1)), kind))
    here = (bound, float(np.interp(bound, BOUNDS, both)))
    parts.append(circle(frame, here, "dot", 5))
    parts.append(label(frame, here, "here", dx=8, dy=-6))
    words = (
        "Error against bound: what is cut off falls, noise rises, "
        "and their sum has a lowest point between."
    )
    return picture("What a bound costs", words, parts)


TABLE = np.array([40, 21, 12, 7, 3, 1, 0, 0])
GROUPS = "ABCDEFGH"
TRIES = 2_000


@lesson(
    "processing",
    Slide("epsilon", "Budget of the table", "ε", (0.05, 0.1, 0.2, 0.5, 1), 2),
    Slide(
        "step",
        "What is done afterwards",
        "",
        (0, 1, 2, 3),
        1,
        (
            "nothing",
            "negative counts become 0",
            "and they add up to the public total",
            "rounded to tens",
        ),
    ),
)
def processing_lesson(epsilon: Slide, step: Slide) -> Shown:
    """Release a table of eight counts two thousand times, before and after post-processing."""
    tables = np.tile(TABLE, (TRIES, 1))
    told = np.asarray(count_noise(epsilon.exact).release(tables), dtype=float)
    made = process(told, round(step.value))
    facts = (
        Fact(
            f"ε = {epsilon.value:g}",
            "before, and the same after: whatever is done to an answer alone costs no more",
        ),
        Fact(f"± {np.abs(told - TABLE).mean():.1f}", "mean error of a count as it is told"),
        Fact(
            f"± {np.abs(made - TABLE).mean():.1f}",
            f"mean error afterwards, in {TRIES:,} tries made just now",
        ),
    )
    return Shown(_draw_processing(told[0], made[0]), facts)


def process(told: np.ndarray, step: int) -> np.ndarray:
    """Process tables of counts, row by row.

    | step | result |
    |---|---|
    | 0 | as told |
    | 1 | no negative counts |
    | 2 | no negative counts, and the public total |
    | 3 | rounded to tens |

    >>> import numpy as np
    >>> from discreet.lessons.one_answer import process
    >>> process(np.array([[90.0, -6.0, 4.0]]), 2).sum()
    np.float64(84.0)
    """
    if step == 0:
        return told
    if step == 1:
        return np.asarray(np.maximum(told, 0))
    if step == 3:
        return np.asarray(np.round(told / 10) * 10)
    # Projection onto the tables without negative counts and with this sum: every count is lowered by the
    # same amount, and those that would fall below 0 become 0.
    cells = told.shape[1]
    descending = -np.sort(-told, axis=1)
    excess = (np.cumsum(descending, axis=1) - TABLE.sum()) / np.arange(1, cells + 1)
    last_kept = cells - 1 - np.argmax((descending > excess)[:, ::-1], axis=1)
    lowered_by = np.take_along_axis(excess, last_kept[:, None], axis=1)
    return np.asarray(np.maximum(told - lowered_by, 0))


def _draw_processing(told: np.ndarray, made: np.ndarray) -> Html:
    """Draw the true, the noisy and the processed counts of one try."""
    top = max(float(told.max()), float(TABLE.max()))
    frame = plot(-0.5, len(TABLE) - 0.5, top, bottom=min(0.0, float(told.min())))
    parts = [axes(frame, "group", "people", x_ticks=0)]
    for place, truth in enumerate(TABLE.tolist()):
        parts += [
            path(frame, [(place - 0.35, truth), (place + 0.35, truth)], "truth"),
            circle(frame, (place - 0.12, float(told[place])), "ring"),
            circle(frame, (place + 0.12, float(made[place])), "dot"),
            label(frame, (place, frame.y.low), GROUPS[place], kind="tick", anchor="middle", dy=17),
        ]
    words = (
        "Eight groups: a stroke for the truth, a ring for what is told, "
        "a dot for what is made of it."
    )
    return picture("Counts as told and afterwards", words, parts)


CANDIDATES = ("Ana", "Ben", "Cem", "Dea", "Eli")
VOTES = 40
"""Votes of the second candidate."""


@lesson(
    "choice",
    Slide("epsilon", "Budget", "ε", (0.05, 0.1, 0.2, 0.5, 1, 2), 2),
    Slide("lead", "Votes that the winner is ahead", "lead", (0, 2, 5, 10, 20, 50), 3),
    keep=64,
)
def choice_lesson(epsilon: Slide, lead: Slide) -> Shown:
    """Draw the chance of each candidate by the exponential mechanism and by permute-and-flip."""
    spend = PureDP(epsilon.exact)
    scores = [VOTES + round(lead.value), VOTES, VOTES - 5, VOTES - 10, VOTES - 30]
    mechanism = Exponential.spending(spend, sensitivity=1)
    flipping = PermuteAndFlip.spending(spend, sensitivity=1)
    exponential = [float(chance) for chance in mechanism.probabilities(scores)]
    flipped = [float(chance) for chance in flipping.probabilities(scores)]
    missed = mechanism.error(len(scores), beta=BETA)
    facts = (
        Fact(percent_text(exponential[0]), "the winner is named by the exponential mechanism"),
        Fact(percent_text(flipped[0]), "by permute-and-flip, for the same price: never less"),
        Fact(
            f"{float(missed):.1f}",
            "votes behind the winner at most, 95 times in 100, whatever the votes",
        ),
    )
    table: list[tuple[str, ...]] = [("candidate", "votes", "exponential", "permute-and-flip")]
    frame = plot(-0.5, len(scores) - 0.5, 1)
    bars = []
    names = []
    for place, (name, score) in enumerate(zip(CANDIDATES, scores, strict=True)):
        chances = exponential[place], flipped[place]
        table.append((name, str(score), *map(percent_text, chances)))
        bars.append(path(frame, [(place - 0.12, 0), (place - 0.12, chances[0])], "line other"))
        names.append(
            label(frame, (place, 0), f"{name} {score}", kind="tick", anchor="middle", dy=17)
        )
    for place, chance in enumerate(flipped):
        bars.append(path(frame, [(place + 0.12, 0), (place + 0.12, chance)], "bar"))
    words = (
        "Two bars a candidate: how likely each is named, "
        "by the exponential mechanism and by permute-and-flip."
    )
    parts = [axes(frame, "", "chance", x_ticks=0), *bars, *names]
    return Shown(picture("Who is named", words, parts), facts, tuple(table))
