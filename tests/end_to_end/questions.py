"""Random questions over random hostile tables, and neighbours of these tables."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod
from random import Random

from hypothesis import assume
from hypothesis import strategies as st

from discreet.data import People, Rows
from discreet.errors import DiscreetError
from discreet.plan import Plan, plan_question
from discreet.privacy.measures import ZCDP, ApproxDP, PureDP
from discreet.query.algebra.expression import Call, Field, Function
from discreet.query.algebra.statistic import (
    Correlation,
    Count,
    CountDistinct,
    CountOf,
    CountPeople,
    Covariance,
    Mean,
    Mode,
    Quantile,
    Sum,
    Variance,
)
from discreet.query.algebra.tree import Finish, Key, Nest, Question
from discreet.query.bounds.check import require_sound
from discreet.query.bounds.keys import public_keys
from discreet.query.bounds.nested import in_order
from discreet.query.bounds.relation_facts import columns_of
from discreet.query.domains.domain import Whole
from engines.hostile import CITY_ROWS, IDS, VALUES, expression, private_table, relation
from engines.tables import Table

PUBLIC = {
    ("cities", "name"): ["N", "S", "Rome"],
    ("cities", "code"): [0, 1, 3, 7, 9],
    ("cities", "rate"): [0.5, 1.0, 2.0],
}


def public_values(table, column):
    return PUBLIC[table, column]


@dataclass(frozen=True)
class QuestionOptions:
    """A plan, and the tables it is run on; `ids` are those that rows may have."""

    plan: Plan
    tables: dict[str, Table]
    unit: People | Rows
    relation: str


@st.composite
def databases(draw):
    """Two private tables of one unit and one neighbour relation, and a public one."""
    people = st.sampled_from(
        [
            People("id", max_rows=3),
            People("id", max_rows=6, max_groups=2),
            People("id", max_rows=1),
            People("id", max_rows=5, max_groups=4, max_rows_per_group=2),
        ]
    )
    unit = draw(st.one_of(people, people, people, st.just(Rows())))
    ids, near = draw(IDS), draw(st.sampled_from(["add-remove", "replace"]))
    schemas, tables = [], {"cities": CITY_ROWS}
    for name in ("many", "few"):
        schema, tables[name] = draw(private_table(name, unit, ids, None))
        schemas.append(type(schema)(name, unit, schema.columns, neighbours=near))
    return tables, schemas, unit, near


@st.composite
def statistic(draw, columns, person, keyed):
    some = draw(
        st.sampled_from(
            ["count", "of", "people", "distinct", "sum", "mean", "spread", "pair", "place", "mode"]
        )
    )
    number = draw(expression(columns, Whole))
    if some in ("place", "mode") and keyed:
        some = "sum"  # a choice in every key is one among all combinations: too many to list
    match some:
        case "of":
            return CountOf(draw(expression(columns)))
        case "people" if person:
            return CountPeople()
        case "distinct":
            return CountDistinct(
                draw(st.sampled_from([Field(name) for name in columns]) | expression(columns))
            )
        case "sum":
            return Sum(number)
        case "mean":
            return Mean(number)
        case "spread":
            return Variance(number, draw(st.booleans()), draw(st.booleans()))
        case "pair":
            other = draw(expression(columns, Whole))
            return draw(st.sampled_from([Covariance(number, other), Correlation(number, other)]))
        case "place":
            return Quantile(
                number,
                draw(st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(9, 10), Fraction(1)])),
            )
        case "mode":
            return Mode(draw(st.sampled_from([Field(name) for name in columns])))
        case _:
            return Count()


@st.composite
def questions(draw):
    """A question with its plan over tables; what is refused is drawn again."""
    tables, schemas, unit, near = draw(databases())
    try:
        rows = draw(relation(schemas))
        columns = columns_of(rows)
        keys = tuple(
            draw(_key(f"k{i}", columns, rows))
            for i in range(draw(st.sampled_from([0, 0, 1, 1, 2])))
        )
        person = isinstance(unit, People)
        statistics = tuple(
            (f"s{i}", draw(statistic(columns, person, bool(keys))))
            for i in range(draw(st.integers(1, 3)))
        )
        asked = Question(
            rows, keys, statistics, draw(_finish(keys, statistics)), nested=draw(_chosen(keys))
        )
        question = require_sound(asked, public_values)
        hidden = any(key.values is None for key in keys)
        spends = [ApproxDP(1, "1e-2")] if hidden else [PureDP(1), ZCDP("1/2"), ApproxDP(2, "1e-6")]
        plan = plan_question(question, draw(st.sampled_from(spends)), public_values=public_values)
    except DiscreetError:
        assume(False)
    return QuestionOptions(plan, tables, unit, near)


@st.composite
def _key(draw, name, columns, rows):
    found = draw(st.sampled_from([Field(column) for column in columns]) | expression(columns))
    return Key(name, found, public_keys(found, rows, 200, public_values))


@st.composite
def _chosen(draw, keys):
    """A few combinations of public keys, as RIGHT JOIN of a list chooses them, or none: all are asked."""
    lists = [key.values for key in keys]
    if not lists or not all(lists) or prod(map(len, lists)) > 400 or draw(st.booleans()):
        return None
    rows = draw(
        st.lists(st.sampled_from(list(product(*lists))), min_size=1, max_size=6, unique=True)
    )
    return Nest(tuple(range(len(keys))), in_order(rows))


@st.composite
def _finish(draw, keys, statistics):
    columns = [(key.name, Field(key.name)) for key in keys] + [
        (name, Field(name)) for name, _ in statistics
    ]
    number = next((name for name, s in statistics if isinstance(s, Count | Sum | CountOf)), None)
    if number is None or draw(st.booleans()):
        return Finish(tuple(columns))
    more = draw(st.sampled_from([Function.ADD, Function.MULTIPLY, Function.DIVIDE]))
    columns.append(("made", Call(more, (Field(number), Field(number)))))
    return Finish(
        tuple(columns),
        order=((Field(number), draw(st.booleans())),),
        limit=draw(st.sampled_from([None, 1, 3])),
    )


def same(a: object, b: object) -> bool:
    """Tell whether two ids are one person's: equal, or both no number."""
    return a == b or (a != a and b != b)  # noqa: PLR0124 - NaN is nobody's equal


