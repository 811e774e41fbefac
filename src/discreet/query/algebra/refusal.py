"""How a question is refused: the clause that is meant, why not, and what would work. Never a word about data."""

from __future__ import annotations

from ...errors import UnboundedSensitivity, UnsupportedQuery


def refusal(clause: str, why: str, instead: str) -> UnsupportedQuery:
    """Word a refusal of one clause.

    >>> from discreet.query.algebra.refusal import refusal
    >>> str(refusal("OFFSET", "it is not supported", "use LIMIT"))
    'OFFSET: it is not supported; use LIMIT'
    """
    return UnsupportedQuery(f"{clause}: {why}; {instead}")


def unbounded(clause: str, why: str, instead: str) -> UnboundedSensitivity:
    """Word a refusal of a clause through which one unit could change the answer without limit."""
    return UnboundedSensitivity(f"{clause}: {why}; {instead}")
