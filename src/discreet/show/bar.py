"""Bars in characters: a share of a whole, and a value with its interval."""

from __future__ import annotations


def share_bar(share: float, width: int = 20) -> str:
    """Draw a share; anything spent shows, and only a full bar is full.

    >>> from discreet.show.bar import share_bar
    >>> share_bar(0.25), share_bar(1e-9), share_bar(0.999999)
    ('█████░░░░░░░░░░░░░░░ 25 %', '█░░░░░░░░░░░░░░░░░░░ 1 %', '███████████████████░ 99 %')
    """
    full = width if share >= 1 else min(width - 1, max(int(width * share), 1 if share > 0 else 0))
    percent = 100 if share >= 1 else min(99, max(round(100 * share), 1 if share > 0 else 0))
    return f"{'█' * full}{'░' * (width - full)} {percent} %"


def error_bar(
    interval: tuple[float, float],
    value: float,
    span: tuple[float, float],
    width: int = 24,
    *,
    hollow: bool = False,
) -> str:
    """Draw an interval to scale, the value as a dot; `hollow`: it says nothing.

    >>> from discreet.show.bar import error_bar
    >>> error_bar((2.0, 6.0), 4.0, (0.0, 8.0), width=9)
    '  ├─●─┤  '
    """
    length = (span[1] - span[0]) or 1.0
    shares = (min(1.0, max(0.0, (x - span[0]) / length)) for x in (interval[0], value, interval[1]))
    low, dot, high = (round((width - 1) * share) for share in shares)
    drawn = [" "] * width
    drawn[low : high + 1] = ["·" if hollow else "─"] * (high - low + 1)
    drawn[low], drawn[high] = "├", "┤"
    drawn[dot] = "○" if hollow else "●"
    return "".join(drawn)