def neighbour(asked: QuestionOptions, random: Random) -> dict[str, Table]:
    """Remove a unit, or replace it: a person's rows in all tables, up to 40, or one row of one table."""
    changed = dict(asked.tables)
    if isinstance(asked.unit, Rows):
        name = random.choice(["many", "few"])
        changed[name] = _other_row(changed[name], asked.relation, random)
        return changed
    ids = [row[-1] for name in ("many", "few") for row in changed[name].rows if row[-1] is not None]
    who = random.choice(ids) if ids else None
    for name in ("many", "few"):
        table = changed[name]
        kept = [row for row in table.rows if who is None or not same(row[-1], who)]
        new = [] if asked.relation == "add-remove" or who is None else _rows(table, who, random)
        changed[name] = Table(table.types, [*kept, *new])
    return changed


def _other_row(table: Table, near: str, random: Random) -> Table:
    rows = list(table.rows)
    if rows:
        place = random.randrange(len(rows))
        rows[place : place + 1] = [] if near == "add-remove" else [_row(table, random)]
    return Table(table.types, rows)


def _row(table: Table, random: Random) -> tuple[object, ...]:
    return tuple(random.choice([None, *VALUES[stored] * 3]) for stored in table.types.values())


def _rows(table: Table, who: object, random: Random) -> list[tuple[object, ...]]:
    """Give a person other rows: none, a few, or forty."""
    return [(*_row(table, random)[:-1], who) for _ in range(random.choice([0, 1, 2, 5, 40]))]
