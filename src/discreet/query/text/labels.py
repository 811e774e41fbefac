"""Labels in an answer: what people read instead of the values and names of its columns.

Nothing else depends on labels: a question, its price and its stored answer are the same without.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...data.columns.column import Boolean, Category, Column
from ..algebra.expression import Expression, Field, fields_of
from ..algebra.tree import JoinPeople, JoinPublic, Question, Relation, Scan, Select, Where


def column_behind(rows: Relation, name: str) -> Column | None:
    """Return the declared column that a column of a relation is, unchanged; else None.

    It is None for a computed column, and for all columns of a union or of rows grouped by person.

    >>> import discreet as dp
    >>> from discreet.query.text.labels import column_behind
    >>> people = dp.Schema("people", dp.Rows(), {"age": dp.Integer(0, 120)})
    >>> column_behind(dp.Table(people).select("age", old=dp.col("age") > 64).rows, "age")
    Integer(0, 120)
    """
    match rows:
        case Scan(schema=schema):
            return schema.columns.get(name)
        case Where(rows=inner):
            return column_behind(inner, name)
        case Select(rows=inner, columns=columns):
            made = dict(columns).get(name)
            return column_behind(inner, made.name) if isinstance(made, Field) else None
        case JoinPublic(rows=inner, table=table, columns=columns):
            public = dict(columns).get(name)
            return column_behind(inner, name) if public is None else table.columns[public]
        case JoinPeople(left=left, right=right):
            return column_behind(left, name) or column_behind(right, name)
        case _:
            return None


def _declared_keys(question: Question) -> Iterator[tuple[str, Expression, Column]]:
    """Yield each shown key that reads one declared column, with its expression and that column."""
    keys = {key.name: key.expression for key in question.keys}
    for name, made in question.finish.columns:
        expression = keys.get(made.name) if isinstance(made, Field) else None
        read = () if expression is None else tuple(fields_of(expression))
        column = column_behind(question.rows, read[0]) if len(read) == 1 else None
        if expression is not None and column is not None:
            yield name, expression, column


def value_labels(question: Question) -> dict[str, Mapping[object, str]]:
    """Return the labels of values, by the shown columns that have some.

    >>> import discreet as dp
    >>> from discreet.query.text.labels import value_labels
    >>> sex = dp.Category([0, 1], labels={0: "woman", 1: "man"}, label="Sex")
    >>> people = dp.Table(dp.Schema("people", dp.Rows(), {"sex": sex}))
    >>> value_labels(people.count(by="sex"))
    {'sex': {0: 'woman', 1: 'man'}}
    """
    found: dict[str, Mapping[object, str]] = {}
    for name, expression, column in _declared_keys(question):
        if isinstance(expression, Field) and isinstance(column, Category | Boolean):
            if column.labels:
                found[name] = dict(column.labels)
    return found


def declared_heads(question: Question) -> dict[str, str]:
    """Return the heads of the keys whose column has a label, by shown column."""
    heads = {}
    for name, head in column_labels(question).items():
        # Bins of a column without a label are called by its name.
        if head.removesuffix(", from") != name:
            heads[name] = head
    return heads


def labels_text(question: Question) -> str:
    """Say in one line what the labels of a question's keys are; "" if there are none.

    >>> import discreet as dp
    >>> from discreet.query.text.labels import labels_text
    >>> sex = dp.Category([0, 1], labels={0: "woman", 1: "man"}, label="Sex")
    >>> labels_text(dp.Table(dp.Schema("people", dp.Rows(), {"sex": sex})).count(by="sex"))
    'sex: Sex; 0 = woman, 1 = man'
    """
    heads, values = declared_heads(question), value_labels(question)
    lines = []
    # In the order of the answer's columns.
    for name, _ in question.finish.columns:
        told = []
        if name in heads:
            told.append(heads[name])
        if name in values:
            pairs = values[name].items()
            told.append(", ".join(f"{value} = {label}" for value, label in pairs))
        if told:
            lines.append(f"{name}: {'; '.join(told)}")
    return "\n".join(lines)


def column_labels(question: Question) -> dict[str, str]:
    """Return the heads of keys: the label of their column; bins are named by where they begin.

    >>> import discreet as dp
    >>> from discreet.query.text.labels import column_labels
    >>> people = dp.Table(dp.Schema("people", dp.Rows(), {"age": dp.Integer(0, 120, label="Age")}))
    >>> column_labels(people.count(by="age")), column_labels(people.histogram("age", width=10))
    ({'age': 'Age'}, {'age': 'Age, from'})
    """
    heads = {}
    for name, expression, column in _declared_keys(question):
        if isinstance(expression, Field) and column.label:
            heads[name] = column.label
        elif not isinstance(expression, Field) and name in fields_of(expression):
            heads[name] = f"{column.label or name}, from"
    return heads
