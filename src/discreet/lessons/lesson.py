"""Lesson of the learning pages: a picture, its facts in numbers, and the sliders that change it.

A lesson is written as a function of its sliders, under `@lesson`. It returns what it shows: picture, facts and
perhaps a table. What several lessons draw is here too: a plot area, a crowd of dots, the steps of a distribution.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

from ..frozen import frozen, replace
from ..mechanisms.additive.discrete_laplace import Geometric
from ..privacy.measures import PureDP
from ..service.pages.charts.chart import HEIGHT, WIDTH, ChartFrame, circle, plain
from ..show.markup import Html
from ..show.scale import ChartScale, Point, linear, steps


@frozen
class Slide:
    """Slider over a few numbers, `values`, at the position `place` of that list.

    `name` is the slider's name in a request, `words` its label, `symbol` stands before the number.
    A request names a position, so that only listed numbers are ever computed. `names` are shown
    instead of the numbers, if there are any.
    """

    name: str
    words: str
    symbol: str
    values: tuple[float, ...]
    place: int
    names: tuple[str, ...] = ()

    @property
    def value(self) -> float:
        """Number at the slider's position."""
        return self.values[self.place]

    @property
    def exact(self) -> Fraction:
        """Number at the slider's position as the rational that its decimal means: 0.1 is 1/10."""
        return Fraction(str(self.value))

    @property
    def spoken(self) -> str:
        """Text beside the slider, which a screen reader says."""
        return self._spoken(self.place)

    @property
    def all_spoken(self) -> str:
        """Texts of all positions, a line each, for the script that moves the slider."""
        return "\n".join(map(self._spoken, range(len(self.values))))

    def _spoken(self, place: int) -> str:
        if self.names:
            return self.names[place]
        return f"{self.symbol} = {plain(self.values[place])}"

    def at(self, asked: Mapping[str, str]) -> Slide:
        """Move the slider to the position that a request names; anything else leaves it where it is.

        >>> from discreet.lessons.lesson import Slide
        >>> Slide("e", "budget", "ε", (0.1, 1.0), 0).at({"e": "1"}).value
        1.0
        >>> Slide("e", "budget", "ε", (0.1, 1.0), 0).at({"e": "-1; DROP"}).value
        0.1
        """
        place = asked.get(self.name, "")
        if not place.isascii() or not place.isdigit() or len(place) > 3:
            return self
        return replace(self, place=min(int(place), len(self.values) - 1))


@frozen
class Fact:
    """One number worth a look, and its meaning."""

    number: str
    words: str


@frozen
class Lesson:
    """One lesson at a position of its sliders; `table` has the picture's numbers, head first."""

    name: str
    slides: tuple[Slide, ...]
    picture: Html
    facts: tuple[Fact, ...]
    table: tuple[Sequence[str], ...] = ()


@frozen
class Shown:
    """Picture, facts and table of a lesson, without its name and sliders."""

    picture: Html
    facts: tuple[Fact, ...]
    table: tuple[Sequence[str], ...] = ()


MakeLesson: TypeAlias = Callable[[Mapping[str, str]], Lesson]


def lesson(
    name: str, *slides: Slide, keep: int = 0
) -> Callable[[Callable[..., Shown]], MakeLesson]:
    """Turn a function of sliders into a function of a request, which has their positions by name.

    `keep` is the number of results that are kept in memory, for lessons without randomness only.
    """

    def decorate(show: Callable[..., Shown]) -> MakeLesson:
        if keep:
            show = lru_cache(maxsize=keep)(show)

        def make(asked: Mapping[str, str]) -> Lesson:
            moved = tuple(slide.at(asked) for slide in slides)
            shown = show(*moved)
            return Lesson(name, moved, shown.picture, shown.facts, shown.table)

        return make

    return decorate


def percent_text(share: float, digits: int = 1) -> str:
    """Write a share in per cent, rounded to the nearest."""
    return f"{100 * share:.{digits}f} %"


def count_noise(budget: Fraction, sensitivity: int = 1) -> Geometric:
    """Return the noise of a count at a pure budget."""
    return Geometric.spending(PureDP(budget), sensitivity=sensitivity)


def plot(low: float, high: float, top: float, bottom: float = 0) -> ChartFrame:
    """Return the usual plot area: x from `low` to `high`, y from `bottom` to a round number above `top`."""
    return ChartFrame(ChartScale(low, high, 46, WIDTH - 10), linear(bottom, top, HEIGHT - 44, 24))


def pair_points(xs: Iterable[float], ys: Iterable[float]) -> list[Point]:
    """Return points as plain numbers, whatever arrays they come from."""
    return [(float(x), float(y)) for x, y in zip(xs, ys, strict=True)]


def distribution_steps(noise: Geometric, truth: int, places: range) -> list[Point]:
    """Return the staircase of the probabilities of a noisy count, a step around each whole number."""
    starts = [(x - 0.5, float(noise.pmf(x - truth))) for x in places]
    return steps(starts, places[-1] + 0.5)


def crowd(
    frame: ChartFrame, columns: int, filled: Sequence[int], honest: Sequence[bool]
) -> list[Html]:
    """Draw people as dots, row by row: filled for a yes, with a dashed edge where a person is not honest."""
    dots = []
    for person, (says_yes, is_honest) in enumerate(zip(filled, honest, strict=True)):
        kind = "dot" if says_yes else "ring"
        if not is_honest:
            kind += " lied"
        row, column = divmod(person, columns)
        dots.append(circle(frame, (column, row), kind, 6))
    return dots
