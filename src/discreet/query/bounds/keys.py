"""Public keys: every value that an expression can take, if they are few and follow from public facts alone.

All public keys appear in an answer, also those that nobody has, so the list itself tells nothing. It comes from

    the declared keys of a Category or Boolean, a short range of whole steps or days, the values of a public table,
    every combination of these through `evaluate`, the branches of CASE, and the range of a domain, as FLOOR(x/10) has,

narrowed by those conditions of WHERE that speak of the same columns. It may hold values that cannot occur; never may it
miss one that can. NULL is a key only if a column in the expression declares `null_key`; otherwise such rows are in no
group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import prod
from typing import TypeAlias, assert_never

from ...data.columns.column import Column, Date, Integer, Real, Timestamp
from ..algebra.chain import leaves
from ..algebra.expression import Call, Constant, Expression, Field, Function, fields_of
from ..algebra.tree import JoinPeople, JoinPublic, PerPerson, Relation, Scan, Select, Union, Where
from ..domains.domain import Day, Domain, Scalar, Second, Truth, Whole, domain_of_column
from ..domains.domain_of import domain_of
from ..meaning.evaluate import meaning_of
from .relation_facts import columns_of
from .time_keys import list_starts, narrowed_columns, reads_times

MOST_KEYS = 10_000
PublicValues: TypeAlias = Callable[..., Iterable[object]]
"""The distinct values of a column of a public table: (table, column) → values; of several columns their tuples."""
KeyValues: TypeAlias = tuple[Scalar, ...] | None


@dataclass(slots=True)
class _Search:
    """What a search may use, and how much work is left; nothing here outlives one call."""

    most: int
    public_values: PublicValues | None
    work: int
    domains: dict[tuple[int, str], KeyValues] = field(default_factory=dict)


def public_keys(
    expression: Expression,
    relation: Relation,
    most: int = MOST_KEYS,
    public_values: PublicValues | None = None,
) -> tuple[Scalar, ...] | None:
    """List all values an expression can take over a relation, or None if they are too many or not public.

    >>> from discreet.query.algebra.expression import Call, Constant, Field, Function
    >>> from discreet.query.algebra.tree import Scan
    >>> from discreet.query.bounds.keys import public_keys
    >>> from discreet.data import Category, Integer, Rows, Schema
    >>> people = Scan(Schema("people", Rows(), {"age": Integer(0, 39), "region": Category(["N", "S"])}))
    >>> decade = Call(Function.FLOOR, (Call(Function.DIVIDE, (Field("age"), Constant(10))),))
    >>> public_keys(decade, people), public_keys(Field("region"), people), public_keys(Field("age"), people, most=9)
    ((0, 1, 2, 3), ('N', 'S'), None)
    """
    values = _values(expression, relation, _Search(most, public_values, work=8 * most))
    if values is None:
        return None
    shown = (
        values if declares_null(expression, relation) else tuple(v for v in values if v is not None)
    )
    return _tidy(expression, shown) if len(shown) <= most else None


def _tidy(expression: Expression, values: tuple[Scalar, ...]) -> tuple[Scalar, ...]:
    """Keep the declared order of a column; put computed numbers in order, NULL last."""
    whole = [int(v) if isinstance(v, Fraction) and v.denominator == 1 else v for v in values]
    numbers = [v for v in whole if isinstance(v, int | Fraction)]
    if isinstance(expression, Field) or len(numbers) < len(whole) - whole.count(None):
        return tuple(whole)
    return (*sorted(numbers), *((None,) if None in whole else ()))


def _values(expression: Expression, relation: Relation, search: _Search) -> KeyValues:
    """List all values, NULL among them where it may occur."""
    if isinstance(expression, Constant):
        return (expression.value,)
    combined = _combine(expression, relation, search)
    if combined is not None or isinstance(expression, Field):
        return combined
    return _by_parts(expression, relation, search)


def _combine(expression: Expression, relation: Relation, search: _Search) -> KeyValues:
    """Evaluate on every combination of its columns' values that the conditions allow."""
    names = sorted(fields_of(expression))
    listed = [_known_values(name, relation, search) for name in names]
    known = [values for values in listed if values is not None]
    search.work -= (size := prod(map(len, known)))
    if len(known) < len(names) or size > 2 * search.most + 2 or search.work < 0:
        return None
    tests, columns = _tests(relation, frozenset(names)), columns_of(relation)
    if not tests and isinstance(expression, Field):
        return known[0]
    if not tests and isinstance(relation, Scan) and _is_year(expression):
        return _range(
            domain_of(expression, columns), search.most
        )  # every year of a range of days occurs
    found: dict[Scalar, None] = {}
    passes, meaning = [meaning_of(test, columns) for test in tests], meaning_of(expression, columns)
    for combination in product(*known):
        row = dict(zip(names, combination, strict=True))
        if all(test(row) is True for test in passes):
            found[meaning(row)] = None
    return tuple(found)


