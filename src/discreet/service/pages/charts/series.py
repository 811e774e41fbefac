"""Charts of an answer: one for each noisy column; with two keys, one for each value of the first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ....frozen import frozen
from ....show.markup import Html
from ..number_text import key_words
from .answer import Bar, answer_chart, drawn_words

MAX_CHARTS = 4


@frozen
class Most:
    """How much is drawn of one column: groups below each other, and pictures beside each other."""

    groups: int
    parts: int


FIRST, ALL = Most(40, 6), Most(400, 30)


@frozen
class Chart:
    """The chart of one column, or of one part of it, and what it leaves out; `cut` if more can be drawn."""

    name: str
    picture: Html
    note: str = ""
    cut: bool = False


@frozen
class _Table:
    """A reply, its keys apart: `apart` is the place of the key that has a picture for each value, `axis` the other."""

    columns: Sequence[Mapping[str, Any]]
    rows: Sequence[Sequence[Any]]
    intervals: Sequence[Sequence[Any]]
    level: float
    most: Most

    @property
    def keys(self) -> list[int]:
        return [place for place, one in enumerate(self.columns) if not one["noisy"]]

    def apart(self) -> int | None:
        """Return the key with the fewest values, of two; one with an order is rather the axis."""
        if len(self.keys) != 2:
            return None
        found = sorted(
            self.keys, key=lambda k: (self.columns[k].get("ordered", False), len(self.values(k)))
        )[0]
        return (
            found
            if len(self.values(found)) > 1 and len(self.rows) > len(self.values(found))
            else None
        )

    def values(self, key: int) -> list[Any]:
        return list(dict.fromkeys(row[key] for row in self.rows))

    def bars(
        self, column: int, keys: Sequence[int], where: tuple[int, Any] | None = None
    ) -> list[Bar]:
        """List the values of a column of numbers, those of one part if `where` says which."""
        ordered = len(keys) == 1 and bool(self.columns[keys[0]].get("ordered", False))
        found = []
        for row, ends in zip(self.rows, self.intervals, strict=True):
            box = (row[column], *(ends[column] or ()))
            if (
                len(box) == 3
                and all(map(_number, box))
                and (where is None or row[where[0]] == where[1])
            ):
                words = ", ".join(key_words(row[key]) for key in keys)
                numbers = (float(box[0]), float(box[1]), float(box[2]))
                found.append(
                    Bar.of(row[keys[0]] if keys else None, words, numbers, ordered=ordered)
                )
        return found


def charts_of(reply: Mapping[str, Any], level: float, *, every: bool = False) -> Iterator[Chart]:
    """Draw the noisy columns of numbers, the first four of them; of many groups the first, or `every` one."""
    table = _Table(
        reply["columns"], reply["rows"], reply["intervals"], level, ALL if every else FIRST
    )
    noisy = [
        place
        for place, one in enumerate(table.columns)
        if one["noisy"] and table.bars(place, table.keys)
    ]
    for count, place in enumerate(noisy[:MAX_CHARTS], 1):
        apart = table.apart()
        yield from _one(table, place) if apart is None else _parts(table, place, apart)
        if count == MAX_CHARTS < len(noisy):
            left = ", ".join(str(table.columns[one]["name"]) for one in noisy[MAX_CHARTS:])
            yield Chart("", Html(""), f"Not drawn, but in the table: {left}")


def _one(table: _Table, place: int) -> Iterator[Chart]:
    name, bars = str(table.columns[place]["name"]), table.bars(place, table.keys)
    axis = ", ".join(str(table.columns[key]["name"]) for key in table.keys)
    drawn = answer_chart(name, bars, table.level, axis, most=table.most.groups)
    yield Chart(f"{name} by {axis}" if axis else name, drawn, *_left(table, bars))


def _left(table: _Table, bars: Sequence[Bar]) -> tuple[str, bool]:
    """Say what a chart leaves out, and whether drawing all groups would show it."""
    words = drawn_words(bars, table.most.groups)
    return words, words.endswith("all of them") and table.most == FIRST


def _parts(table: _Table, place: int, apart: int) -> Iterator[Chart]:
    """Draw one picture for each value of a key, all to one scale."""
    name, every = str(table.columns[place]["name"]), table.bars(place, table.keys)
    [other] = [key for key in table.keys if key != apart]
    span = min(bar.low for bar in every), max(bar.high for bar in every)
    values, axis = table.values(apart), str(table.columns[other]["name"])
    most = table.most.parts
    for value in values[:most]:
        bars = table.bars(place, [other], (apart, value))
        if bars:
            title = f"{name} by {axis}, {table.columns[apart]['name']} = {key_words(value)}"
            drawn = answer_chart(name, bars, table.level, axis, span, most=table.most.groups)
            yield Chart(title, drawn, *_left(table, bars))
    if len(values) > most:
        said = f"{most} of {len(values):,} values of {table.columns[apart]['name']} are drawn"
        yield Chart("", Html(""), f"{said}; the table has all of them", table.most == FIRST)


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
