"""Charts of an answer: one for each noisy column; with two keys, one for each value of one key.

That key has the fewer values; a key with an order is rather the axis of the charts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeGuard

from ....frozen import frozen
from ....show.markup import Html
from ..number_text import key_words
from .answer import Bar, answer_chart, drawn_words, value_span

MAX_CHARTS = 4


@frozen
class Most:
    """Limits of the charts of one column: groups below each other, and pictures beside each other."""

    groups: int
    parts: int


FIRST, ALL = Most(40, 6), Most(400, 30)


@frozen
class Chart:
    """Chart of one column, or of one part of it, with a note on groups left out; `cut` if more can be drawn."""

    name: str
    picture: Html
    note: str = ""
    cut: bool = False


@frozen
class _Table:
    """Table of a reply, with the confidence level and the limits of its charts."""

    columns: Sequence[Mapping[str, Any]]
    rows: Sequence[Sequence[Any]]
    intervals: Sequence[Sequence[Any]]
    level: float
    most: Most
    faint: frozenset[int] = frozenset()

    @property
    def keys(self) -> list[int]:
        return [place for place, one in enumerate(self.columns) if not one["noisy"]]

    def apart(self) -> int | None:
        """Return the key that has a picture for each value: of two, the one with the fewest values.

        A key with an order is rather the axis.
        """
        if len(self.keys) != 2:
            return None

        def preference(key: int) -> tuple[bool, int]:
            return self.columns[key].get("ordered", False), len(self.values(key))

        chosen = min(self.keys, key=preference)
        if 1 < len(self.values(chosen)) < len(self.rows):
            return chosen
        return None

    def values(self, key: int) -> list[Any]:
        return list(dict.fromkeys(row[key] for row in self.rows))

    def bars(
        self, column: int, keys: Sequence[int], where: tuple[int, Any] | None = None
    ) -> list[Bar]:
        """List the values of a column of numbers, those of one part if `where` says which."""
        ordered = len(keys) == 1 and bool(self.columns[keys[0]].get("ordered", False))
        bars = []
        for place, (row, intervals) in enumerate(zip(self.rows, self.intervals, strict=True)):
            if where is not None and row[where[0]] != where[1]:
                continue
            box = [row[column], *(intervals[column] or ())]
            # A value without an interval, or with an open one, cannot be drawn.
            if len(box) != 3 or not all(map(is_number, box)):
                continue
            value, low, high = map(float, box)
            first_key = row[keys[0]] if keys else None
            words = ", ".join(key_words(row[key]) for key in keys)
            numbers = (value, low, high)
            faint = place in self.faint
            bars.append(Bar.of(first_key, words, numbers, ordered=ordered, faint=faint))
        return bars


def charts_of(reply: Mapping[str, Any], level: float, *, every: bool = False) -> Iterator[Chart]:
    """Draw the first four noisy columns of numbers, within the limits FIRST, or ALL if `every`."""
    most = ALL if every else FIRST
    faint = frozenset(reply.get("faint", ()))
    table = _Table(reply["columns"], reply["rows"], reply["intervals"], level, most, faint)
    noisy = []
    for place, column in enumerate(table.columns):
        if column["noisy"] and table.bars(place, table.keys):
            noisy.append(place)
    apart = table.apart()
    for place in noisy[:MAX_CHARTS]:
        if apart is None:
            yield _one(table, place)
        else:
            yield from _parts(table, place, apart)
    if len(noisy) > MAX_CHARTS:
        left = ", ".join(str(table.columns[place]["name"]) for place in noisy[MAX_CHARTS:])
        yield Chart("", Html(""), f"Not drawn, but in the table: {left}")


def _one(table: _Table, place: int) -> Chart:
    """Draw one noisy column as one chart."""
    name = str(table.columns[place]["name"])
    bars = table.bars(place, table.keys)
    axis = ", ".join(str(table.columns[key]["name"]) for key in table.keys)
    drawn = answer_chart(name, bars, table.level, axis, most=table.most.groups)
    title = f"{name} by {axis}" if axis else name
    return Chart(title, drawn, *_left(table, bars))


def _left(table: _Table, bars: Sequence[Bar]) -> tuple[str, bool]:
    """Return the note on groups left out, and whether drawing all groups would show them."""
    words = drawn_words(bars, table.most.groups)
    return words, words.endswith("all of them") and table.most == FIRST


def _parts(table: _Table, place: int, apart: int) -> Iterator[Chart]:
    """Draw one picture for each value of a key, all to one scale."""
    name = str(table.columns[place]["name"])
    every = table.bars(place, table.keys)
    span = value_span(every)
    [other] = [key for key in table.keys if key != apart]
    axis = str(table.columns[other]["name"])
    apart_name = table.columns[apart]["name"]
    values = table.values(apart)
    most = table.most.parts
    for value in values[:most]:
        bars = table.bars(place, [other], (apart, value))
        if bars:
            title = f"{name} by {axis}, {apart_name} = {key_words(value)}"
            drawn = answer_chart(name, bars, table.level, axis, span, most=table.most.groups)
            yield Chart(title, drawn, *_left(table, bars))
    if len(values) > most:
        note = f"{most} of {len(values):,} values of {apart_name} are drawn"
        yield Chart("", Html(""), f"{note}; the table has all of them", table.most == FIRST)


def is_number(value: object) -> TypeGuard[int | float]:
    """Return whether a value of a reply is a number, which true and false are not."""
    return isinstance(value, int | float) and not isinstance(value, bool)
