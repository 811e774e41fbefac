"""Nested keys (hierarchies): bins of several widths; codes of tracts, counties and states.

If several keys are computed from one column, their possible combinations are public: those that
some public value of the column gives. If each value of a narrower key lies in exactly one value of
every wider key, the keys are nested (`Nest`). Then only these combinations are counted, instead of
the product of all values. A hierarchy may also be listed in the question; then this module checks
it.

Law: tests/query/test_sets.py::TestTrees
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import TypeVar

from ..algebra.expression import Call, Constant, Expression, Field, Function, fields_of
from ..algebra.refusal import refusal
from ..algebra.tree import Nest, Question, Relation
from ..domains.domain import Domain, Scalar, Values, simplest
from ..meaning.evaluate import meaning_of
from .keys import PublicValues, public_keys
from .relation_facts import always_present, columns_of

MAX_LEAVES = 200_000
"""Most combinations of nested keys: every census tract of a large country fits."""
_T = TypeVar("_T")


@dataclass(slots=True)
class ColumnValues:
    """Public values of columns, and of the keys that read one column alone.

    A column may have 200,000 values, so they are listed and evaluated once for all callers. The
    object does not outlive one call.
    """

    rows: Relation
    most: int
    public_values: PublicValues | None
    _listed: dict[str, Values | None] = field(default_factory=dict)
    _evaluated: dict[Expression, Values] = field(default_factory=dict)

    def listed(self, name: str) -> Values | None:
        """List the values of a column; None if they are not public, or too many."""
        if name not in self._listed:
            values = public_keys(Field(name), self.rows, self.most, self.public_values)
            self._listed[name] = values
        return self._listed[name]

    def of(self, expression: Expression, name: str) -> Values:
        """Evaluate an expression for every listed value of its one column, in order."""
        if expression not in self._evaluated:
            columns = columns_of(self.rows)
            values = _values_of(expression, name, self.listed(name) or (), columns)
            self._evaluated[expression] = tuple(values)
        return self._evaluated[expression]

    def at_null(self, expression: Expression, name: str) -> Scalar:
        """Evaluate an expression where its one column is NULL."""
        return meaning_of(expression, columns_of(self.rows))({name: None})


def with_nest(question: Question, known: ColumnValues) -> Question:
    """Return a question for several sets of keys with the hierarchy of its keys, if it has one.

    Keys of a column whose values were too many to be listed get their values here. Questions
    without sets, or with a hierarchy, are returned as they are.

    Refuses: with `UnsupportedQuery` bins of one column that overlap: no set of them is a sum of
    another's.
    """
    if question.sets is None or question.nested is not None:
        return question
    positions_of_column: dict[str, list[int]] = {}
    for position, key in enumerate(question.keys):
        names = fields_of(key.expression)
        if len(names) == 1:
            [name] = names
            positions_of_column.setdefault(name, []).append(position)
    for name, positions in positions_of_column.items():
        # A single key whose values are listed already needs no more.
        if len(positions) == 1 and question.keys[positions[0]].values is not None:
            continue
        if known.listed(name) is not None:
            question = _nest(question, name, positions, known)
            # A question has one hierarchy; further columns are keys beside it.
            if question.nested is not None:
                return question
    return question


def _nest(question: Question, name: str, positions: Sequence[int], known: ColumnValues) -> Question:
    """Return the question with its keys of one column filled in, and nested where they are."""
    lists: list[Values] = []
    nulls: list[Scalar] = []
    for position in positions:
        expression = question.keys[position].expression
        lists.append(known.of(expression, name))
        nulls.append(known.at_null(expression, name))
    # A key that is NULL for some value beside one that is not (CASE without ELSE, NULLIF): a row may
    # be in a cell of one and in none of the other, so they form no hierarchy.
    partly_null = _partly_null(lists)
    if not always_present(Field(name), question.rows):
        # A row where the column is NULL is one more possible combination. COALESCE beside the
        # column itself: such a row may be in a cell of one and in none of the other.
        partly_null = partly_null or _partly_null([[null] for null in nulls])
        lists = [(*values, null) for values, null in zip(lists, nulls, strict=True)]
    question = _fill(question, positions, lists)
    if partly_null:
        return question
    rows = _listed_rows(question, positions, lists)
    if len(positions) < 2 or not rows:
        return question
    return _nest_rows(question, positions, rows)


def _partly_null(lists: Sequence[Sequence[Scalar]]) -> bool:
    """Return whether some value of the column makes one key NULL and another not."""
    for row in zip(*lists, strict=True):
        if len({value is None for value in row}) > 1:
            return True
    return False


def _fill(
    question: Question, positions: Sequence[int], lists: Sequence[Sequence[Scalar]]
) -> Question:
    """Fill the keys with the values of the column, where they were too many to list before."""
    keys = list(question.keys)
    for position, own_values in zip(positions, lists, strict=True):
        if keys[position].values is None:
            distinct = dict.fromkeys(own_values)
            distinct.pop(None, None)
            keys[position] = replace(keys[position], values=tuple(distinct))
    return replace(question, keys=tuple(keys))


def _listed_rows(
    question: Question, positions: Sequence[int], lists: Sequence[Sequence[Scalar]]
) -> list[Values]:
    """Return the combinations whose values are all listed by their keys, each once."""
    listed = [set(question.keys[position].values or ()) for position in positions]
    rows = []
    for row in dict.fromkeys(zip(*lists, strict=True)):
        if all(value in values for value, values in zip(row, listed, strict=True)):
            rows.append(row)
    return rows


def _nest_rows(question: Question, positions: Sequence[int], rows: Sequence[Values]) -> Question:
    """Return the question with a hierarchy, the key of fewest values first."""

    def distinct_values(column: int) -> int:
        return len({row[column] for row in rows})

    order = sorted(range(len(positions)), key=distinct_values)
    sorted_rows = [pick(row, order) for row in rows]
    for depth in range(1, len(order)):
        own_values = {row[depth] for row in sorted_rows}
        prefixes = {row[: depth + 1] for row in sorted_rows}
        # More prefixes than values: some value lies in two of the wider keys.
        if len(own_values) < len(prefixes):
            # A set of both asks for the cells where they meet, which are counted as a product.
            if any(len(set(one) & set(positions)) > 1 for one in question.sets or ()):
                return question
            raise _overlap(question, positions[order[depth - 1]], positions[order[depth]])
    return replace(question, nested=Nest(pick(positions, order), in_order(sorted_rows)))


def _values_of(
    expression: Expression, name: str, values: Values, columns: dict[str, Domain]
) -> list[Scalar]:
    """Evaluate an expression for every value of its one column."""
    match expression:
        case Field():
            return list(values)
        # Bins of whole numbers are divided at once, which is much faster than to evaluate.
        case Call(
            function=Function.FLOOR,
            arguments=(
                Call(function=Function.DIVIDE, arguments=(Field(), Constant(value=int(width)))),
            ),
        ) if width > 0 and all(type(value) is int for value in values):
            return [value // width for value in values]  # type: ignore[operator]
    meaning = meaning_of(expression, columns)
    evaluated: list[Scalar] = []
    for value in values:
        evaluated.append(simplest(meaning({name: value})))
    return evaluated


def _overlap(question: Question, wide: int, narrow: int) -> Exception:
    """Return the refusal of overlapping bins, with a width that would nest them."""
    wider = question.keys[wide]
    narrower = question.keys[narrow]
    wide_width = _width(wider.expression)
    narrow_width = _width(narrower.expression)
    alternative = "use bins of which each lies within one of the next wider"
    if wide_width and narrow_width:
        nearest = max(1, round(wide_width / narrow_width)) * narrow_width
        alternative = (
            f"use a width of {nearest} instead of {wide_width}, which has its edges on those of "
            f"{narrow_width}"
        )
    why = f"bins of {wider.name} and {narrower.name} overlap"
    return refusal("GROUPING SETS", why, alternative)


def _width(expression: Expression) -> int | None:
    """Return the whole width of bins FLOOR(x / width), whatever is multiplied or added."""
    if not isinstance(expression, Call):
        return None
    last = expression.arguments[-1]
    # type() and not isinstance: True is no width.
    if (
        expression.function is Function.DIVIDE
        and isinstance(last, Constant)
        and type(last.value) is int
    ):
        return last.value
    for argument in expression.arguments:
        width = _width(argument)
        if width:
            return width
    return None


def in_order(rows: Iterable[Values]) -> tuple[Values, ...]:
    """Sort combinations so that those of one wider value are together.

    Each widest value comes where it first occurs, and so do the narrower ones within it.
    """
    listed = list(rows)
    depths = range(len(listed[0])) if listed else range(0)
    ranks: list[dict[Values, int]] = [{} for _ in depths]
    for row in listed:
        for depth, known in enumerate(ranks):
            known.setdefault(row[: depth + 1], len(known))

    def rank(row: Values) -> list[int]:
        return [known[row[: depth + 1]] for depth, known in enumerate(ranks)]

    return tuple(sorted(listed, key=rank))


def check_nest(question: Question, nest: Nest) -> None:
    """Refuse a hierarchy that does not fit the keys, and sets that cannot tell its nodes apart.

    Each combination must be listed once, consist of values of the keys, and stand beside those of
    the same wider value. One that was listed twice would be counted twice, and a unit in it too.
    """
    clause = "keys" if question.sets is None else "hierarchy"
    if not _is_list_of_keys(question, nest) or len(set(nest.rows)) < len(nest.rows):
        raise refusal(
            clause, "its places are combinations of two keys or more, each once", "list each once"
        )
    for column, position in enumerate(nest.places):
        listed = set(question.keys[position].values or ())
        if any(row[column] not in listed for row in nest.rows):
            why = "a place has a value that its key has not"
            raise refusal(clause, why, "list values of the keys")
    if in_order(nest.rows) != nest.rows:
        raise refusal(
            clause, "its places stand out of order", "list those of one state one after the other"
        )
    for one_set in question.sets or ():
        _check_set(question, nest, _depths_in(nest, one_set))


def _is_list_of_keys(question: Question, nest: Nest) -> bool:
    """Return whether a hierarchy names keys of the question and has rows of as many values."""
    # Chosen combinations may be of one key; a hierarchy has two levels at least.
    min_keys = 1 if question.sets is None else 2
    positions = nest.places
    if len(positions) < min_keys or len(set(positions)) < len(positions) or not nest.rows:
        return False
    for position in positions:
        if type(position) is not int or not 0 <= position < len(question.keys):
            return False
    return all(len(row) == len(positions) for row in nest.rows)


def _depths_in(nest: Nest, one_set: Sequence[int]) -> list[int]:
    """Return the levels of a hierarchy that a set of keys names, counted from the widest."""
    return [depth for depth, position in enumerate(nest.places) if position in one_set]


def _check_set(question: Question, nest: Nest, depths: Sequence[int]) -> None:
    """Refuse a set in which two nodes of its narrowest level look alike, as towns of one name."""
    if not depths:
        return
    narrowest = depths[-1]
    nodes = {row[: narrowest + 1] for row in nest.rows}
    told_apart = {pick(row, depths) for row in nodes}
    if len(told_apart) < len(nodes):
        name = question.keys[nest.places[narrowest]].name
        raise refusal(
            "hierarchy", f"{name} alone does not say which", "name the wider keys beside it"
        )


def leaf_question(question: Question) -> Question:
    """Return the question by its narrowest nested key for all nested ones, if it determines them.

    So a store is asked to group by tract, not by state, county and tract; the hierarchy tells in
    which county a tract lies.
    """
    nest = question.nested
    if nest is None or question.sets is None:
        return question
    leaves = tuple(row[-1] for row in nest.rows)
    # The same name in two parents: the narrowest key alone does not tell the cells apart.
    if len(set(leaves)) < len(leaves):
        return question
    leaf = replace(question.keys[nest.places[-1]], values=leaves)
    others = pick(question.keys, _beside(question, nest))
    return replace(question, keys=(leaf, *others), nested=None, sets=None)


def _beside(question: Question, nest: Nest) -> list[int]:
    """Return the positions of the keys that are not in the hierarchy."""
    positions = range(len(question.keys))
    return [position for position in positions if position not in nest.places]


def key_values(question: Question) -> list[Values]:
    """Return the public values of every key."""
    return [key.values or () for key in question.keys]


def key_sizes(question: Question) -> tuple[int, ...]:
    """Return the number of public values of every key."""
    return tuple(map(len, key_values(question)))


def pick(values: Sequence[_T], positions: Iterable[int]) -> tuple[_T, ...]:
    """Return the values at some positions, in the order of the positions."""
    return tuple(values[position] for position in positions)


def finest_cells(question: Question) -> Iterator[Values]:
    """List the keys of every finest cell.

    A hierarchy has its combinations, combined with every value of the keys beside it.
    """
    return _cells_of(question, range(len(question.keys)))


def set_cells(question: Question) -> Iterator[Values]:
    """List the keys of every row of the answer: NULL for the keys that are summed over."""
    for one_set in question.sets or (range(len(question.keys)),):
        yield from _cells_of(question, one_set)


def _cells_of(question: Question, one_set: Sequence[int]) -> Iterator[Values]:
    """List the keys of every cell of one set."""
    shown = key_values(question)
    for position in range(len(shown)):
        if position not in one_set:
            shown[position] = (None,)
    nest = question.nested
    if nest is None:
        yield from product(*shown)
        return
    depths = _depths_in(nest, one_set)
    depth_of_nodes = depths[-1] + 1 if depths else 0
    levels: list[Values] = []
    for node in dict.fromkeys(row[:depth_of_nodes] for row in nest.rows):
        levels.append(pick(node, depths))
    others = _beside(question, nest)
    beside = list(product(*pick(shown, others)))
    # Cells are made with the hierarchy first, and given back in the order of the keys. Levels that
    # are summed over read the NULL at the end.
    made_order = [*pick(nest.places, depths), *others]
    columns = []
    for position in range(len(shown)):
        columns.append(made_order.index(position) if position in made_order else -1)
    for node, rest in product(levels, beside):
        cell = (*node, *rest, None)
        yield pick(cell, columns)


def count_cells(question: Question) -> int:
    """Return the number of finest cells: the combinations of all keys, nested ones as listed."""
    sizes = key_sizes(question)
    nest = question.nested
    if nest is None:
        return math.prod(sizes)
    return len(nest.rows) * math.prod(pick(sizes, _beside(question, nest)))
