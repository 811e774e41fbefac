"""Public keys: every value that an expression can take, if they are few and public.

All public keys appear in an answer, also those that nobody has, so the list itself tells nothing.
Their values come from

    the declared keys of a Category or Boolean, a short range of whole steps or days, the values of
    a public table, every combination of these through `evaluate`, the branches of CASE, and the
    range of a domain, as FLOOR(x/10) has,

narrowed by those conditions of WHERE that read the same columns alone. NULL is a key only if a
column in the expression declares `null_key`; otherwise rows with NULL are in no group.

Guarantee: the list holds every value but NULL that can occur; it may hold values that cannot.

Law: tests/query/test_keys.py::TestEveryList
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain, product
from math import prod
from typing import TypeAlias, assert_never

from ...data.columns.column import Column, Date, Timestamp
from ..algebra.chain import leaves
from ..algebra.expression import Call, Constant, Expression, Field, Function, fields_of
from ..algebra.tree import JoinPeople, JoinPublic, PerPerson, Relation, Scan, Select, Union, Where
from ..domains.domain import (
    Day,
    Domain,
    Scalar,
    Second,
    Truth,
    Values,
    Whole,
    domain_of_column,
    simplest,
)
from ..domains.domain_of import domain_of
from ..meaning.evaluate import meaning_of
from .relation_facts import columns_of
from .time_keys import list_starts, narrowed_columns, reads_times

MAX_KEYS = 10_000
"""Most values of a key that are listed; more keys are selected by partition selection."""
PublicValues: TypeAlias = Callable[..., Iterable[object]]
"""Distinct values of a public table: (table, column) → values; of several columns their tuples."""
KeyValues: TypeAlias = Values | None


@dataclass(slots=True)
class _Search:
    """Limits, sources and remaining work of one search; it does not outlive one call."""

    most: int
    public_values: PublicValues | None
    work: int
    known: dict[tuple[int, str], KeyValues] = field(default_factory=dict)

    def affords(self, combinations: int, limit: int) -> bool:
        """Charge some combinations; return whether they are within the limit and the work left."""
        # Also combinations that are not tried are charged: a search of many such parts ends.
        self.work -= combinations
        return combinations <= limit and self.work >= 0


def public_keys(
    expression: Expression,
    relation: Relation,
    most: int = MAX_KEYS,
    public_values: PublicValues | None = None,
) -> Values | None:
    """List all values an expression can take over a relation.

    Returns None if they are not public, or more than `most`.

    >>> from discreet.query.algebra.expression import Call, Constant, Field, Function
    >>> from discreet.query.algebra.tree import Scan
    >>> from discreet.query.bounds.keys import public_keys
    >>> from discreet.data import Category, Integer, Rows, Schema
    >>> columns = {"age": Integer(0, 39), "region": Category(["N", "S"])}
    >>> people = Scan(Schema("people", Rows(), columns))
    >>> decade = Call(Function.FLOOR, (Call(Function.DIVIDE, (Field("age"), Constant(10))),))
    >>> public_keys(decade, people), public_keys(Field("region"), people)
    ((0, 1, 2, 3), ('N', 'S'))
    >>> public_keys(Field("age"), people, most=9)
    """
    # Eight lists of full length: nested functions may need several lists on the way.
    search = _Search(most, public_values, work=8 * most)
    values = _values(expression, relation, search)
    if values is None:
        return None
    if not declares_null(expression, relation):
        values = tuple(value for value in values if value is not None)
    if len(values) <= most:
        return _in_order(expression, values)
    return None


def _in_order(expression: Expression, values: Values) -> Values:
    """Order public values: as declared for a column, ascending for computed numbers, NULL last."""
    simple = list(map(simplest, values))
    numbers = [value for value in simple if isinstance(value, int | Fraction)]
    if isinstance(expression, Field) or len(numbers) < len(simple) - simple.count(None):
        return tuple(simple)
    ordered: list[Scalar] = [*sorted(numbers)]
    if None in simple:
        ordered.append(None)
    return tuple(ordered)


def _values(expression: Expression, relation: Relation, search: _Search) -> KeyValues:
    """List all values, NULL among them where it may occur."""
    if isinstance(expression, Constant):
        return (expression.value,)
    combined = _combine(expression, relation, search)
    if combined is not None or isinstance(expression, Field):
        return combined
    return _by_arguments(expression, relation, search)


def _all_known(lists: Sequence[KeyValues]) -> list[Values] | None:
    """Return the lists if none of them is unknown."""
    known = [values for values in lists if values is not None]
    return known if len(known) == len(lists) else None


def _combine(expression: Expression, relation: Relation, search: _Search) -> KeyValues:
    """List the values of an expression for all allowed combinations of its columns' values.

    None if the values of a column are unknown, or the combinations too many.
    """
    names = sorted(fields_of(expression))
    listed = [_known_values(name, relation, search) for name in names]
    sizes = [len(values) for values in listed if values is not None]
    # A single column may list `most` values and NULL, or two columns share them.
    affordable = search.affords(prod(sizes), 2 * search.most + 2)
    known = _all_known(listed)
    if known is None or not affordable:
        return None
    tests = _tests(relation, frozenset(names))
    columns = columns_of(relation)
    if not tests:
        if isinstance(expression, Field):
            return known[0]
        # Every year of a range of days occurs, so no day needs to be tried.
        if isinstance(relation, Scan) and _is_year(expression):
            return _range(domain_of(expression, columns), search.most)
    conditions = [meaning_of(test, columns) for test in tests]
    meaning = meaning_of(expression, columns)
    # A dict and not a set: the order of the columns' values is kept.
    found: dict[Scalar, None] = {}
    for combination in product(*known):
        row = dict(zip(names, combination, strict=True))
        # A condition that is NULL drops a row, as in SQL.
        if all(condition(row) is True for condition in conditions):
            found[meaning(row)] = None
    return tuple(found)


def _is_year(expression: Expression) -> bool:
    return isinstance(expression, Call) and expression.function is Function.YEAR


def _tests(relation: Relation, names: frozenset[str]) -> list[Expression]:
    """List the conditions directly over a relation that read none but these columns."""
    tests: list[Expression] = []
    while isinstance(relation, Where):
        for condition in leaves(Function.AND, relation.condition):
            read = fields_of(condition)
            if read and read <= names:
                tests.append(condition)
        relation = relation.rows
    return tests


def _by_arguments(call: Call, relation: Relation, search: _Search) -> KeyValues:
    """List the values of a function from those of its arguments, or from its domain's range."""
    columns = narrowed_columns(relation) if reads_times(call) else columns_of(relation)
    domain = domain_of(call, columns)
    if isinstance(domain, Truth):
        return (False, True, None)
    if call.function is Function.TRUNCATE:
        starts = list_starts(call, columns, search.most)
        return None if starts is None else (*starts, None)
    branches = _branches(call)
    arguments = branches or call.arguments
    known = _all_known([_values(argument, relation, search) for argument in arguments])
    if known is None:
        return _range(domain, search.most)
    if branches:
        return _united(known)
    return _apply(call, known, relation, search) or _range(domain, search.most)


