"""Keys that lie within each other: bins of several widths, codes of tracts, counties and states.

Keys that read one and the same column follow from it, so which combinations of them there are is public: those that
some public value of the column has. If each value of a narrower key lies in just one of every wider key, they are
nested (`Nest`), and only these combinations are counted, instead of the product of all values.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product

from ..algebra.expression import Call, Constant, Expression, Field, Function, fields_of
from ..algebra.refusal import refusal
from ..algebra.tree import Key, Nest, Question
from ..domains.domain import Domain, Scalar
from ..meaning.evaluate import meaning_of
from .keys import PublicValues, public_keys
from .not_null import always_present
from .relation_facts import columns_of

MOST_LEAVES = 200_000
Row = tuple[Scalar, ...]


def with_nest(question: Question, public_values: PublicValues | None) -> Question:
    """Return the question with its nested keys found, if it asks for several sets at once; others as they are.

    Refuses bins of one column that overlap: no set of them is a sum of another's.
    """
    if question.sets is None or question.nested is not None:
        return question
    known: dict[str, Row | None] = {}
    groups: dict[str, list[int]] = {}
    for place, key in enumerate(question.keys):
        names = fields_of(key.expression)
        if len(names) == 1:
            groups.setdefault(next(iter(names)), []).append(place)
    for name, places in groups.items():
        if len(places) > 1 or question.keys[places[0]].values is None:
            known[name] = public_keys(Field(name), question.rows, MOST_LEAVES, public_values)
    for name, values in known.items():
        if values is not None:
            found = _nest(question, name, groups[name], values)
            if found.nested is not None:
                return found
            question = found
    return question


def _nest(question: Question, name: str, places: Sequence[int], values: Row) -> Question:
    columns = columns_of(question.rows)
    lists = [values_of(question.keys[place].expression, name, values, columns) for place in places]
    nulls: list[Scalar] = []
    if not always_present(Field(name), question.rows):
        nulls = [
            meaning_of(question.keys[place].expression, columns)({name: None}) for place in places
        ]
        lists = [[*each, null] for each, null in zip(lists, nulls, strict=True)]
    question = replace(
        question, keys=tuple(_fill(key, at, places, lists) for at, key in enumerate(question.keys))
    )
    if len({null is None for null in nulls}) > 1:
        return question  # COALESCE beside the column itself: a row may be in a cell of one and in none of the other
    known = [set(question.keys[place].values or ()) for place in places]
    every = dict.fromkeys(zip(*lists, strict=True))
    rows = [
        row for row in every if all(value in own for value, own in zip(row, known, strict=True))
    ]
    if len(places) < 2 or not rows:
        return question
    order = sorted(range(len(places)), key=lambda at: len({row[at] for row in rows}))
    sorted_rows = [tuple(row[at] for at in order) for row in rows]
    for depth in range(1, len(order)):
        if len({row[depth] for row in sorted_rows}) < len(
            {row[: depth + 1] for row in sorted_rows}
        ):
            if any(len(set(one) & set(places)) > 1 for one in question.sets or ()):
                return question  # a set of both asks for the cells where they meet
            raise _overlap(question, places[order[depth - 1]], places[order[depth]])
    return replace(question, nested=Nest(tuple(places[at] for at in order), in_order(sorted_rows)))


def _fill(key: Key, at: int, places: Sequence[int], lists: Sequence[Sequence[Scalar]]) -> Key:
    """Return a key with its values: those that the column gives it, if they were too many to list before."""
    if key.values is not None or at not in places:
        return key
    return replace(
        key, values=tuple(v for v in dict.fromkeys(lists[list(places).index(at)]) if v is not None)
    )


def values_of(
    expression: Expression, name: str, values: Row, columns: dict[str, Domain]
) -> list[Scalar]:
    """Return what an expression is for every value of its one column; bins of whole numbers are counted off at once."""
    match expression:
        case Field():
            return list(values)
        case Call(
            function=Function.FLOOR,
            arguments=(
                Call(function=Function.DIVIDE, arguments=(Field(), Constant(value=int(width)))),
            ),
        ) if width > 0 and all(type(value) is int for value in values):
            return [value // width for value in values]  # type: ignore[operator]
    meaning = meaning_of(expression, columns)
    found = [meaning({name: value}) for value in values]
    return [int(v) if _is_whole(v) else v for v in found]  # type: ignore[arg-type]


def _is_whole(value: Scalar) -> bool:
    return not isinstance(value, bool | str | int | None) and value.denominator == 1


def _overlap(question: Question, wide: int, narrow: int) -> Exception:
    one, other = question.keys[wide], question.keys[narrow]
    widths = _width(other.expression), _width(one.expression)
    way = "use bins of which each lies within one of the next wider"
    if widths[0] and widths[1]:
        near = max(1, round(widths[1] / widths[0])) * widths[0]
        way = f"use a width of {near} instead of {widths[1]}, which has its edges on those of {widths[0]}"
    return refusal("GROUPING SETS", f"bins of {one.name} and {other.name} overlap", way)


def _width(expression: Expression) -> int | None:
    """Return the whole width of bins FLOOR(x / width), whatever they are multiplied by or moved."""
    if isinstance(expression, Call):
        last = expression.arguments[-1]
        if (
            expression.function is Function.DIVIDE
            and isinstance(last, Constant)
            and type(last.value) is int
        ):
            return last.value
        return next((found for part in expression.arguments if (found := _width(part))), None)
    return None


def in_order(rows: Iterable[Row]) -> tuple[Row, ...]:
    """Return rows in the order of their parents: each widest value where it first stands, and so on within it."""
    listed = list(rows)
    ranks: list[dict[Row, int]] = [{} for _ in (listed[0] if listed else ())]
    for row in listed:
        for depth, known in enumerate(ranks):
            known.setdefault(row[: depth + 1], len(known))
    return tuple(
        sorted(listed, key=lambda row: [known[row[: at + 1]] for at, known in enumerate(ranks)])
    )


def check_nest(question: Question, nest: Nest) -> None:
    """Refuse nested keys whose combinations are listed twice, out of order or beside the keys, and sets that mix nodes.

    A combination that stood there twice would be counted twice, and a unit in it would weigh twice.
    """
    count, clause = len(nest.places), "keys" if question.sets is None else "hierarchy"
    wrong = (
        count < (1 if question.sets is None else 2)
        or sorted(set(nest.places)) != sorted(nest.places)
        or not nest.rows
    )
    wrong = wrong or any(
        type(place) is not int or not 0 <= place < len(question.keys) for place in nest.places
    )
    if wrong or any(len(row) != count for row in nest.rows) or len(set(nest.rows)) < len(nest.rows):
        raise refusal(
            clause, "its places are combinations of two keys or more, each once", "list each once"
        )
    known = [set(question.keys[place].values or ()) for place in nest.places]
    if any(
        value not in values for row in nest.rows for value, values in zip(row, known, strict=True)
    ):
        raise refusal(clause, "a place has a value that its key has not", "list values of the keys")
    if in_order(nest.rows) != nest.rows:
        raise refusal(
            clause, "its places stand out of order", "list those of one state one after the other"
        )
    for one in question.sets or ():
        _check_set(question, nest, [at for at, place in enumerate(nest.places) if place in one])


def _check_set(question: Question, nest: Nest, held: Sequence[int]) -> None:
    if held:
        prefixes = {row[: held[-1] + 1] for row in nest.rows}
        if len({tuple(row[at] for at in held) for row in prefixes}) < len(prefixes):
            name = question.keys[nest.places[held[-1]]].name
            raise refusal(
                "hierarchy", f"{name} alone does not say which", "name the wider keys beside it"
            )


def leaf_question(question: Question) -> Question:
    """Return the question by its narrowest nested key alone, if that says which place it is: the wider follow.

    So a store is asked to group by tract, not by state, county and tract; a tract lies where the places say.
    """
    nest = question.nested
    if (
        nest is None
        or question.sets is None
        or len({row[-1] for row in nest.rows}) < len(nest.rows)
    ):
        return question
    leaf = replace(question.keys[nest.places[-1]], values=tuple(row[-1] for row in nest.rows))
    others = [key for place, key in enumerate(question.keys) if place not in nest.places]
    return replace(question, keys=(leaf, *others), nested=None, sets=None)


def finest_cells(question: Question) -> Iterator[Row]:
    """List the keys of every finest cell: of nested keys each combination there is, by every value of the others."""
    lists = [key.values or () for key in question.keys]
    if question.nested is None:
        yield from product(*lists)
        return
    nest = question.nested
    others = [place for place in range(len(lists)) if place not in nest.places]
    back = [(*nest.places, *others).index(place) for place in range(len(lists))]
    for row, rest in product(nest.rows, list(product(*(lists[place] for place in others)))):
        both = (*row, *rest)
        yield tuple(both[at] for at in back)


def set_cells(question: Question) -> Iterator[Row]:
    """List the keys of every row: of every set all combinations, NULL for the keys that are summed over."""
    lists = [key.values or () for key in question.keys]
    nest = question.nested
    for one in question.sets or (tuple(range(len(lists))),):
        if nest is None:
            yield from product(
                *(values if place in one else (None,) for place, values in enumerate(lists))
            )
            continue
        held = [at for at, place in enumerate(nest.places) if place in one]
        deep = held[-1] + 1 if held else 0
        nodes = dict.fromkeys(row[:deep] for row in nest.rows)
        others = [place for place in range(len(lists)) if place not in nest.places]
        rests = list(product(*(lists[place] if place in one else (None,) for place in others)))
        for node, rest in product(nodes, rests):
            known = dict(zip(others, rest, strict=True)) | {
                nest.places[at]: node[at] for at in held
            }
            yield tuple(known.get(place) for place in range(len(lists)))


def count_cells(question: Question) -> int:
    """Return how many finest cells there are."""
    nest = question.nested
    beside = [
        len(key.values or ())
        for place, key in enumerate(question.keys)
        if not nest or place not in nest.places
    ]
    return math.prod(beside) * (len(nest.rows) if nest else 1)
