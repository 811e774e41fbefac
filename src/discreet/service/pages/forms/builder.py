"""Query builder without SQL: choose a statistic, a column, groups and a condition; it writes the question.

The form needs no script. It redirects to the workbench with the question in the editor. That address holds the
SQL, so it can be kept and sent to others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from starlette.responses import Response
from starlette.routing import Route

from ....arithmetic.numeral import read_number
from ....data.columns.column import Boolean, Category, Column, Date, Integer, Real, Text
from ....data.schema import Schema
from ....data.unit import People
from ....errors import InvalidArgument
from ....frozen import frozen
from ...state import State
from ..page_request import PageRequest, for_analysts, to

TABLES = {
    "these": "just this table",
    "pairs": "every table of up to two of them",
    "cube": "every table of any of them",
    "running": "running totals",
}
"""Choices of tables over the chosen keys. All but the first are several tables that are planned
together, so that their counts add up."""
KEY_FIELDS = ("by", "and", "with")


def key_fields(form: Mapping[str, str], schema: Schema) -> tuple[str, ...]:
    """Read the columns to group by from the fields of a form, in their order, each once.

    Refuses: a name that is no column of the table.
    """
    names = tuple(dict.fromkeys(form[field] for field in KEY_FIELDS if form.get(field)))
    known = [name for name, _ in schema.declared]
    if any(name not in known for name in names):
        raise InvalidArgument(f"choose a column of {schema.name}: {', '.join(known)}")
    return names


def write_groups(keys: Sequence[str], tables: str) -> str:
    """Write the GROUP BY of the columns `keys`; `tables` is a choice of TABLES.

    >>> from discreet.service.pages.forms.builder import write_groups
    >>> write_groups(["sex", "age"], "pairs")
    'GROUP BY GROUPING SETS ((), (sex), (age), (sex, age))'
    >>> write_groups(["sex", "age"], "cube"), write_groups(["sex"], "these")
    ('GROUP BY CUBE (sex, age)', 'GROUP BY sex')

    Refuses: a `tables` that is not in TABLES.
    """
    if tables not in TABLES:
        raise InvalidArgument(f"choose one of {', '.join(TABLES.values())}")
    if tables == "pairs":
        sets = [part for size in range(min(2, len(keys)) + 1) for part in combinations(keys, size)]
        return f"GROUP BY GROUPING SETS ({', '.join('(' + ', '.join(part) + ')' for part in sets)})"
    listed = ", ".join(keys)
    return f"GROUP BY CUBE ({listed})" if tables == "cube" else f"GROUP BY {listed}"


def running_key(keys: Sequence[str], statistic: str, schema: Schema) -> str:
    """Return the only key, along which running totals are added up.

    Refuses: none or several keys, a key that is neither an integer nor a date, and any statistic
    but "rows" and "sum".
    """
    if statistic not in ("rows", "sum"):
        raise InvalidArgument(
            "running totals are of counts and sums; choose how many rows, or the sum of a column"
        )
    ordered = [name for name, column in schema.declared if isinstance(column, Integer | Date)]
    if len(keys) != 1 or keys[0] not in ordered:
        among = (
            f"one of {', '.join(ordered)}"
            if ordered
            else f"a key with an order, which {schema.name} does not have"
        )
        raise InvalidArgument(f"running totals go along one key that has an order; choose {among}")
    return keys[0]


STATISTICS = {
    "rows": ("how many rows", "COUNT(*)", "n"),
    "people": ("how many people", "COUNT(DISTINCT {id})", "people"),
    "mean": ("the mean of", "AVG({of})", "mean_{of}"),
    "sum": ("the sum of", "SUM({of})", "sum_{of}"),
    "median": ("the median of", "MEDIAN({of})", "median_{of}"),
    "deviation": ("the standard deviation of", "STDDEV({of})", "deviation_{of}"),
    "least": ("the least of", "MIN({of})", "least_{of}"),
    "greatest": ("the greatest of", "MAX({of})", "greatest_{of}"),
}
"""Name of a statistic on the page, its SQL, and the name of its column in the answer."""
TESTS = {
    "=": "is",
    "<>": "is not",
    "<": "is below",
    "<=": "is at most",
    ">": "is above",
    ">=": "is at least",
}
MAX_KEYS = 1_000


@frozen
class BuilderForm:
    """Choices that the query builder offers for one table; `numbers` are its columns of numbers."""

    table: str
    statistics: tuple[tuple[str, str], ...]
    numbers: tuple[str, ...]
    keys: tuple[str, ...]
    columns: tuple[str, ...]
    tests: tuple[tuple[str, str], ...] = tuple(TESTS.items())
    tables: tuple[tuple[str, str], ...] = tuple(TABLES.items())


def builders(schemas: tuple[Schema, ...]) -> tuple[BuilderForm, ...]:
    """Return the forms of all private tables.

    >>> import discreet as dp
    >>> from discreet.service.pages.forms.builder import builders
    >>> builders((dp.Schema("people", dp.Rows(), {"age": dp.Integer(0, 99), "sex": dp.Category(["f", "m"])}),))[0].keys
    ('age', 'sex')
    """
    return tuple(_builder(schema) for schema in schemas if not schema.public)


def _builder(schema: Schema) -> BuilderForm:
    """Return the choices that the columns and the unit of a table allow."""
    numbers = tuple(name for name, column in schema.declared if isinstance(column, Integer | Real))
    keys = tuple(name for name, column in schema.declared if _is_key(column))
    known = [
        (key, words)
        for key, (words, sql, _) in STATISTICS.items()
        if ("{of}" not in sql or numbers) and (key != "people" or isinstance(schema.unit, People))
    ]
    return BuilderForm(
        schema.name, tuple(known), numbers, keys, tuple(name for name, _ in schema.declared)
    )


def _is_key(column: Column) -> bool:
    if isinstance(column, Integer | Date):
        return column.width() < MAX_KEYS
    return isinstance(column, Category | Boolean | Text)


def write_question(form: Mapping[str, str], schemas: tuple[Schema, ...]) -> str:
    """Write the SQL of the question that the fields of a form describe.

    >>> import discreet as dp
    >>> from discreet.service.pages.forms.builder import write_question
    >>> people = dp.Schema("people", dp.Rows(), {"age": dp.Integer(0, 99), "sex": dp.Category(["f", "m"])})
    >>> form = {"table": "people", "statistic": "mean", "of": "age", "by": "sex"}
    >>> print(write_question(form | {"if": "age", "test": ">", "value": "17"}, (people,)))
    SELECT sex, COUNT(*) AS n, AVG(age) AS mean_age
    FROM people
    WHERE age > 17
    GROUP BY sex
    >>> print(write_question(form | {"statistic": "rows", "and": "age", "tables": "cube"}, (people,)))
    SELECT sex, age, COUNT(*) AS n
    FROM people
    GROUP BY CUBE (sex, age)

    Refuses: names that are not declared, and values that do not fit the type of their column.
    """
    schema = next(
        (one for one in schemas if one.name == form.get("table") and not one.public), None
    )
    if schema is None:
        raise InvalidArgument("choose one of the tables")
    key, unit = form.get("statistic", "rows"), schema.unit
    if key not in dict(_builder(schema).statistics):
        raise InvalidArgument(
            f"choose a statistic of {schema.name}: {', '.join(dict(_builder(schema).statistics))}"
        )
    _, sql, name = STATISTICS[key]
    names = {
        "of": _column(form, "of", schema) if "{of}" in sql else "",
        "id": getattr(unit, "id", ""),
    }
    by, tables = key_fields(form, schema), form.get("tables") or "these"
    value = sql.format(**names)
    if tables == "running":
        value = f"SUM({value}) OVER (ORDER BY {running_key(by, key, schema)})"
    counted = (
        ["COUNT(*) AS n"] if by and key not in ("rows", "people") and tables != "running" else []
    )
    lines = [
        f"SELECT {', '.join([*by, *counted, f'{value} AS {name.format(**names)}'])}",
        f"FROM {schema.name}",
    ]
    if form.get("if") and form.get("value", "").strip():
        lines.append(f"WHERE {_condition(form, schema)}")
    return "\n".join([*lines, write_groups(by, tables)] if by else lines)


def _column(form: Mapping[str, str], field: str, schema: Schema) -> str:
    """Return the column that a field of the form names; refuse an undeclared one."""
    name = form.get(field, "")
    if name not in dict(schema.declared):
        raise InvalidArgument(
            f"choose a column of {schema.name}: {', '.join(name for name, _ in schema.declared)}"
        )
    return name


def _condition(form: Mapping[str, str], schema: Schema) -> str:
    name, test, value = _column(form, "if", schema), form.get("test", "="), form["value"].strip()
    if test not in TESTS:
        raise InvalidArgument(f"choose one of {', '.join(TESTS.values())}")
    return f"{name} {test} {_literal(dict(schema.declared)[name], name, value)}"


def _literal(column: Column, name: str, value: str) -> str:
    """Write a value as SQL reads it, by the type of its column."""
    match column:
        case Integer() | Real() | Category(of="integer"):
            read_number(value, name)
            return value
        case Boolean() | Category(of="boolean"):
            if value.lower() not in ("true", "false", "yes", "no"):
                raise InvalidArgument(f"{name} is yes or no")
            return "TRUE" if value.lower() in ("true", "yes") else "FALSE"
        case Date():
            return f"DATE '{_quote(value)}'"
        case Text() | Category():
            return f"'{_quote(value)}'"
        case _:
            return f"TIMESTAMP '{_quote(value)}'"


def _quote(value: str) -> str:
    return value.replace("'", "''")


def builder_routes(state: State) -> list[Route]:
    """Return the route that turns a form into a question."""
    return [Route("/workbench/{dataset}/build", for_analysts(state, _build), methods=["GET"])]


def _build(visit: PageRequest) -> Response:
    name: str = visit.request.path_params["dataset"]
    visit.state.datasets.check(visit.person, name)
    sql = write_question(dict(visit.request.query_params), visit.state.datasets.schemas(name))
    return to(f"/workbench/{name}", sql=sql)