def _united(lists: Iterable[Iterable[Scalar]]) -> Values:
    """Return each value of several lists once, in the order in which they first occur."""
    return tuple(dict.fromkeys(chain.from_iterable(lists)))


def _branches(call: Call) -> Sequence[Expression]:
    """List the values that CASE or COALESCE chooses from."""
    if call.function is Function.CASE:
        return (*call.arguments[1::2], call.arguments[-1])
    if call.function is Function.COALESCE:
        return call.arguments
    return ()


def _apply(
    call: Call, arguments: Sequence[Values], relation: Relation, search: _Search
) -> KeyValues:
    """Apply a function to every combination of the values of its arguments.

    A column of the argument's domain stands in for each argument that is no constant.
    """
    if not search.affords(prod(map(len, arguments)), search.most):
        return None
    columns = columns_of(relation)
    domains: dict[str, Domain] = {}
    stand_ins: list[Expression] = []
    for number, argument in enumerate(call.arguments):
        if isinstance(argument, Constant):
            stand_ins.append(argument)
        else:
            domains[str(number)] = domain_of(argument, columns)
            stand_ins.append(Field(str(number)))
    meaning = meaning_of(Call(call.function, tuple(stand_ins)), domains)
    names = [str(number) for number in range(len(arguments))]
    found: dict[Scalar, None] = {}
    for combination in product(*arguments):
        row = dict(zip(names, combination, strict=True))
        found[meaning(row)] = None
    return tuple(found)


def _range(domain: Domain, most: int) -> KeyValues:
    """List NULL and a range of steps, days or seconds; None if these are more than `most`."""
    match domain:
        case Whole(step=step, low=low, high=high) if high - low < most:
            by = step.numerator if step.denominator == 1 else step
            numbers = [count * by for count in range(low, high + 1)]
            return (*numbers, None)
        case Day(low=low, high=high) | Second(low=low, high=high) if high - low < most:
            return (*range(low, high + 1), None)
    return None