def _is_year(expression: Expression) -> bool:
    return isinstance(expression, Call) and expression.function is Function.YEAR


def _tests(relation: Relation, names: frozenset[str]) -> list[Expression]:
    """List the conditions that speak of these columns only."""
    tests: list[Expression] = []
    while isinstance(relation, Where):
        tests += [
            part
            for part in leaves(Function.AND, relation.condition)
            if fields_of(part) and fields_of(part) <= names
        ]
        relation = relation.rows
    return tests


def _by_parts(call: Call, relation: Relation, search: _Search) -> KeyValues:
    """List the values of a function from those of its arguments, or from the range of its domain."""
    columns = narrowed_columns(relation) if reads_times(call) else columns_of(relation)
    domain = domain_of(call, columns)
    if isinstance(domain, Truth):
        return (False, True, None)
    if call.function is Function.TRUNCATE:
        starts = list_starts(call, columns, search.most)
        return None if starts is None else (*starts, None)
    branches = _branches(call)
    arguments = [_values(a, relation, search) for a in branches or call.arguments]
    known = [a for a in arguments if a is not None]
    if len(known) < len(arguments):
        return _range(domain, search.most)
    if branches:
        return tuple(dict.fromkeys(value for values in known for value in values))
    return _apply(call, known, relation, search) or _range(domain, search.most)


def _branches(call: Call) -> Sequence[Expression]:
    """List what CASE or COALESCE chooses from."""
    if call.function is Function.CASE:
        return (*call.arguments[1::2], call.arguments[-1])
    return call.arguments if call.function is Function.COALESCE else ()


def _apply(
    call: Call, arguments: Sequence[tuple[Scalar, ...]], relation: Relation, search: _Search
) -> KeyValues:
    """Apply a function to every combination of its arguments, each standing for a column of the argument's domain."""
    search.work -= (size := prod(map(len, arguments)))
    if size > search.most or search.work < 0:
        return None
    inner = columns_of(relation)
    places = {
        str(i): domain_of(a, inner)
        for i, a in enumerate(call.arguments)
        if not isinstance(a, Constant)
    }
    stand_in = Call(
        call.function,
        tuple(Field(str(i)) if str(i) in places else a for i, a in enumerate(call.arguments)),
    )
    rows = ({str(i): value for i, value in enumerate(values)} for values in product(*arguments))
    return tuple(dict.fromkeys(map(meaning_of(stand_in, places), rows)))


def _range(domain: Domain, most: int) -> KeyValues:
    match domain:
        case Whole(step=step, low=low, high=high) if high - low < most:
            by = step.numerator if step.denominator == 1 else step
            return (*(n * by for n in range(low, high + 1)), None)
        case Day(low=low, high=high) | Second(low=low, high=high) if high - low < most:
            return (*range(low, high + 1), None)
    return None


