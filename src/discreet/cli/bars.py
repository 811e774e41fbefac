"""Bars with error bars, drawn in characters."""

from __future__ import annotations

from rich.text import Text

__all__ = ["bar"]


def bar(value: float, error: float, most: float, width: int = 48) -> Text:
    """Draw a value as a bar from 0 to `most`, with the interval value ± error on top.

    >>> from discreet.cli.bars import bar
    >>> bar(5, 1, 10, width=20).plain
    '████████├─┼┤        '
    >>> bar(-1, 2, 10, width=20).plain
    '┼─┤                 '
    """
    last = width - 1

    def column(x: float) -> int:
        return min(max(round(x / most * last), 0), last)

    low, middle, high = column(value - error), column(value), column(value + error)
    whisker = ["─"] * (high + 1 - low)
    whisker[0], whisker[-1], whisker[middle - low] = "├", "┤", "┼"
    return Text.assemble(("█" * low, "cyan"), ("".join(whisker), "yellow"), " " * (last - high))
