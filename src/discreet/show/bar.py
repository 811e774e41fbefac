"""Bars of characters: a fraction of a total, and a value with its interval."""

from __future__ import annotations


def fraction_bar(share: float, width: int = 20) -> str:
    """Draw a fraction; any positive fraction shows, and only a complete one is full.

    >>> from discreet.show.bar import fraction_bar
    >>> fraction_bar(0.25), fraction_bar(1e-9), fraction_bar(0.999999)
    ('█████░░░░░░░░░░░░░░░ 25 %', '█░░░░░░░░░░░░░░░░░░░ 1 %', '███████████████████░ 99 %')

    Law: `tests/show/test_show.py::TestBars`
    """
    if share >= 1:
        full = width
        percent = 100
    else:
        # A positive fraction shows at least one unit, an incomplete one lacks at least one.
        least = 1 if share > 0 else 0
        full = min(width - 1, max(int(width * share), least))
        percent = min(99, max(round(100 * share), least))
    return f"{'█' * full}{'░' * (width - full)} {percent} %"


def error_bar(
    interval: tuple[float, float],
    value: float,
    span: tuple[float, float],
    width: int = 24,
    *,
    hollow: bool = False,
) -> str:
    """Draw an interval to scale in one line of `width` characters, with the value as a dot.

    `span` has the numbers at the left and the right end of the line; what lies beyond is drawn at
    that end. A `hollow` bar has a dotted line and an empty dot, for values without information.

    >>> from discreet.show.bar import error_bar
    >>> error_bar((2.0, 6.0), 4.0, (0.0, 8.0), width=9)
    '  ├─●─┤  '

    Law: `tests/show/test_show.py::TestBars`
    """
    low = _column(interval[0], span, width)
    dot = _column(value, span, width)
    high = _column(interval[1], span, width)
    drawn = [" "] * width
    drawn[low : high + 1] = ["·" if hollow else "─"] * (high - low + 1)
    drawn[low] = "├"
    drawn[high] = "┤"
    # Last, so that the dot stays visible at an end of the interval.
    drawn[dot] = "○" if hollow else "●"
    return "".join(drawn)


def _column(number: float, span: tuple[float, float], width: int) -> int:
    """Return the column of a number; numbers beyond the span are drawn at its ends."""
    start, end = span
    length = (end - start) or 1.0
    fraction = min(1.0, max(0.0, (number - start) / length))
    return round((width - 1) * fraction)
