"""Fifth lesson: trust models. One question in the local, the shuffled and the central model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..local.compare import FrequencyQuestion, MeanQuestion, Trust, TrustQuestion, compare_trust
from ..privacy.measures import ApproxDP
from ..service.pages.charts.chart import (
    HEIGHT,
    WIDTH,
    ChartFrame,
    axes,
    label,
    path,
    picture,
    plain,
)
from ..service.pages.number_text import error_words
from ..show.markup import Html
from ..show.scale import decades
from .lesson import Fact, Lesson, Slide
from .trust_table import TRUST

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
QUESTION = Slide("question", "Asked is", "", (0, 1, 2, 3), 0, ASKED)
PEOPLE = Slide("n", "People", "n", (100, 1_000, 10_000, 100_000, 1_000_000), 2)
BUDGET = Slide("e", "Budget of each person", "ε", (0.5, 1, 2, 4), 1)
DELTA = "1/1000000"
MODELS = (
    ("local", "nobody is trusted: everyone adds noise on their own device"),
    (
        "shuffled",
        "a shuffler takes the senders off: with less noise each is hidden among the others",
    ),
    ("central", "a curator sees the data: one noise for all"),
)


def trust_lesson(asked: Mapping[str, str]) -> Lesson:
    """Draw the standard error of the three models against the number of people."""
    slides = QUESTION.at(asked), PEOPLE.at(asked), BUDGET.at(asked)
    question, people, budget = (
        list(QUESTIONS)[slides[0].place],
        round(slides[1].value),
        plain(slides[2].value),
    )
    report, *errors = TRUST[question, people, budget]
    said = dict(MODELS) | {
        "shuffled": f"{dict(MODELS)['shuffled']}; a report may then cost ε = {report:.3g} by itself"
    }
    facts = tuple(
        Fact(error_words(e), f"{name}: {said[name]}") for e, name in zip(errors, said, strict=True)
    )
    rows = [(n, TRUST[question, round(n), budget][1:]) for n in PEOPLE.values]
    table = (("people", *said), *((plain(n), *map(error_words, row)) for n, row in rows))
    return Lesson("trust", slides, _picture(people, budget, rows), facts, table)


def cell_of(question: str, people: int, budget: str) -> Trust:
    """Compute one cell of the table anew."""
    return compare_trust(QUESTIONS[question], ApproxDP(budget, DELTA), people)


def _picture(people: int, budget: str, rows: Sequence[tuple[float, tuple[float, ...]]]) -> Html:
    lines = {name: [(n, row[at]) for n, row in rows] for at, (name, _) in enumerate(MODELS)}
    every = [error for points in lines.values() for _, error in points]
    wide, high = (
        decades(rows[0][0], rows[-1][0], 46, WIDTH - 64),
        decades(min(every), max(every), HEIGHT - 44, 24),
    )
    frame = ChartFrame(wide, high)
    parts = [axes(frame, "people", "standard error", x_ticks=4, y_ticks=4)]
    parts.append(path(frame, [(people, frame.y.low), (people, frame.y.high)], "truth"))
    for (name, points), kind in zip(
        lines.items(), ("line faint", "line other", "line"), strict=True
    ):
        parts += [path(frame, points, kind), label(frame, points[-1], name, dx=6, dy=4)]
    ends = ", ".join(
        f"{name} {error_words(dict(points)[people])}" for name, points in lines.items()
    )
    words = f"Three falling lines: the more people, the smaller the error. With {people} people: {ends}."
    return picture(f"Standard error at ε = {budget}", words, parts)
