"""Public facts about a relation: column domains, protected unit, neighbours, and what is never NULL.

Where x is never NULL, COUNT(x), and the rows behind AVG(x), are COUNT(*), and one noisy number
serves them all. Three facts count: a column with a declared default; COALESCE and CASE with a value
for all others; conditions of WHERE that no NULL passes.

Guarantee: an expression that is called present has a value in every row. The answer "no" is always
sound: it costs a release, never privacy, since COUNT(*) is bounded like any other total. For keys
these facts decide which rows have none (`missing_keys`).

Law: tests/query/test_relation_facts.py::TestUnits,
tests/query/test_not_null.py::test_where_an_expression_is_null
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import assert_never

from ...data.schema import Schema
from ...data.unit import People, Rows, Unit
from ...errors import UnboundedSensitivity, UnsupportedQuery
from ...privacy.measures import Neighbours
from ..algebra.chain import leaves
from ..algebra.expression import WINDOWS, Call, Constant, Expression, Field, Function, call_of
from ..algebra.tree import (
    JoinPeople,
    JoinPublic,
    PerPerson,
    Relation,
    Scan,
    Select,
    Total,
    Union,
    Where,
    inputs_of,
    relations_in,
)
from ..domains.domain import Domain, Truth, Whole, domain_of_column
from ..domains.domain_of import domain_of
from .fanout import max_matches


def columns_of(relation: Relation) -> dict[str, Domain]:
    """Return the domain of every column of a relation.

    A person's id is no column: it is counted and joined on, never read, whether the schema
    declares it or not.

    >>> import discreet as dp
    >>> from discreet.query.algebra.tree import Scan
    >>> from discreet.query.bounds.relation_facts import columns_of
    >>> from discreet.data import Integer
    >>> columns_of(Scan(dp.Schema("people", dp.Rows(), {"age": Integer(0, 120)})))
    {'age': Whole(step=Fraction(1, 1), low=0, high=120, keys=None)}

    Refuses: with `UnsupportedQuery` expressions that have no domain, and names that clash.
    """
    match relation:
        case Scan(schema=schema):
            return dict(_declared_domains(schema))
        case Where(rows=rows, condition=condition):
            columns = columns_of(rows)
            if not isinstance(domain_of(condition, columns), Truth):
                raise UnsupportedQuery("WHERE takes a condition, such as age >= 18")
            return columns
        case Select(rows=rows, columns=chosen):
            inner = columns_of(rows)
            return _unique([(name, domain_of(expression, inner)) for name, expression in chosen])
        case JoinPublic():
            return _public_join_columns(relation)
        case JoinPeople():
            return _people_join_columns(relation)
        case Union(parts=parts):
            return _union_columns(parts)
        case PerPerson(rows=rows, keys=keys, totals=totals):
            inner = columns_of(rows)
            named = [(name, domain_of(expression, inner)) for name, expression in keys]
            named += [(name, _total_domain(total, inner)) for name, total in totals]
            return _unique(named)
        case _:
            assert_never(relation)


def _total_domain(total: Total, columns: dict[str, Domain]) -> Whole:
    """Return the domain of a total of one person's rows."""
    domain = None
    if total.expression is not None:
        domain = domain_of(total.expression, columns)
    if not isinstance(domain, Whole) or not domain.blur:
        return Whole(total.step, total.low, total.high)
    rows = 1
    # In a sum the rounding errors of all rows add up; the bounds tell how many rows there are.
    if total.what == "sum":
        for total_bound, row_bound in ((total.low, domain.low), (total.high, domain.high)):
            if row_bound:
                rows = max(rows, total_bound // row_bound)
    return Whole(total.step, total.low, total.high, blur=rows * domain.blur)


# A question asks for these domains some thirty times on its way.
@lru_cache(maxsize=64)
def _declared_domains(schema: Schema) -> tuple[tuple[str, Domain], ...]:
    domains = []
    for name, column in schema.declared:
        if not is_person(schema, name):
            domains.append((name, domain_of_column(column)))
    return tuple(domains)


def _unique(columns: Sequence[tuple[str, Domain]]) -> dict[str, Domain]:
    domains = dict(columns)
    if len(domains) < len(columns):
        raise UnsupportedQuery("two columns have the same name; give one of them another with AS")
    return domains


def is_person(schema: Schema, name: str) -> bool:
    """Return whether a name is the person's id of a private table; case never matters, as in SQL.

    >>> import discreet as dp
    >>> from discreet.query.bounds.relation_facts import is_person
    >>> from discreet.data import Boolean
    >>> visits = dp.Schema("visits", dp.People("user_id", max_rows=3), {"paid": Boolean()})
    >>> is_person(visits, "USER_ID")
    True
    """
    return isinstance(schema.unit, People) and schema.unit.id.casefold() == name.casefold()


def _public_join_columns(join: JoinPublic) -> dict[str, Domain]:
    """Return the columns of a join with a public table; refuse one that is private or unmatched."""
    table = join.table
    rows = columns_of(join.rows)
    if not table.public:
        raise UnsupportedQuery(
            f"JOIN with {table.name}: it is private; join private tables on the person"
        )
    public = {name: domain_of_column(column) for name, column in table.declared}
    used = {column for _, column in (*join.on, *join.columns)}
    if used - set(public) or not join.on:
        raise UnsupportedQuery(
            f"JOIN with {table.name} needs ON some of its columns {', '.join(public)}"
        )
    for expression, column in join.on:
        _check_comparable(domain_of(expression, rows), public[column])
    added = [(name, public[column]) for name, column in join.columns]
    return _unique([*rows.items(), *added])


def _people_join_columns(join: JoinPeople) -> dict[str, Domain]:
    left = columns_of(join.left)
    right = columns_of(join.right)
    if join.outer not in ("", "left", "full"):
        raise UnsupportedQuery(f"{join.outer!r} is no join; there are LEFT JOIN and FULL JOIN")
    for mine, yours in join.on:
        _check_comparable(domain_of(mine, left), domain_of(yours, right))
    return _unique([*left.items(), *right.items()])


def _check_comparable(x: Domain, y: Domain) -> None:
    """Refuse to match values that cannot be compared, such as a number with text."""
    domain_of(call_of(Function.EQUAL, Field("x"), Field("y")), {"x": x, "y": y})


def _union_columns(parts: tuple[Relation, ...]) -> dict[str, Domain]:
    columns_of_parts = [columns_of(part) for part in parts]
    if len({tuple(columns) for columns in columns_of_parts}) != 1:
        raise UnsupportedQuery("the parts of UNION ALL need the same columns, in the same order")
    united: dict[str, Domain] = {}
    for name in columns_of_parts[0]:
        options = {str(i): columns[name] for i, columns in enumerate(columns_of_parts)}
        # A value of one of several columns is what COALESCE returns, so its domain is the union.
        any_of_them = Call(Function.COALESCE, tuple(map(Field, options)))
        united[name] = domain_of(any_of_them, options)
    return united


def tables_of(relation: Relation) -> tuple[Schema, ...]:
    """List the private tables that a relation reads; one that is read twice is listed twice."""
    return tuple(each.schema for each in relations_in(relation) if isinstance(each, Scan))


def unit_of(relation: Relation) -> Unit:
    """Return the protected unit: the person that all private tables name, or the table's rows.

    Tables are of the same people where `People.who` is equal. The unit has the id of the first
    table, and the tightest bounds that all tables declare; a window must be the same in all.

    Refuses: with `UnsupportedQuery` tables that protect different units.
    """
    units = [schema.ready().unit for schema in tables_of(relation)]
    people = [unit for unit in units if isinstance(unit, People)]
    persons = {(unit.who, unit.window) for unit in people}
    if len(people) not in (0, len(units)) or len(persons) > 1:
        raise UnsupportedQuery(_different_units(relation))
    if not people:
        return Rows()
    max_rows = min(unit.max_rows for unit in people)
    declared = [unit.max_groups for unit in people if unit.max_groups is not None]
    # A person with n rows is in n groups at most; People refuses a larger bound of groups.
    max_groups = min([*declared, max_rows]) if declared else None
    by_group = [unit.max_rows_per_group for unit in people if unit.max_rows_per_group is not None]
    group_rows = min([*by_group, max_rows]) if by_group else None
    person = people[0]
    return People(
        person.id,
        max_rows=max_rows,
        max_groups=max_groups,
        max_rows_per_group=group_rows,
        window=person.window,
        who=person.who,
    )


def _different_units(relation: Relation) -> str:
    """Return the refusal of different units: which they are, and what declares them as one."""
    shown = {}
    for schema in tables_of(relation):
        shown[schema.name] = f"{schema.name}: {_unit_name(schema.unit)}"
    return (
        f"these tables protect different units ({'; '.join(shown.values())}); join or unite only tables of "
        "the same people. If equal ids are one person, the steward declares it by an equal "
        'who=, as in People("user_id", who="user", max_rows=3)'
    )


def _unit_name(unit: Unit | None) -> str:
    if not isinstance(unit, People):
        return "one row"
    within = ""
    if unit.window is not None:
        within = f" within a {unit.window[1]}"
    return f"who={unit.who!r}{within}"


def neighbours_of(relation: Relation) -> Neighbours:
    """Return the neighbour relation of the promise: the one that all private tables declare.

    Refuses: with `UnsupportedQuery` tables that declare different ones.
    """
    relations = {schema.neighbours for schema in tables_of(relation)}
    if len(relations) > 1:
        raise UnsupportedQuery(
            "these tables declare different neighbour relations; declare one for all"
        )
    return relations.pop()


def multiplicity(relation: Relation) -> int:
    """Bound how many rows one *row* unit becomes (its multiplicity).

    Only for `Rows`: a person is bounded by shares instead. Where and Select keep a row or drop it.
    A join with a public table copies it once for each match. A table that is read twice counts
    twice.

    Refuses: with `UnboundedSensitivity` a join of private tables, which needs a person.

    Law: tests/query/test_relation_facts.py::TestMultiplicity
    """
    if isinstance(relation, Scan):
        return 1
    if isinstance(relation, JoinPeople | PerPerson):
        raise UnboundedSensitivity(
            "JOIN of private tables, or GROUP BY the person, needs tables whose unit is a "
            'person: declare unit=People("id", max_rows=…)'
        )
    copies = sum(map(multiplicity, inputs_of(relation)))
    if isinstance(relation, JoinPublic):
        copies *= max_matches(relation)
    return copies


_STRICT = {
    Function.EQUAL,
    Function.UNEQUAL,
    Function.LESS,
    Function.AT_MOST,
    Function.AMONG,
    Function.LIKE,
}
"""Conditions that are NULL, and so not true, where an argument is NULL."""
_PARTIAL = {
    Function.DIVIDE,
    Function.ROOT,
    Function.MONTHS_LATER,
    Function.POWER,
    Function.LOGARITHM,
    Function.EXPONENTIAL,
    *WINDOWS,
}
"""Functions that may be NULL though all arguments are values; DIVIDE by a constant ≠ 0 may not."""
_NEVER: frozenset[str] = frozenset()
"""No column decides whether the expression is NULL: it is a value in every row."""


def always_present(expression: Expression, rows: Relation) -> bool:
    """Return whether an expression is a value, never NULL, in every row.

    >>> from discreet.query.algebra.expression import Call, Constant, Field, Function
    >>> from discreet.query.algebra.tree import Scan, Where
    >>> from discreet.query.bounds.relation_facts import always_present
    >>> from discreet.data import Integer, Rows, Schema
    >>> columns = {"age": Integer(0, 120), "paid": Integer(0, 9, default=0)}
    >>> people = Scan(Schema("people", Rows(), columns))
    >>> adults = Where(people, Call(Function.LESS, (Constant(17), Field("age"))))
    >>> always_present(Field("paid"), people)
    True
    >>> [always_present(Field("age"), rows) for rows in (people, adults)]
    [False, True]
    """
    return null_columns(expression, rows) == _NEVER


def null_columns(expression: Expression, rows: Relation) -> frozenset[str] | None:
    """Return the columns that decide whether an expression is NULL.

    The expression is NULL in exactly those rows where at least one of these columns is NULL. The
    result is None if no set of columns is known to have this property.

    >>> from discreet.query.algebra.expression import Call, Constant, Field, Function
    >>> from discreet.query.algebra.tree import Scan
    >>> from discreet.query.bounds.relation_facts import null_columns
    >>> from discreet.data import Integer, Rows, Schema
    >>> columns = {"age": Integer(0, 120), "paid": Integer(0, 9, default=0)}
    >>> people = Scan(Schema("people", Rows(), columns))
    >>> decade = Call(Function.FLOOR, (Call(Function.DIVIDE, (Field("age"), Constant(10))),))
    >>> either = Call(Function.COALESCE, (Field("age"), Field("paid")))
    >>> sorted(null_columns(decade, people)), sorted(null_columns(either, people))
    (['age'], [])
    """
    match expression:
        case Constant(value=value):
            return None if value is None else _NEVER
        case Field(name=name):
            if _column_present(name, rows):
                return _NEVER
            return frozenset({name})
        case Call(arguments=arguments):
            columns = [null_columns(argument, rows) for argument in arguments]
            return _call_columns(expression, columns)
        case _:
            assert_never(expression)


def _call_columns(call: Call, columns: Sequence[frozenset[str] | None]) -> frozenset[str] | None:
    """Return the deciding columns of a call from those of its arguments."""
    match call.function:
        case Function.IS_NULL:
            return _NEVER
        case Function.COALESCE:
            # It is NULL where all arguments are, which no single column decides.
            return _NEVER if _NEVER in columns else None
        case Function.CASE:
            # A condition that is NULL does not hold, so only the values matter.
            return _never_if_all((*columns[1::2], columns[-1]))
        case Function.AND | Function.OR:
            # False AND NULL is false: a NULL argument does not decide.
            return _never_if_all(columns)
    if call.function in _PARTIAL and not _divides_by_constant(call):
        return None
    deciding = _NEVER
    for argument in columns:
        if argument is None:
            return None
        deciding |= argument
    return deciding


def _never_if_all(columns: Sequence[frozenset[str] | None]) -> frozenset[str] | None:
    if all(argument == _NEVER for argument in columns):
        return _NEVER
    return None


def _divides_by_constant(call: Call) -> bool:
    """Return whether a call divides by a constant that is neither 0 nor NULL."""
    if call.function is not Function.DIVIDE:
        return False
    divisor = call.arguments[1]
    return isinstance(divisor, Constant) and bool(divisor.value)


def _column_present(name: str, rows: Relation) -> bool:
    """Return whether a column is a value in every row."""
    match rows:
        case Scan(schema=schema):
            return schema.columns[name].nulls == "default"
        case Where(rows=inner, condition=condition):
            conditions = leaves(Function.AND, condition)
            rejected = any(_rejects_null(name, leaf) for leaf in conditions)
            return rejected or _column_present(name, inner)
        case Select(rows=inner, columns=columns):
            return always_present(dict(columns)[name], inner)
        case JoinPublic(rows=inner, columns=columns):
            # A row that is kept without a match has NULL in the public columns.
            return name not in dict(columns) and _column_present(name, inner)
        case Union(parts=parts):
            return all(_column_present(name, part) for part in parts)
        case JoinPeople() | PerPerson():
            # Outer joins and totals of no values make NULL, so the safe answer is no.
            return False
        case _:
            assert_never(rows)


def _rejects_null(name: str, condition: Expression) -> bool:
    """Return whether a condition is true only where a column is a value."""
    if not isinstance(condition, Call):
        return False
    if condition.function in _STRICT:
        return Field(name) in condition.arguments
    return condition == call_of(Function.NOT, call_of(Function.IS_NULL, Field(name)))
