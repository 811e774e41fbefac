"""LIKE as a regular expression without backtracking: linear in the text, whatever it holds.

A pattern is pieces between its %. The first is at the start of the text, the last at its end, the
others between them in their order. Taking each of those where it first fits is exact, since that
leaves the most text for the others. So each is an atomic group, which is never tried again: a row
costs at most its length times that of the pattern. Written the usual way, one row could block
every question: 60 times the letter a against '%a%a%a%a%a%a%a%a%c' (a ReDoS attack).

Law: tests/query/test_like.py::TestTakingEachPieceWhereItFirstFits
"""

from __future__ import annotations

import re
from collections.abc import Callable

# Engines of regular expressions recurse for each wildcard, so their number is bounded.
MAX_WILDCARDS = 500
"""Patterns with more %, or more runs of _, are refused."""
_RUN = re.compile("_+|[^_]")


def wildcards(pattern: str) -> int:
    """Count the % and the runs of _ in a pattern.

    >>> from discreet.query.meaning.like import wildcards
    >>> wildcards("a%b__c%"), wildcards("abc")
    (3, 0)
    """
    return pattern.count("%") + len(re.findall("_+", pattern))


def like_regex(pattern: str, letter: Callable[[str], str]) -> str:
    """Write a pattern of % and _ as a regular expression of the whole text.

    `letter` writes one letter. Only constructs with one meaning in Python and Java are used; a
    dot must match line breaks too.

    >>> from discreet.query.meaning.like import like_regex
    >>> import re
    >>> like_regex("a%b_%__", re.escape)
    'a(?>.*?b.{1}).*.{2}'
    """
    first, *between = pattern.split("%")
    regex = _piece_regex(first, letter)
    if not between:
        return regex
    last = between.pop()
    for piece in between:
        # Two % in a row have nothing between them, and are one.
        if piece:
            regex += f"(?>.*?{_piece_regex(piece, letter)})"
    return regex + ".*" + _piece_regex(last, letter)


def _piece_regex(piece: str, letter: Callable[[str], str]) -> str:
    regex = ""
    for run in _RUN.findall(piece):
        if run[0] == "_":
            regex += f".{{{len(run)}}}"
        else:
            regex += letter(run)
    return regex
