"""Refusals of questions: the clause as the user wrote it, the reason, and an alternative.

Guarantee: a refusal depends on the question, declared facts and public tables, never on private
rows.

Law: tests/query/test_sql_refusals.py::test_is_refused_and_the_clause_is_named
"""

from __future__ import annotations

from ...errors import UnboundedSensitivity, UnsupportedQuery


def refusal(clause: str, why: str, instead: str) -> UnsupportedQuery:
    """Return the refusal of one clause.

    >>> from discreet.query.algebra.refusal import refusal
    >>> str(refusal("OFFSET", "it is not supported", "use LIMIT"))
    'OFFSET: it is not supported; use LIMIT'
    """
    return UnsupportedQuery(f"{clause}: {why}; {instead}")


def unbounded_refusal(clause: str, why: str, instead: str) -> UnboundedSensitivity:
    """Return the refusal of a clause by which one unit could change the answer without limit."""
    return UnboundedSensitivity(f"{clause}: {why}; {instead}")
