"""Lesson of the learning pages: a picture, its facts in numbers, and the sliders that change it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..frozen import frozen, replace
from ..service.pages.charts.chart import plain
from ..show.markup import Html


@frozen
class Slide:
    """A slider over a few round numbers; what travels is the place on the list, so only listed numbers are computed.

    `names` are said instead of the numbers, if there are any.
    """

    name: str
    words: str
    symbol: str
    values: tuple[float, ...]
    place: int
    names: tuple[str, ...] = ()

    @property
    def value(self) -> float:
        """The number the slider stands at."""
        return self.values[self.place]

    @property
    def spoken(self) -> str:
        """What a screen reader says, and what stands beside the slider."""
        return self._spoken(self.place)

    @property
    def all_spoken(self) -> str:
        """Every word the slider can say, a line each, for the script that moves it."""
        return "\n".join(map(self._spoken, range(len(self.values))))

    def _spoken(self, place: int) -> str:
        return self.names[place] if self.names else f"{self.symbol} = {plain(self.values[place])}"

    def at(self, asked: Mapping[str, str]) -> Slide:
        """Move the slider to the place that was asked for; anything else leaves it where it is.

        >>> from discreet.lessons.lesson import Slide
        >>> Slide("e", "budget", "ε", (0.1, 1.0), 0).at({"e": "1"}).value
        1.0
        >>> Slide("e", "budget", "ε", (0.1, 1.0), 0).at({"e": "-1; DROP"}).value
        0.1
        """
        return replace(self, place=read_slide(asked.get(self.name), self))


@frozen
class Fact:
    """One number worth a look, and what it is."""

    number: str
    words: str


@frozen
class Lesson:
    """What one corner of the page shows now; `table` is the picture in words for those who do not see it."""

    name: str
    slides: tuple[Slide, ...]
    picture: Html
    facts: tuple[Fact, ...]
    table: tuple[Sequence[str], ...] = ()


def read_slide(asked: str | None, slide: Slide) -> int:
    """Read a place on the list; what is none leaves the slider where it is."""
    if asked is None or not asked.isascii() or not asked.isdigit() or len(asked) > 3:
        return slide.place
    return min(int(asked), len(slide.values) - 1)
