"""LIKE as a regular expression that never goes back: its time grows with the text, whatever the text holds.

A pattern is pieces between its %: the first stands at the start of the text, the last at its end, the others between
them in their order. Taking each of those where it first fits is exact, since that leaves the most room for the rest. So
each is an atomic group, which is never tried again: a row costs at most its length times that of the pattern. Written
the usual way, one row could hold up every question: 60 times the letter a against '%a%a%a%a%a%a%a%a%c'.
"""

from __future__ import annotations

import re
from collections.abc import Callable

MOST_WILDCARDS = 500
"""Patterns with more %, or more runs of _, are refused: what matches regular expressions calls itself for each."""
_RUN = re.compile("_+|[^_]")


def wildcards(pattern: str) -> int:
    """Count the % and the runs of _ in a pattern.

    >>> from discreet.query.meaning.like import wildcards
    >>> wildcards("a%b__c%"), wildcards("abc")
    (3, 0)
    """
    return pattern.count("%") + len(re.findall("_+", pattern))


def like_regex(pattern: str, letter: Callable[[str], str]) -> str:
    """Write a pattern of % and _ as a regular expression of the whole text; `letter` writes one letter.

    Only what Python and Java mean alike is used; a dot must match line breaks too.

    >>> from discreet.query.meaning.like import like_regex
    >>> import re
    >>> like_regex("a%b_%__", re.escape)
    'a(?>.*?b.{1}).*.{2}'
    """
    first, *rest = (
        "".join(_piece(run, letter) for run in _RUN.findall(piece)) for piece in pattern.split("%")
    )
    if not rest:
        return first
    return first + "".join(f"(?>.*?{piece})" for piece in rest[:-1] if piece) + ".*" + rest[-1]


def _piece(run: str, letter: Callable[[str], str]) -> str:
    return f".{{{len(run)}}}" if run[0] == "_" else letter(run)