def _known_values(name: str, relation: Relation, search: _Search) -> KeyValues:
    """List the values of one column, NULL always among them: a store may hold NULL anywhere."""
    place = (id(relation), name)
    if place not in search.domains:
        found = _column_values(name, relation, search)
        search.domains[place] = None if found is None else tuple(dict.fromkeys((*found, None)))
    return search.domains[place]


def _column_values(name: str, relation: Relation, search: _Search) -> KeyValues:
    match relation:
        case Scan(schema=schema):
            return _declared_values(schema.columns[name], search.most)
        case Where(rows=rows):
            return _narrow(name, relation, _known_values(name, rows, search))
        case Select(rows=rows, columns=columns):
            return _values(dict(columns)[name], rows, search)
        case JoinPublic(rows=rows, columns=columns):
            return (
                _public(name, relation, search)
                if name in dict(columns)
                else _known_values(name, rows, search)
            )
        case JoinPeople(left=left, right=right):
            return _known_values(name, left if name in columns_of(left) else right, search)
        case Union(parts=parts):
            every = [_known_values(name, part, search) for part in parts]
            known = [values for values in every if values is not None]
            return (
                tuple(v for values in known for v in values) if len(known) == len(every) else None
            )
        case PerPerson(rows=rows, keys=keys):
            named = dict(keys)
            return (
                _values(named[name], rows, search)
                if name in named
                else _range(columns_of(relation)[name], search.most)
            )
        case _:
            assert_never(relation)


def _narrow(name: str, relation: Where, domain: KeyValues) -> KeyValues:
    if domain is None:
        return None
    columns = columns_of(relation)
    own = [c for c in leaves(Function.AND, relation.condition) if fields_of(c) == {name}]
    tests = [meaning_of(condition, columns) for condition in own]
    return tuple(v for v in domain if all(test({name: v}) is True for test in tests))


def _declared_values(column: Column, most: int) -> KeyValues:
    domain = domain_of_column(column)
    return (
        _range(domain, most)
        if isinstance(domain, Whole | Day | Second) and domain.keys is None
        else domain.keys
    )


def _public(name: str, join: JoinPublic, search: _Search) -> KeyValues:
    """Take the values from the public table itself, read by its column's rule, or from what it declares."""
    inner = dict(join.columns)[name]
    column = join.table.columns[inner]
    if search.public_values is None:
        return _declared_values(column, search.most)
    values = tuple(
        dict.fromkeys(
            _read(column, value) for value in search.public_values(join.table.name, inner)
        )
    )
    return values if len(values) <= search.most else None


def _read(column: Column, value: object) -> Scalar:
    """Read a value of a public table; days, seconds and fractions may have been read already."""
    if isinstance(value, Fraction) or (
        isinstance(column, Date | Timestamp) and isinstance(value, int)
    ):
        return value
    if isinstance(column, Real | Integer):
        return column.read(value)
    return column.steps(value) if isinstance(column, Date | Timestamp) else column.read(value)


def declares_null(expression: Expression, relation: Relation) -> bool:
    """Return whether some column that the expression reads declares NULL as a key of its own."""
    return any(_null_key(name, relation) for name in fields_of(expression))


def _null_key(name: str, relation: Relation) -> bool:
    match relation:
        case Scan(schema=schema):
            return schema.columns[name].null_key
        case Where(rows=rows):
            return _null_key(name, rows)
        case Select(rows=rows, columns=columns):
            return declares_null(dict(columns)[name], rows)
        case JoinPublic(rows=rows, columns=columns, table=table):
            named = dict(columns)
            return table.columns[named[name]].null_key if name in named else _null_key(name, rows)
        case JoinPeople(left=left, right=right):
            return _null_key(name, left if name in columns_of(left) else right)
        case Union(parts=parts):
            return any(_null_key(name, part) for part in parts)
        case PerPerson(rows=rows, keys=keys):
            named_keys = dict(keys)
            return name in named_keys and declares_null(named_keys[name], rows)
        case _:
            assert_never(relation)
