"""Lessons about trust models: randomized response, and one question in the local, shuffled and central model.

| lesson | shows |
|---|---|
| response | every answer is deniable, and the share can still be estimated |
| trust | the standard error that less trust costs |
"""

from __future__ import annotations

import numpy as np

from ..arithmetic.rounding import shown
from ..local.compare import FrequencyQuestion, MeanQuestion, Trust, TrustQuestion, compare_trust
from ..mechanisms.response.randomized import Frequencies, RandomizedResponse
from ..privacy.measures import ApproxDP
from ..service.pages.charts.chart import (
    HEIGHT,
    WIDTH,
    ChartFrame,
    axes,
    circle,
    label,
    path,
    picture,
    plain,
)
from ..service.pages.number_text import error_words
from ..show.markup import Html, join
from ..show.scale import ChartScale, Point, decades
from .lesson import Fact, Shown, Slide, crowd, lesson, percent_text

SHARE = 0.3
"""Share of people who would truly say yes."""

ROWS, COLUMNS = 5, 20
BETA = 0.05
"""Failure probability of the confidence interval that is shown."""


@lesson(
    "response",
    Slide("epsilon", "Budget of each person", "ε", (0.1, 0.2, 0.5, 0.7, 1, 1.5, 2, 3, 5), 4),
    Slide("people", "People asked", "n", (100, 300, 1_000, 3_000, 10_000), 2),
)
def response_lesson(epsilon: Slide, people: Slide) -> Shown:
    """Ask n made-up people, three in ten of whom would truly say yes, and estimate that share."""
    response = RandomizedResponse(options=2, epsilon=epsilon.exact)
    would_say_yes = np.arange(round(people.value)) % 10 < round(10 * SHARE)
    truths = would_say_yes.astype(np.int64)
    said = response.release(truths)
    estimate = response.estimate(said)
    low, high = estimate.interval(BETA)[1]
    # Both ends are rounded outwards, so that the interval shown is never too narrow.
    low_text = shown(100 * low, 3, upward=False)
    high_text = shown(100 * high, 3)
    facts = (
        Fact(percent_text(response.p), "the chance that a person tells the truth: e^ε / (1 + e^ε)"),
        Fact(percent_text(said.mean()), f"said yes; {percent_text(SHARE, 0)} would truly do so"),
        Fact(
            percent_text(estimate.values[1]),
            f"estimated; the true share lies from {low_text} to {high_text} %, 95 times in 100",
        ),
    )
    first = slice(ROWS * COLUMNS)
    frame = ChartFrame(ChartScale(0, COLUMNS - 1, 18, WIDTH - 18), ChartScale(0, ROWS - 1, 22, 110))
    dots = crowd(frame, COLUMNS, said[first].tolist(), (said == truths)[first].tolist())
    description = (
        "The first hundred people: a filled dot said yes; a dashed edge did not tell the truth. "
        "Below, the estimate."
    )
    parts = [*dots, _draw_interval(estimate)]
    return Shown(picture("A hundred answers", description, parts, height=200), facts)


def _draw_interval(estimate: Frequencies) -> Html:
    """Draw the estimated share with its confidence interval, and the true share."""
    frame = ChartFrame(ChartScale(0, 1, 18, WIDTH - 18), ChartScale(0, 1, 178, 150))
    low, high = estimate.interval(BETA)[1]
    value = float(estimate.values[1])
    marks = []
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        words = f"{plain(100 * tick)} %"
        marks.append(label(frame, (tick, 0), words, kind="tick", anchor="middle", dy=16))
    marks += [
        path(frame, [(0, 0), (1, 0)], "axis"),
        path(frame, [(SHARE, 0), (SHARE, 1)], "truth"),
        label(frame, (SHARE, 1), "truth", kind="word other", anchor="middle", dy=-4),
        path(frame, [(low, 0.4), (high, 0.4)], "bar"),
        circle(frame, (value, 0.4), "dot", 5),
    ]
    return join(marks)


