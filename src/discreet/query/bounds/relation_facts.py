"""What is public about a relation: its columns' domains, whose rows they are, and how many rows one unit may become."""

from __future__ import annotations

from functools import lru_cache
from typing import assert_never

from ...data.schema import Schema
from ...data.unit import People, Rows, Unit
from ...errors import UnboundedSensitivity, UnsupportedQuery
from ...privacy.neighbours import Neighbours
from ..algebra.expression import Call, Field, Function
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
)
from ..domains.domain import Domain, Truth, Whole, domain_of_column
from ..domains.domain_of import domain_of
from .fanout import most_matches


def columns_of(relation: Relation) -> dict[str, Domain]:
    """Return the domain of every column of a relation; refuses expressions that have none.

    A person's id is no column: it is counted and joined on, never read, whether the schema declares it or not.

    >>> import discreet as dp
    >>> from discreet.query.algebra.tree import Scan
    >>> from discreet.query.bounds.relation_facts import columns_of
    >>> from discreet.data import Integer
    >>> columns_of(Scan(dp.Schema("people", dp.Rows(), {"age": Integer(0, 120)})))
    {'age': Whole(step=Fraction(1, 1), low=0, high=120, keys=None)}
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
            return _join(relation)
        case JoinPeople():
            return _pair(relation)
        case Union(parts=parts):
            return _unite(parts)
        case PerPerson(rows=rows, keys=keys, totals=totals):
            inner = columns_of(rows)
            named = [(name, domain_of(expression, inner)) for name, expression in keys]
            return _unique([*named, *((name, _total_domain(t, inner)) for name, t in totals)])
        case _:
            assert_never(relation)


def _total_domain(total: Total, columns: dict[str, Domain]) -> Whole:
    """Return the domain of a total of one person's rows; what rounding moves each of them by adds up in a sum."""
    domain = None if total.expression is None else domain_of(total.expression, columns)
    if not isinstance(domain, Whole) or not domain.blur:
        return Whole(total.step, total.low, total.high)
    ends = ((total.low, domain.low), (total.high, domain.high))
    rows = max([1, *(all_ // one for all_, one in ends if one)]) if total.what == "sum" else 1
    return Whole(total.step, total.low, total.high, blur=rows * domain.blur)


@lru_cache(maxsize=64)
def _declared_domains(schema: Schema) -> tuple[tuple[str, Domain], ...]:
    """Return what a schema says of its columns: a question asks for it some thirty times on its way."""
    return tuple(
        (name, domain_of_column(column))
        for name, column in schema.declared
        if not is_person(schema, name)
    )


def _unique(columns: list[tuple[str, Domain]]) -> dict[str, Domain]:
    if len({name for name, _ in columns}) < len(columns):
        raise UnsupportedQuery("two columns have the same name; give one of them another with AS")
    return dict(columns)


def is_person(schema: Schema, name: str) -> bool:
    """Return whether a name is the person's id of a private table, in any case, as SQL reads names.

    >>> import discreet as dp
    >>> from discreet.query.bounds.relation_facts import is_person
    >>> from discreet.data import Boolean
    >>> is_person(dp.Schema("visits", dp.People("user_id", max_rows=3), {"paid": Boolean()}), "USER_ID")
    True
    """
    return isinstance(schema.unit, People) and schema.unit.id.casefold() == name.casefold()


def _join(join: JoinPublic) -> dict[str, Domain]:
    table, rows = join.table, columns_of(join.rows)
    if not table.public:
        raise UnsupportedQuery(
            f"JOIN with {table.name}: it is private; join private tables on the person"
        )
    public = {name: domain_of_column(column) for name, column in table.declared}
    missing = {column for _, column in (*join.on, *join.columns)} - set(public)
    if missing or not join.on:
        raise UnsupportedQuery(
            f"JOIN with {table.name} needs ON some of its columns {', '.join(public)}"
        )
    for expression, column in join.on:
        _comparable(domain_of(expression, rows), public[column])
    return _unique([*rows.items(), *((name, public[column]) for name, column in join.columns)])


def _pair(join: JoinPeople) -> dict[str, Domain]:
    left, right = columns_of(join.left), columns_of(join.right)
    if join.outer not in ("", "left", "full"):
        raise UnsupportedQuery(f"{join.outer!r} is no join; there are LEFT JOIN and FULL JOIN")
    for mine, yours in join.on:
        _comparable(domain_of(mine, left), domain_of(yours, right))
    return _unique([*left.items(), *right.items()])


def _comparable(x: Domain, y: Domain) -> None:
    """Refuse to match what cannot be compared, such as a number with text."""
    domain_of(Call(Function.EQUAL, (Field("x"), Field("y"))), {"x": x, "y": y})


def _unite(parts: tuple[Relation, ...]) -> dict[str, Domain]:
    every = [columns_of(part) for part in parts]
    if len({tuple(columns) for columns in every}) != 1:
        raise UnsupportedQuery("the parts of UNION ALL need the same columns, in the same order")
    united: dict[str, Domain] = {}
    for name in every[0]:
        options = {str(i): columns[name] for i, columns in enumerate(every)}
        united[name] = domain_of(Call(Function.COALESCE, tuple(map(Field, options))), options)
    return united


def tables_of(relation: Relation) -> tuple[Schema, ...]:
    """List the private tables a relation reads, once for each time it reads them."""
    match relation:
        case Scan(schema=schema):
            return (schema,)
        case Where(rows=rows) | Select(rows=rows) | JoinPublic(rows=rows) | PerPerson(rows=rows):
            return tables_of(rows)
        case JoinPeople(left=left, right=right):
            return tables_of(left) + tables_of(right)
        case Union(parts=parts):
            return tuple(schema for part in parts for schema in tables_of(part))
        case _:
            assert_never(relation)


def unit_of(relation: Relation) -> Unit:
    """Return who is protected: the person that all private tables name, or the rows of the one table there is.

    For people the bounds are the tightest that all tables declare; a window must be the same in all.
    """
    units = [schema.ready().unit for schema in tables_of(relation)]
    people = [unit for unit in units if isinstance(unit, People)]
    if len(people) not in (0, len(units)) or len({(p.id, p.window) for p in people}) > 1:
        raise UnsupportedQuery(
            "these tables protect different units; join or unite only tables of one person's id"
        )
    if not people:
        return Rows()
    groups = [p.max_groups for p in people if p.max_groups is not None]
    most = min(p.max_rows for p in people)
    fewest = min(groups, default=None)
    limit = None if fewest is None else min(fewest, most)
    return People(people[0].id, max_rows=most, max_groups=limit, window=people[0].window)


def neighbours_of(relation: Relation) -> Neighbours:
    """Return which neighbour relation the promise is about: the one that all the private tables declare."""
    relations = {schema.neighbours for schema in tables_of(relation)}
    if len(relations) > 1:
        raise UnsupportedQuery(
            "these tables declare different neighbour relations; declare one for all"
        )
    return relations.pop()


def multiplicity(relation: Relation) -> int:
    """Bound how many rows one *row* unit becomes; only for `Rows`: a person is bounded by shares instead.

    Where and Select keep a row or drop it. A join with a public table makes as many of it as it can match. A table that
    is read twice counts twice. A join of private tables has no bound for rows: it needs a person.
    """
    match relation:
        case Scan():
            return 1
        case Where(rows=rows) | Select(rows=rows):
            return multiplicity(rows)
        case JoinPublic(rows=rows):
            return multiplicity(rows) * most_matches(relation)
        case Union(parts=parts):
            return sum(multiplicity(part) for part in parts)
        case JoinPeople() | PerPerson():
            raise UnboundedSensitivity(
                "JOIN of private tables, or GROUP BY the person, needs tables whose unit is a person: "
                'declare unit=People("id", max_rows=…)'
            )
        case _:
            assert_never(relation)
