"""Questions as SQL text for people, and as fingerprints for machines.

Guarantee: equal questions have equal fingerprints; fingerprints of 0.1.0 stay the same for ever,
since ledgers and stored answers keep them.

Law: tests/query/test_show.py::TestFingerprints
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from fractions import Fraction

from ...arithmetic.canonical import hash_json
from ...data.schema import Schema
from ..algebra.expression import Constant, Expression
from ..algebra.statistic import (
    CountDistinct,
    CountPeople,
    Quantile,
    Statistic,
    expressions_of,
    function_name,
)
from ..algebra.tree import Finish, Question
from ..domains.domain import Scalar
from ..domains.type_of import ValueType
from ..meaning.post_processing import types_of
from .expression import expression_text, quote
from .relation import ListedKeys, Naming, from_text, with_alias

FORMAT = 1
"""Version of the canonical text behind a fingerprint: ledgers keep them, so it never changes."""
_LATER = {"sets", "running", "outer", "offset", "nested"}
"""Fields that came after 0.1.0: empty ones are not written, so that old fingerprints stay."""


def describe(question: Question) -> str:
    """Write a question as SQL, which is read back as the same question where SQL can say it.

    >>> import discreet as dp
    >>> from discreet.query import describe
    >>> from discreet.data import Category, Rows
    >>> from discreet.query.sql.parse import parse
    >>> people = dp.Schema("people", Rows(), {"region": Category(["N", "S"])})
    >>> sql = "select region, count(*) n from people group by 1 order by 2 desc"
    >>> print(describe(parse(sql, {"people": people})))
    SELECT region, COUNT(*) AS n
    FROM people
    GROUP BY region
    ORDER BY n DESC
    """
    shown = from_text(question.rows, _chosen_keys(question))
    names: dict[str, str] = {}
    for key in question.keys:
        names[key.name] = expression_text(key.expression, shown.names)
    keys = list(names.values())
    for name, statistic in question.statistics:
        text = statistic_text(statistic, shown)
        if question.running:
            # Running totals have one key, along which they go.
            text = f"SUM({text}) OVER (ORDER BY {', '.join(keys)})"
        names[name] = text
    items = []
    for name, expression in question.finish.columns:
        items.append(with_alias(expression_text(expression, names), name))
    lines = [f"SELECT {', '.join(items)}", shown.text]
    if keys:
        lines.append(f"GROUP BY {_group(question, keys)}")
    return "\n".join(lines + _finish(question.finish, names))


def _chosen_keys(question: Question) -> ListedKeys | None:
    """Return the chosen combinations of keys, as constants of their types."""
    nest = question.nested
    # With grouping sets the hierarchy follows from the keys, and is not written.
    if nest is None or question.sets is not None:
        return None
    types = types_of(question)
    matched = []
    key_types = []
    for position in nest.places:
        key = question.keys[position]
        matched.append(key.expression)
        key_types.append(types[key.name])
    rows = [tuple(map(_typed_constant, values, key_types)) for values in nest.rows]
    return ListedKeys(tuple(matched), tuple(rows))


def _typed_constant(value: Scalar, type_: ValueType) -> Constant:
    """Return a key as a constant that says whether it is a day or second; NULL is neither."""
    if value is not None and type_ in ("day", "second"):
        return Constant(value, type_)
    return Constant(value)


def _group(question: Question, keys: list[str]) -> str:
    if question.sets is None:
        return ", ".join(keys)
    sets = []
    for positions in question.sets:
        listed = ", ".join(keys[position] for position in positions)
        sets.append(f"({listed})")
    return f"GROUPING SETS ({', '.join(sets)})"


def _finish(finish: Finish, names: Mapping[str, str]) -> list[str]:
    """Write HAVING, ORDER BY, LIMIT and OFFSET, each on its line."""
    lines = []
    if finish.having is not None:
        lines.append(f"HAVING {expression_text(finish.having, names)}")
    if finish.order:
        items = []
        for expression, descending in finish.order:
            text = _order_item(expression, finish, names)
            if descending:
                text += " DESC"
            items.append(text)
        lines.append(f"ORDER BY {', '.join(items)}")
    if finish.limit is not None:
        lines.append(f"LIMIT {finish.limit}")
    if finish.offset:
        lines.append(f"OFFSET {finish.offset}")
    return lines


def _order_item(expression: Expression, finish: Finish, names: Mapping[str, str]) -> str:
    """Write an item of ORDER BY by the name of its shown column, if there is one."""
    for name, shown in finish.columns:
        if shown == expression:
            return quote(name)
    return expression_text(expression, names)


def statistic_text(statistic: Statistic, shown: Naming) -> str:
    """Write a statistic as an aggregate of SQL."""
    if isinstance(statistic, CountPeople):
        return f"COUNT(DISTINCT {shown.person or 'person'})"
    name = function_name(statistic)
    arguments = [expression_text(e, shown.names) for e in expressions_of(statistic)]
    listed = ", ".join(arguments) or "*"
    # MIN, MEDIAN and MAX are quantiles with a function of their own.
    if isinstance(statistic, Quantile) and name == "QUANTILE":
        return f"QUANTILE({listed}, {expression_text(Constant(statistic.at), {})})"
    if isinstance(statistic, CountDistinct):
        return f"{name}(DISTINCT {listed})"
    return f"{name}({listed})"


def fingerprint(question: Question) -> str:
    """Return one name for equal questions: the SHA-256 of the tree in canonical JSON.

    Schemas and their versions are part of it.

    >>> import discreet as dp
    >>> from discreet.query import fingerprint
    >>> from discreet.data import Boolean, Rows
    >>> from discreet.query.sql.parse import parse
    >>> votes = {"votes": dp.Schema("votes", Rows(), {"yes": Boolean()})}
    >>> one = parse("SELECT COUNT(*) FROM votes", votes)
    >>> two = parse("select count( * ) from VOTES -- all", votes)
    >>> fingerprint(one) == fingerprint(two), len(fingerprint(one))
    (True, 64)
    """
    return hash_json({"format": FORMAT, "question": _plain(question)})


def _plain(value: object) -> object:
    """Turn a tree into plain values for JSON, each node under the name of its class."""
    match value:
        case None | bool() | str() | int():
            return value
        case Fraction():
            # Equal numbers must look alike: a whole fraction is written as an integer.
            return int(value) if value.denominator == 1 else {"fraction": str(value)}
        case tuple():
            return [_plain(part) for part in value]
        case Schema():
            return {"Schema": value.to_dict()}
        case _ if is_dataclass(value) and not isinstance(value, type):
            return {type(value).__name__: _plain_fields(value)}
    raise TypeError(f"a {type(value).__name__} is no part of a question")


def _plain_fields(node: object) -> dict[str, object]:
    plain = {}
    # The order of fields does not matter: canonical JSON sorts them by name.
    for field in fields(node):  # type: ignore[arg-type]
        part = getattr(node, field.name)
        if part or field.name not in _LATER:
            plain[field.name] = _plain(part)
    return plain