QUESTIONS: dict[str, TrustQuestion] = {
    "2": FrequencyQuestion(2),
    "10": FrequencyQuestion(10),
    "1000": FrequencyQuestion(1000),
    "mean": MeanQuestion(0, 1),
}
ASKED = (
    "the share of a yes",
    "the share of one of 10 answers",
    "one of 1000 answers",
    "a mean from 0 to 1",
)
PEOPLE = Slide("n", "People", "n", (100, 1_000, 10_000, 100_000, 1_000_000), 2)
BUDGET = Slide("e", "Budget of each person", "ε", (0.5, 1, 2, 4), 1)
DELTA = "1/1000000"
MODELS = {"local": "line faint", "shuffled": "line other", "central": "line"}
"""Trust models and the kinds of their lines."""


@lesson("trust", Slide("question", "Asked is", "", (0, 1, 2, 3), 0, ASKED), PEOPLE, BUDGET)
def trust_lesson(question: Slide, people: Slide, budget: Slide) -> Shown:
    """Draw the standard error of the three models against the number of people."""
    name = list(QUESTIONS)[question.place]
    spend = plain(budget.value)
    count = round(people.value)
    report, *errors = TRUST[name, count, spend]
    meanings = (
        "local: nobody is trusted: everyone adds noise on their own device",
        "shuffled: a shuffler takes the senders off: with less noise each is hidden among the "
        f"others; a report may then cost ε = {report:.3g} by itself",
        "central: a curator sees the data: one noise for all",
    )
    facts = []
    for error, meaning in zip(errors, meanings, strict=True):
        facts.append(Fact(error_words(error), meaning))
    table: list[tuple[str, ...]] = [("people", *MODELS)]
    lines: dict[str, list[Point]] = {model: [] for model in MODELS}
    for number in PEOPLE.values:
        _, *row = TRUST[name, round(number), spend]
        table.append((plain(number), *map(error_words, row)))
        for line, error in zip(lines.values(), row, strict=True):
            line.append((number, error))
    return Shown(_draw_trust(count, spend, lines), tuple(facts), tuple(table))


def cell_of(question: str, people: int, budget: str) -> Trust:
    """Compute one row of TRUST_TABLE anew, for a test; it takes up to half a minute."""
    return compare_trust(QUESTIONS[question], ApproxDP(budget, DELTA), people)


def _draw_trust(people: int, budget: str, lines: dict[str, list[Point]]) -> Html:
    """Draw the standard errors of the three models against the number of people."""
    errors = [error for points in lines.values() for _, error in points]
    x = decades(PEOPLE.values[0], PEOPLE.values[-1], 46, WIDTH - 64)
    y = decades(min(errors), max(errors), HEIGHT - 44, 24)
    frame = ChartFrame(x, y)
    parts = [axes(frame, "people", "standard error", x_ticks=4, y_ticks=4)]
    parts.append(path(frame, [(people, y.low), (people, y.high)], "truth"))
    ends = []
    for name, points in lines.items():
        parts.append(path(frame, points, MODELS[name]))
        parts.append(label(frame, points[-1], name, dx=6, dy=4))
        ends.append(f"{name} {error_words(dict(points)[people])}")
    words = (
        "Three falling lines: the more people, the smaller the error. "
        f"With {people} people: {', '.join(ends)}."
    )
    return picture(f"Standard error at ε = {budget}", words, parts)


