"""Condition on keys as SQL text: the WHERE that keeps rows with a listed value of every key.

A list of keys does not filter rows (docs/explanation/meaning.md, M3 and M6): rows without a listed
key still count towards a person's cap, and in totals over that key. Messages show this WHERE to
users who want such rows left out there too.
"""

from __future__ import annotations

from ..algebra.tree import Question
from ..bounds.missing_keys import keyed_question
from .question import from_text

MAX_LENGTH = 200
"""Characters of the condition that are shown; one may list thousands of keys."""


def keys_condition(question: Question) -> str:
    """Return the WHERE that keeps the rows with a listed value of every key.

    It is empty if no row can lack a key, if keys are selected privately, and if keys are chosen by
    a joined list. It is cut after 200 characters.

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
