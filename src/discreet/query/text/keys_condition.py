"""Condition on keys as SQL text: the WHERE by which rows without a listed key are left out.

A list of keys is no WHERE (docs/explanation/meaning.md, M3 and M6): rows without a listed key count
towards a person's cap and in totals. Whoever wants them left out there, too, adds this condition.
"""

from __future__ import annotations

from ..algebra.tree import Question
from ..bounds.missing_keys import keyed_question
from .question import from_text

MAX_LENGTH = 200
"""Characters of the condition that are shown; one may list thousands of keys."""


def keys_condition(question: Question) -> str:
    """Return the WHERE that keeps the rows with a listed value of every key; empty if all have one.

    >>> import discreet as dp
    >>> from discreet.query.text.keys_condition import keys_condition
    >>> people = {"people": dp.Schema("people", dp.Rows(), {"sex": dp.Category(["f", "m"])})}
    >>> keys_condition(dp.parse_sql("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", people))
    'WHERE sex IS NOT NULL'
    """
    keyed = keyed_question(question, None)
    if keyed is None:
        return ""
    _, _, where = from_text(keyed.rows).text.rpartition("\nWHERE ")
    if len(where) > MAX_LENGTH:
        where = f"{where[:MAX_LENGTH]} …"
    return f"WHERE {where}"