def _known_values(name: str, relation: Relation, search: _Search) -> KeyValues:
    """List the values of one column, NULL always among them: a store may hold NULL anywhere."""
    # Relations are compared by identity, which is fast and holds for one search.
    column = (id(relation), name)
    if column not in search.known:
        values = _column_values(name, relation, search)
        search.known[column] = None if values is None else _united([values, (None,)])
    return search.known[column]


def _column_values(name: str, relation: Relation, search: _Search) -> KeyValues:
    """List the public values of a column of a relation; None if they are unknown or too many."""
    match relation:
        case Scan(schema=schema):
            return _declared_values(schema.columns[name], search.most)
        case Where(rows=rows):
            values = _known_values(name, rows, search)
            domain = narrowed_columns(relation)[name]
            # A range of times may be too long to be listed, and the part that WHERE leaves not.
            if values is None and isinstance(domain, Day | Second):
                values = _range(domain, search.most)
            return _narrow(name, relation, values)
        case Select(rows=rows, columns=columns):
            return _values(dict(columns)[name], rows, search)
        case JoinPublic(rows=rows, columns=columns):
            if name in dict(columns):
                return _public_column_values(name, relation, search)
            return _known_values(name, rows, search)
        case JoinPeople(left=left, right=right):
            return _known_values(name, left if name in columns_of(left) else right, search)
        case Union(parts=parts):
            known = _all_known([_known_values(name, part, search) for part in parts])
            if known is None:
                return None
            return tuple(chain.from_iterable(known))
        case PerPerson(rows=rows, keys=keys):
            named = dict(keys)
            if name in named:
                return _values(named[name], rows, search)
            return _range(columns_of(relation)[name], search.most)
        case _:
            assert_never(relation)


def _narrow(name: str, relation: Where, values: KeyValues) -> KeyValues:
    """Keep the values that pass all conditions on this column alone."""
    if values is None:
        return None
    columns = columns_of(relation)
    tests = []
    for condition in leaves(Function.AND, relation.condition):
        if fields_of(condition) == {name}:
            tests.append(meaning_of(condition, columns))
    return tuple(v for v in values if all(test({name: v}) is True for test in tests))


def _declared_values(column: Column, most: int) -> KeyValues:
    domain = domain_of_column(column)
    if isinstance(domain, Whole | Day | Second) and domain.keys is None:
        return _range(domain, most)
    return domain.keys


def _public_column_values(name: str, join: JoinPublic, search: _Search) -> KeyValues:
    """Read the values from the public table by its column's rule, or from its declaration."""
    inner = dict(join.columns)[name]
    column = join.table.columns[inner]
    if search.public_values is None:
        return _declared_values(column, search.most)
    stored = search.public_values(join.table.name, inner)
    values = tuple(dict.fromkeys(read_public_value(column, value) for value in stored))
    return values if len(values) <= search.most else None


def read_public_value(column: Column, value: object) -> Scalar:
    """Read a value of a public table; days, seconds and fractions may have been read already."""
    is_time = isinstance(column, Date | Timestamp)
    if isinstance(value, Fraction) or (is_time and isinstance(value, int)):
        return value
    if isinstance(column, Date | Timestamp):
        return column.steps(value)
    return column.read(value)


def declares_null(expression: Expression, relation: Relation) -> bool:
    """Return whether some column that the expression reads declares NULL as a key of its own."""
    return any(_null_key(name, relation) for name in fields_of(expression))


def _null_key(name: str, relation: Relation) -> bool:
    """Return whether a column comes from a declared one that takes NULL as a key (`null_key`)."""
    match relation:
        case Scan(schema=schema):
            return schema.columns[name].null_key
        case Where(rows=rows):
            return _null_key(name, rows)
        case Select(rows=rows, columns=columns):
            return declares_null(dict(columns)[name], rows)
        case JoinPublic(rows=rows, columns=columns, table=table):
            named = dict(columns)
            if name in named:
                return table.columns[named[name]].null_key
            return _null_key(name, rows)
        case JoinPeople(left=left, right=right):
            return _null_key(name, left if name in columns_of(left) else right)
        case Union(parts=parts):
            return any(_null_key(name, part) for part in parts)
        case PerPerson(rows=rows, keys=keys):
            named_keys = dict(keys)
            return name in named_keys and declares_null(named_keys[name], rows)
        case _:
            assert_never(relation)
