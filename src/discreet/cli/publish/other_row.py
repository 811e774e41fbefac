"""Row "other or unknown" of a published table: the rows without a listed value of a key."""

from __future__ import annotations

from collections.abc import Iterable

from ...data.columns.column import Boolean, Category
from ...data.schema import Schema
from ...errors import InvalidArgument
from ...frozen import replace
from ...query.algebra.expression import Constant, Expression, Field, Function, call_of
from ...query.algebra.tree import Key, Question
from ...query.bounds.missing_keys import absent_keys
from ...query.sql.parse import parse
from ...query.text.labels import column_behind
from ...query.text.question import describe


def with_other_row(sql: str, schemas: Iterable[Schema], name: str) -> str:
    """Return a question whose listed keys have one more value, `name`, for rows without a listed one.

    Listed are columns of type Category and Boolean. Values that are not text become text, by their
    labels where they have some. Other keys, such as ranges of numbers, stay as they are. Without a
    name nothing is changed.

    >>> import discreet as dp
    >>> from discreet.cli.publish.other_row import with_other_row
    >>> people = dp.Schema("people", dp.Rows(), {"sex": dp.Category(["f", "m"])})
    >>> print(with_other_row("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", [people], "other"))
    SELECT COALESCE(sex, 'other') AS sex, COUNT(*) AS n
    FROM people
    GROUP BY COALESCE(sex, 'other')

    Refuses: a name that is a listed value (InvalidArgument).
    """
    if not name:
        return sql
    question = parse(sql, {schema.name: schema for schema in schemas})
    absent = absent_keys(question, None)
    keys = []
    for key in question.keys:
        named = _with_other(key, question, name) if key.name in absent else key
        keys.append(named)
    if tuple(keys) == question.keys:
        return sql
    # Written and read again, so that all that uses these keys is checked against their new values.
    return describe(replace(question, keys=tuple(keys)))


def _with_other(key: Key, question: Question, name: str) -> Key:
    """Return a key of a listed column with `name` for all other rows; any other key as it is."""
    if not isinstance(key.expression, Field):
        return key
    column = column_behind(question.rows, key.expression.name)
    if key.values is None or not isinstance(column, Category | Boolean):
        return key
    labels: dict[object, str] = dict(column.labels or ())
    arms: list[Expression] = []
    is_text = True
    for value in key.values:
        text = labels.get(value, str(value))
        if text == name:
            raise InvalidArgument(
                f"other: {name!r} is a listed value of {key.name}; give the row another name"
            )
        is_text &= text == value
        arms += [call_of(Function.EQUAL, key.expression, Constant(value)), Constant(text)]
    if is_text:
        return replace(key, expression=call_of(Function.COALESCE, key.expression, Constant(name)))
    return replace(key, expression=call_of(Function.CASE, *arms, Constant(name)))
