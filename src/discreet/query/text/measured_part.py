"""Measured part of a question: its exact totals, without names, order and post-processing.

These totals are what noise is added to. Two questions have the same measured part if they differ
only in

    names            aliases of keys and statistics, and their order
    post-processing  computed columns, HAVING, ORDER BY, LIMIT, OFFSET
    conditions       the order of AND; `30 < age` for `31 <= age` where age is a whole number; the
                     order of values in IN

The fingerprint of the measured part is in the key of every stored answer (`curator.answer_key`).
So one stored answer serves all these questions: their names, order and post-processing are applied
to the stored table (`answer.measured_table`).

Guarantee: questions whose measured parts have equal fingerprints have equal exact totals. The
converse does not hold: two spellings of one question may have different fingerprints.

Law: tests/query/test_measured_part.py::test_equal_prints_have_equal_totals
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction

from ...arithmetic.canonical import canonical_json, hash_json
from ...frozen import field, frozen, replace
from ..algebra.chain import balance, leaves
from ..algebra.expression import Call, Constant, Expression, Field, Function
from ..algebra.statistic import Statistic, statistic_name
from ..algebra.tree import (
    Finish,
    Key,
    Question,
    Relation,
    Where,
    names_of,
    unused_name,
    with_inputs,
)
from ..bounds.nested import pick
from ..bounds.relation_facts import columns_of
from ..domains.domain import Domain, Scalar, Whole
from ..domains.domain_of import domain_of
from ..domains.rounded_edges import rounded_test
from .question import describe, fingerprint, plain_tree


@frozen
class MeasuredPart:
    """Measured part of a question, and how the asked keys and statistics are named in it.

    `question` is the measured part: keys k0, k1, … and statistics s0, s1, … in canonical order, no
    shown columns. `places` has for each asked key, in its order, its position in `question`.
    `asked` are the names of the asked statistics in their order. `names` maps these to the names
    in `question`, in the order of `question`.
    """

    question: Question
    places: tuple[int, ...]
    asked: tuple[str, ...]
    names: Mapping[str, str] = field(hash=False)

    def described(self) -> str:
        """Write the measured part as SQL, with names that follow from its keys and statistics."""
        question = self.question
        names = [key.name for key in question.keys] + names_of(question.statistics)
        columns: list[tuple[str, Expression]] = []
        for title, name in zip(self.titles(), names, strict=True):
            columns.append((title, Field(name)))
        return describe(replace(question, finish=Finish(tuple(columns))))

    def titles(self) -> list[str]:
        """Return a readable, unique name for every key and statistic, in canonical order.

        A key that is a column has the name of the column.
        """
        titles: list[str] = []
        for key in self.question.keys:
            title = key.name
            # A column keeps its name, which every spelling of the question has.
            if isinstance(key.expression, Field):
                title = unused_name(key.expression.name, "key", titles)
            titles.append(title)
        for _, statistic in self.question.statistics:
            titles.append(unused_name(statistic_name(statistic), "statistic", titles))
        return titles


def measured_part(question: Question) -> MeasuredPart:
    """Return the measured part of a question: the same for all questions of the same totals."""
    texts = [_text(key.expression) for key in question.keys]
    order = sorted(range(len(texts)), key=texts.__getitem__)
    new_place = [0] * len(order)
    keys = []
    for number, place in enumerate(order):
        new_place[place] = number
        keys.append(_canonical_key(question.keys[place], f"k{number}"))
    statistics: list[tuple[str, Statistic]] = []
    names = {}
    for name, statistic in sorted(question.statistics, key=_text_of_statistic):
        names[name] = f"s{len(statistics)}"
        statistics.append((names[name], statistic))
    sets = question.sets
    if sets is not None:
        placed = []
        for one_set in sets:
            placed.append(tuple(sorted(pick(new_place, one_set))))
        sets = tuple(sorted(placed))
    nest = question.nested
    if nest is not None:
        nest = replace(nest, places=pick(new_place, nest.places))
    measured = replace(
        question,
        rows=_canonical_rows(question.rows),
        keys=tuple(keys),
        statistics=tuple(statistics),
        finish=Finish(()),
        sets=sets,
        nested=nest,
    )
    asked = tuple(names_of(question.statistics))
    return MeasuredPart(measured, tuple(new_place), asked, names)


def measured_print(question: Question) -> str:
    """Return the fingerprint of a question's measured part.

    >>> import discreet as dp
    >>> from discreet.query.text.measured_part import measured_print
    >>> columns = {"age": dp.Integer(0, 120), "sex": dp.Category(["f", "m"])}
    >>> people = {"people": dp.Schema("people", dp.Rows(), columns)}
    >>> one = "SELECT sex, COUNT(*) AS n FROM people WHERE age > 30 AND sex = 'f' GROUP BY sex"
    >>> two = "SELECT COUNT(*) + 1 AS m FROM people WHERE sex = 'f' AND age >= 31 GROUP BY sex"
    >>> measured_print(dp.parse_sql(one, people)) == measured_print(dp.parse_sql(two, people))
    True
    """
    return fingerprint(measured_part(question).question)


def _text_of_statistic(named: tuple[str, Statistic]) -> str:
    return _text(named[1])


def prints_name(prints: Iterable[str]) -> str:
    """Return a hash of several fingerprints in any order; a single fingerprint as it is."""
    ordered = sorted(prints)
    if len(ordered) == 1:
        return ordered[0]
    return hash_json(ordered)


def _text(part: object) -> str:
    """Write a part of a question as text by which parts are put in order."""
    return canonical_json(plain_tree(part))


def _canonical_key(key: Key, name: str) -> Key:
    values = key.values
    if values is not None:
        values = tuple(sorted(values, key=_typed))
    return Key(name, key.expression, values)


def _typed(value: Scalar) -> tuple[str, Scalar]:
    """Return a rank of values of several types; a key may have thousands, so no text is written."""
    return type(value).__name__, value


def _canonical_rows(relation: Relation) -> Relation:
    """Return a relation with every condition in its canonical form."""
    if isinstance(relation, Where):
        return _canonical_where(relation)
    return with_inputs(relation, _canonical_rows)


def _canonical_where(where: Where) -> Where:
    """Return conditions that stand on each other as one, its parts in order, each once."""
    rows: Relation = where
    parts: dict[str, Expression] = {}
    while isinstance(rows, Where):
        columns = columns_of(rows.rows)
        for leaf in leaves(Function.AND, rows.condition):
            canonical = _canonical_condition(leaf, columns)
            parts[_text(canonical)] = canonical
        rows = rows.rows
    ordered = [parts[text] for text in sorted(parts)]
    return Where(_canonical_rows(rows), balance(Function.AND, ordered))


def _canonical_condition(condition: Expression, columns: dict[str, Domain]) -> Expression:
    """Return a condition that is true in the same rows.

    Where it is not true it may be false or NULL: WHERE drops the row in both cases.
    """
    match condition:
        case Call(function=Function.NOT, arguments=(Call(function=turned, arguments=(x, y)),)) if (
            turned in _COMPLEMENT
        ):
            # NULL stays NULL under NOT, so the row is dropped by both.
            return _canonical_condition(Call(_COMPLEMENT[turned], (y, x)), columns)
        case Call() if rounded_test(condition, columns) is not None:
            # A decimal is compared in the steps that it is rounded to: no other bound is the same.
            return condition
        case Call(function=Function.LESS | Function.AT_MOST, arguments=(Constant() as end, x)):
            return _lower_bound(condition, x, end, columns)
        case Call(function=Function.LESS | Function.AT_MOST, arguments=(x, Constant() as end)):
            return _upper_bound(condition, x, end, columns)
        case Call(function=Function.AMONG, arguments=(x, *listed)) if listed:
            distinct = {_text(value): value for value in listed}
            ordered = [distinct[text] for text in sorted(distinct)]
            if len(ordered) == 1:
                return Call(Function.EQUAL, tuple(sorted((x, ordered[0]), key=_text)))
            return Call(Function.AMONG, (x, *ordered))
        case Call(function=Function.EQUAL, arguments=arguments):
            return Call(Function.EQUAL, tuple(sorted(arguments, key=_text)))
    return condition


_COMPLEMENT = {Function.LESS: Function.AT_MOST, Function.AT_MOST: Function.LESS}
"""Comparisons of x and y with the comparison of y and x that is true where they are false."""


def _lower_bound(
    condition: Call, x: Expression, end: Constant, columns: dict[str, Domain]
) -> Expression:
    """Return `end < x` as `next ≤ x`, with the next number that x can be."""
    steps = _steps(x, end, columns)
    if steps is None:
        return condition
    step, exact = steps
    first = math.ceil(exact)
    # Strictly above a number that x can be means at least one step above it.
    if condition.function is Function.LESS and first == exact:
        first += 1
    return Call(Function.AT_MOST, (Constant(_number(first * step)), x))


def _upper_bound(
    condition: Call, x: Expression, end: Constant, columns: dict[str, Domain]
) -> Expression:
    """Return `x < end` as `x ≤ last`, with the last number that x can be."""
    steps = _steps(x, end, columns)
    if steps is None:
        return condition
    step, exact = steps
    last = math.floor(exact)
    if condition.function is Function.LESS and last == exact:
        last -= 1
    return Call(Function.AT_MOST, (x, Constant(_number(last * step))))


def _steps(
    x: Expression, end: Constant, columns: dict[str, Domain]
) -> tuple[Fraction, Fraction] | None:
    """Return the step of a number, and a constant in steps; None where x is no such number."""
    value = end.value
    # type() and not isinstance: True is no number. Days and seconds are compared as they are.
    if type(value) not in (int, Fraction) or end.time is not None:
        return None
    domain = domain_of(x, columns)
    if not isinstance(domain, Whole):
        return None
    return domain.step, Fraction(value) / domain.step  # type: ignore[arg-type]


def _number(value: Fraction) -> int | Fraction:
    return int(value) if value.denominator == 1 else value
