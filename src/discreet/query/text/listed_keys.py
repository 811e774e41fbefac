"""Keys whose values a question lists itself, as comments below its SQL.

Law: tests/query/test_show.py::TestEveryQuestion
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from ..algebra.expression import Constant, Field
from ..algebra.tree import JoinPublic, Question, Relation, inputs_of
from ..bounds.relation_facts import columns_of
from ..domains.domain import Day, Domain, Scalar, Second, Whole
from ..domains.type_of import ValueType
from ..meaning.post_processing import types_of
from .expression import expression_text

MAX_LISTED = 20
"""Values of a key that the text lists; more are counted."""


def shorter_lists(question: Question, names: Mapping[str, str]) -> Iterator[str]:
    """Yield a comment on each key whose values the question lists itself (`keys=` in Python).

    SQL cannot say such a list: a WHERE would change which rows of a person count.
    """
    # Chosen combinations are written as a join; values of public tables are not known here.
    if question.nested is not None or _reads_public_table(question.rows):
        return
    columns = columns_of(question.rows)
    for key in question.keys:
        # Only lists of plain columns are told: all values of a function take long to list.
        if key.values is None or not isinstance(key.expression, Field):
            continue
        values = key.values
        if len(values) >= _number_of_values(columns[key.expression.name]):
            continue
        type_ = types_of(question)[key.name]
        shown = [expression_text(typed_constant(value, type_), {}) for value in values[:MAX_LISTED]]
        if len(values) > MAX_LISTED:
            shown.append(f"and {len(values) - MAX_LISTED:,} more")
        yield f"-- cells only of {names[key.name]}: {', '.join(shown)}"


def _number_of_values(domain: Domain) -> float:
    """Return how many values a column may have; infinite where they are not declared."""
    if domain.keys is not None:
        return len(domain.keys)
    if isinstance(domain, Whole | Day | Second):
        return domain.high - domain.low + 1
    return math.inf


def _reads_public_table(rows: Relation) -> bool:
    if isinstance(rows, JoinPublic):
        return True
    return any(_reads_public_table(one) for one in inputs_of(rows))


def typed_constant(value: Scalar, type_: ValueType) -> Constant:
    """Return a key as a constant that says whether it is a day or second; NULL is neither."""
    if value is not None and type_ in ("day", "second"):
        return Constant(value, type_)
    return Constant(value)