TRUST_TABLE = """
2             100  0.5   1.02222  1.9793e-01  9.3694e-02  2.8284e-02
2             100  1     1.57861  9.5952e-02  5.7218e-02  1.4142e-02
2             100  2     2.10254  4.2546e-02  3.9812e-02  7.0711e-03
2             100  4     4        1.3786e-02  1.3786e-02  3.5355e-03
2            1000  0.5   2.55859  6.2592e-02  9.5368e-03  2.8284e-03
2            1000  1     3.43897  3.0343e-02  5.8534e-03  1.4142e-03
2            1000  2     4.12598  1.3454e-02  4.0844e-03  7.0711e-04
2            1000  4     4.35742  4.3595e-03  3.6257e-03  3.5355e-04
2           10000  0.5   4.71558  1.9793e-02  9.5484e-04  2.8284e-04
2           10000  1     5.67651  9.5952e-03  5.8729e-04  1.4142e-04
2           10000  2     6.35107  4.2546e-03  4.1845e-04  7.0711e-05
2           10000  4     6.57812  1.3786e-03  3.7341e-04  3.5355e-05
2          100000  0.5   7.00122  6.2592e-03  9.5521e-05  2.8284e-05
2          100000  1     7.97266  3.0343e-03  5.8737e-05  1.4142e-05
2          100000  2     8.65137  1.3454e-03  4.1827e-05  7.0711e-06
2          100000  4     8.875    4.3595e-04  3.7401e-05  3.5355e-06
2         1000000  0.5   9.302    1.9793e-03  9.5529e-06  2.8284e-06
2         1000000  1     10.2761  9.5952e-04  5.8693e-06  1.4142e-06
2         1000000  2     10.9517  4.2546e-04  4.1868e-06  7.0711e-07
2         1000000  4     11.1777  1.3786e-04  3.7393e-06  3.5355e-07
10            100  0.5   1.46118  3.5449e-01  1.0597e-01  5.6569e-02
10            100  1     2.1206   1.6850e-01  5.5094e-02  2.8284e-02
10            100  2     2.97412  6.1400e-02  2.8273e-02  1.4142e-02
10            100  4     4.22266  1.4762e-02  1.2988e-02  7.0711e-03
10           1000  0.5   2.65698  1.1210e-01  1.1256e-02  5.6569e-03
10           1000  1     3.50488  5.3284e-02  6.2944e-03  2.8284e-03
10           1000  2     4.25928  1.9416e-02  4.0230e-03  1.4142e-03
10           1000  4     5.25391  4.6680e-03  2.3459e-03  7.0711e-04
10          10000  0.5   4.42798  3.5449e-02  1.1574e-03  5.6569e-04
10          10000  1     5.50439  1.6850e-02  6.5082e-04  2.8284e-04
10          10000  2     6.34424  6.1400e-03  4.2282e-04  1.4142e-04
10          10000  4     6.64551  1.4762e-03  3.6288e-04  7.0711e-05
10         100000  0.5   6.61145  1.1210e-02  1.1675e-04  5.6569e-05
10         100000  1     7.76392  5.3284e-03  6.5314e-05  2.8284e-05
10         100000  2     8.6206   1.9416e-03  4.2506e-05  1.4142e-05
10         100000  4     8.88965  4.6680e-04  3.7148e-05  7.0711e-06
10        1000000  0.5   8.90088  3.5449e-03  1.1681e-05  5.6569e-06
10        1000000  1     10.0601  1.6850e-03  6.5400e-06  2.8284e-06
10        1000000  2     10.9175  6.1400e-04  4.2593e-06  1.4142e-06
10        1000000  4     11.1895  1.4762e-04  3.7177e-06  7.0711e-07
1000          100  0.5   3.09216  3.9734e-01  1.5191e-01  5.6569e-02
1000          100  1     3.92603  1.9196e-01  6.5152e-02  2.8284e-02
1000          100  2     5.02832  8.5080e-02  2.2364e-02  1.4142e-02
1000          100  4     6.69531  2.7447e-02  5.2630e-03  5.2630e-03
1000         1000  0.5   4.51502  1.2565e-01  1.1548e-02  5.6569e-03
1000         1000  1     5.36157  6.0703e-02  5.1895e-03  2.8284e-03
1000         1000  2     6.43652  2.6905e-02  2.0436e-03  1.4142e-03
1000         1000  4     7.91699  8.6794e-03  7.0530e-04  7.0530e-04
1000        10000  0.5   5.80542  3.9734e-02  1.1015e-03  5.6569e-04
1000        10000  1     6.61035  1.9196e-02  5.6249e-04  2.8284e-04
1000        10000  2     7.54394  8.5080e-03  2.8456e-04  1.4142e-04
1000        10000  4     8.93945  2.7447e-03  1.2178e-04  7.0711e-05
1000       100000  0.5   7.19421  1.2565e-02  1.1470e-04  5.6569e-05
1000       100000  1     8.08984  6.0703e-03  6.3303e-05  2.8284e-05
1000       100000  2     8.8667   2.6905e-03  4.0112e-05  1.4142e-05
1000       100000  4     9.88574  8.6794e-04  2.3127e-05  7.0711e-06
1000      1000000  0.5   9.01819  3.9734e-03  1.1657e-05  5.6569e-06
1000      1000000  1     10.1077  1.9196e-03  6.5137e-06  2.8284e-06
1000      1000000  2     10.9482  8.5080e-04  4.2306e-06  1.4142e-06
1000      1000000  4     11.2598  2.7447e-04  3.6120e-06  7.0711e-07
mean          100  0.5   0.84436  2.0007e-01  1.1856e-01  2.8284e-02
mean          100  1     1.29663  9.9989e-02  7.6375e-02  1.4142e-02
mean          100  2     2        4.6739e-02  4.6739e-02  7.0711e-03
mean          100  4     4        1.8112e-02  1.8112e-02  3.5355e-03
mean         1000  0.5   1.90015  6.3267e-02  1.5717e-02  2.8284e-03
mean         1000  1     2.72119  3.1619e-02  1.0053e-02  1.4142e-03
mean         1000  2     3.4458   1.4780e-02  7.2690e-03  7.0711e-04
mean         1000  4     4.00879  5.7275e-03  5.7075e-03  3.5355e-04
mean        10000  0.5   3.70142  2.0007e-02  2.0518e-03  2.8284e-04
mean        10000  1     4.79394  9.9989e-03  1.3167e-03  1.4142e-04
mean        10000  2     5.6333   4.6739e-03  9.5517e-04  7.0711e-05
mean        10000  4     5.90137  1.8112e-03  8.6455e-04  3.5355e-05
mean       100000  0.5   5.91516  6.3267e-03  2.7198e-04  2.8284e-05
mean       100000  1     7.06811  3.1619e-03  1.8075e-04  1.4142e-05
mean       100000  2     7.92334  1.4780e-03  1.3594e-04  7.0711e-06
mean       100000  4     8.19238  5.7275e-04  1.2459e-04  3.5355e-06
mean      1000000  0.5   8.20837  2.0007e-03  3.9198e-05  2.8284e-06
mean      1000000  1     9.36792  9.9989e-04  2.7635e-05  1.4142e-06
mean      1000000  2     10.2271  4.6739e-04  2.3300e-05  7.0711e-07
mean      1000000  4     10.4951  1.8112e-04  2.3300e-05  3.5355e-07
"""
"""Results of `compare_trust` at δ = 10⁻⁶ for every position of the sliders; one takes up to half a minute.

Columns: question (options, or the mean of a number from 0 to 1), people, ε, the ε of a shuffled report, and the
standard errors of the local, the shuffled and the central model. `tests/lessons/test_trust.py` computes them again.
"""


def _read_table(text: str) -> dict[tuple[str, int, str], tuple[float, ...]]:
    """Read the rows of the table by question, people and ε."""
    rows = {}
    for line in text.strip().splitlines():
        question, people, budget, *numbers = line.split()
        rows[question, int(people), budget] = tuple(map(float, numbers))
    return rows


TRUST = _read_table(TRUST_TABLE)
