"""A question that is chosen from lists: what to know, of which column, split by what, only where.

The fields of a form become `Choices`, and these a question by the language of Python (`dp.Table`).
Its text (`describe`) is the SQL that the page shows, so a chosen question and a written one are one.

Law: tests/service/test_builder.py::TestEveryForm
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date, datetime
from fractions import Fraction

from ....arithmetic.numeral import read_number
from ....data.columns.column import (
    Boolean,
    Column,
    Date,
    Integer,
    Ordered,
    Real,
    Text,
    Timestamp,
)
from ....data.columns.label import key_text
from ....data.schema import Schema
from ....data.unit import People
from ....errors import InvalidArgument
from ....frozen import frozen, replace
from ....query.algebra.statistic import Statistic
from ....query.algebra.tree import Question
from ....query.python import aggregate as statistics
from ....query.python.column import Col, Literal, col
from ....query.python.keys import sets_up_to
from ....query.python.table import Table

MAX_KEYS = 1_000
MAX_LINE = 60
MAX_BARS = 24
"""Most groups along an axis, and most bars of a spread, where the form chooses how to split."""

MAX_TOP = 100
CONDITIONS = 6
NUMBERS = ("integer", "real")
SHORT = {"week": 7, "month": 28, "quarter": 90, "year": 365}
"""Units of time, and the days that each has at least."""


@frozen
class Want:
    """One thing to know: its words, the kinds of columns it can be of, and why no others.

    The kind "" is none: rows are counted.
    """

    words: str
    of: tuple[str, ...]
    why: str


WANTS = {
    "rows": Want("How many", ("",), "to count needs no column"),
    "people": Want("How many people", ("",), "to count needs no column"),
    "mean": Want("How much on average", NUMBERS, "an average needs a number"),
    "sum": Want("How much in all", NUMBERS, "a sum needs a number"),
    "spread": Want(
        "How it is spread",
        (*NUMBERS, "date", "timestamp", "category", "boolean"),
        "its values are not public",
    ),
    "change": Want("How it changes", ("", *NUMBERS), "only numbers have an average"),
    "largest": Want("Who is largest", ("", *NUMBERS), "only numbers have a sum"),
    "median": Want("The middle value (median)", NUMBERS, "a median needs a number"),
    "deviation": Want("The standard deviation", NUMBERS, "a deviation needs a number"),
    "least": Want("The least value", NUMBERS, "a least value needs a number"),
    "greatest": Want("The greatest value", NUMBERS, "a greatest value needs a number"),
}
TESTS = {
    "=": "is",
    "<>": "is not",
    "in": "is one of",
    "between": "is from … to …",
    "<": "is below",
    "<=": "is at most",
    ">": "is above",
    ">=": "is at least",
}
"""Tests of a condition: only the first three are for values without an order."""

TABLES = {
    "these": "just this table",
    "pairs": "every table of up to two of them",
    "cube": "every table of any of them",
    "running": "running totals",
}
"""Tables over the chosen keys. All but the first are several tables that are planned together, so
that their counts add up."""


@frozen
class Condition:
    """One condition as text: a column, a test of TESTS, and a value or a list."""

    column: str
    test: str
    value: str


@frozen
class Choices:
    """What was chosen. `by` and `along` are marks of `key_choices`; without `of` rows are counted.

    `top` is how many of the largest groups are shown.
    """

    table: str
    want: str = "rows"
    of: str = ""
    by: tuple[str, ...] = ()
    along: str = ""
    tables: str = "these"
    top: str = "5"
    where: tuple[Condition, ...] = ()


@frozen
class KeyChoice:
    """A way to split: by a column, or by bins of it; `groups` is how many groups there may be."""

    words: str
    column: str
    key: Col
    groups: int
    ordered: bool


def columns_to_ask(schema: Schema) -> dict[str, Column]:
    """Return the columns that can be asked about: all but the person's id."""
    person = schema.unit.id if isinstance(schema.unit, People) else ""
    return {name: column for name, column in schema.declared if name != person}


def column_words(schema: Schema, name: str) -> str:
    """Return the label of a column, else its name."""
    return schema.columns[name].label or name


def key_choices(schema: Schema) -> dict[str, KeyChoice]:
    """Return all ways to split a table, by marks such as "age", "age|10" and "joined|month".

    >>> import discreet as dp
    >>> from discreet.service.pages.forms.choices import key_choices
    >>> columns = {"age": dp.Integer(0, 99), "joined": dp.Date("2020-01-01", "2021-12-31")}
    >>> list(key_choices(dp.Schema("people", dp.Rows(), columns)))
    ['age', 'age|10', 'joined', 'joined|week', 'joined|month', 'joined|quarter', 'joined|year']
    """
    found: dict[str, KeyChoice] = {}
    for name, column in columns_to_ask(schema).items():
        words = column_words(schema, name)
        for width, key, groups, told in _ways(name, column):
            mark = f"{name}|{width}" if width else name
            ordered = isinstance(column, Ordered)
            found[mark] = KeyChoice(f"{words}{told}", name, key, groups, ordered)
    return found


def _ways(name: str, column: Column) -> Iterator[tuple[str, Col, int, str]]:
    """Yield the ways to split by one column: width, key, number of groups, and words."""
    if not isinstance(column, Ordered):
        groups = 2 if isinstance(column, Boolean) else len(getattr(column, "values", ()))
        yield "", col(name), groups, ""
        return
    if isinstance(column, Integer | Date) and column.width() < MAX_KEYS:
        yield "", col(name), column.width() + 1, " (by day)" if isinstance(column, Date) else ""
    if isinstance(column, Integer | Real):
        span = column.high - column.low
        width = _round_width(Fraction(span) / 15)
        if isinstance(column, Real) or width > 1:
            told = f"{float(width):,.12g}"
            yield (
                str(width),
                col(name) // width * width,
                int(span / width) + 1,
                f" in steps of {told}",
            )
        return
    days = (column.high - column.low).days
    for unit, least in (("day", 1), *SHORT.items()):
        # A Date is already its own day.
        if 1 < days / least < MAX_KEYS and not (unit == "day" and isinstance(column, Date)):
            yield unit, col(name).truncate(unit), days // least + 1, f" by {unit}"


def _round_width(width: Fraction) -> Fraction:
    """Return the least of 1, 2 and 5 times a power of ten that is at least `width`.

    >>> from fractions import Fraction
    >>> from discreet.service.pages.forms.choices import _round_width
    >>> [str(_round_width(Fraction(x))) for x in ("12", "0.3", "25000")]
    ['20', '1/2', '50000']
    """
    power = Fraction(1)
    while power > width:
        power /= 10
    while power * 10 <= width:
        power *= 10
    return next(power * digit for digit in (1, 2, 5, 10) if power * digit >= width)


def axes_of(schema: Schema) -> dict[str, KeyChoice]:
    """Return the ways to split that have an order; times come first."""
    ways = {mark: way for mark, way in key_choices(schema).items() if way.ordered}
    times = {mark: way for mark, way in ways.items() if _is_time(schema, way)}
    return times | ways


def _is_time(schema: Schema, way: KeyChoice) -> bool:
    return isinstance(schema.columns[way.column], Date | Timestamp)


def _fitting(ways: Mapping[str, KeyChoice], most: int) -> str:
    """Return the finest way of at most `most` groups, else the coarsest."""
    fitting = [mark for mark, way in ways.items() if way.groups <= most]
    if fitting:
        return max(fitting, key=lambda mark: ways[mark].groups)
    return min(ways, key=lambda mark: ways[mark].groups, default="")


def usual_axis(schema: Schema) -> str:
    """Return the axis that a change is shown along unless another is chosen: a time, if there is one."""
    ways = axes_of(schema)
    first = next(iter(ways.values()), None)
    if first is None:
        return ""
    return _fitting({m: way for m, way in ways.items() if way.column == first.column}, MAX_LINE)


def read_choices(form: Mapping[str, str], schemas: tuple[Schema, ...]) -> Choices:
    """Read the fields of a form, with defaults for those that are missing.

    Refuses: a table that is not there.
    """
    private = {schema.name: schema for schema in schemas if not schema.public}
    schema = private.get(form.get("table") or next(iter(private), ""))
    if schema is None:
        raise InvalidArgument(f"choose one of the tables {', '.join(private)}")
    where = []
    for number in range(1, CONDITIONS + 1):
        column, value = form.get(f"if{number}", ""), form.get(f"value{number}", "").strip()
        if column and value:
            where.append(Condition(column, form.get(f"test{number}", "="), value))
    marks = (form.get(field, "") for field in ("by", "and", "with"))
    return Choices(
        table=schema.name,
        want=form.get("want", "rows"),
        of=form.get("of", ""),
        by=tuple(dict.fromkeys(filter(None, marks))),
        along=form.get("along") or usual_axis(schema),
        tables=form.get("tables", "these"),
        top=form.get("top", "5").strip(),
        where=tuple(where),
    )


def question_of(chosen: Choices, schema: Schema) -> Question:
    """Return the question that was chosen.

    >>> import discreet as dp
    >>> from discreet.query import describe
    >>> from discreet.service.pages.forms.choices import Choices, Condition, question_of
    >>> columns = {"age": dp.Integer(0, 99), "sex": dp.Category([0, 1], labels={0: "woman", 1: "man"})}
    >>> people = dp.Schema("people", dp.Rows(), columns)
    >>> women = Condition("sex", "=", "Woman")
    >>> print(describe(question_of(Choices("people", "mean", "age", where=(women,)), people)))
    SELECT AVG(age) AS mean_age
    FROM people
    WHERE sex = 0

    Refuses: what is not on the lists, and values that do not fit their column, by InvalidArgument.
    """
    want = WANTS.get(chosen.want)
    if want is None or (chosen.want == "people" and not isinstance(schema.unit, People)):
        raise InvalidArgument("choose what you want to know from the list")
    if chosen.of not in ("", *columns_to_ask(schema)):
        raise InvalidArgument(
            f"{chosen.of} is no column of {schema.name}; choose one from the list"
        )
    # To count needs no column, so one that is left from another choice says nothing.
    of = "" if want.of == ("",) else chosen.of
    kind = schema.columns[of].kind if of else ""
    if kind not in want.of:
        what = f"{column_words(schema, of)} is {_kind_words(kind)}" if of else "none is chosen"
        raise InvalidArgument(f"{want.why}, and {what}; choose another column")
    keys = _keys(chosen, of, schema)
    rows = Table(schema)
    conditions = [_condition(one, schema) for one in chosen.where]
    if conditions:
        rows = rows.where(*conditions)
    named = _named(chosen.want, of, bool(keys) and chosen.tables != "running")
    if chosen.want == "largest":
        name = next(iter(named))
        order, limit = [f"-{name}"], _top(chosen.top)
        return rows.aggregate(by=keys, order=order, limit=limit, **named)  # type: ignore[arg-type]
    return _together(rows.aggregate(by=keys, **named), chosen)  # type: ignore[arg-type]


def _kind_words(kind: str) -> str:
    return {"boolean": "yes or no", "text": "free text"}.get(kind, f"a {kind}")


def _keys(chosen: Choices, of: str, schema: Schema) -> dict[str, Col]:
    """Return the keys by their names: first the axis of a change or spread, then what splits it."""
    ways = key_choices(schema)
    marks = list(chosen.by)
    if chosen.want == "change":
        marks.insert(0, chosen.along)
    if chosen.want == "spread":
        own = {mark: way for mark, way in ways.items() if way.column == of}
        marks.insert(0, _fitting(own, MAX_BARS))
    if chosen.want == "largest" and not marks:
        raise InvalidArgument("the largest of what; choose a column under “for each”")
    keys: dict[str, Col] = {}
    for mark in marks:
        way = ways.get(mark)
        if way is None:
            raise InvalidArgument(
                f"{schema.name} cannot be split by {mark!r}; choose from the list"
            )
        if way.column in keys:
            raise InvalidArgument(
                f"{column_words(schema, way.column)} is there twice; split by another column"
            )
        keys[way.column] = way.key
    return keys


def _named(want: str, of: str, by_group: bool) -> dict[str, Statistic]:
    """Return the statistics by the names of their columns; an average by group has its count."""
    # Names of columns have at most 63 bytes.
    name = of if len(of.encode()) < 40 else "value"
    match want:
        case "people":
            return {"people": statistics.count_people()}
        case "mean" | "change" if of:
            mean = {f"mean_{name}": statistics.mean(of)}
            return {"n": statistics.count(), **mean} if by_group and want == "mean" else mean
        case "sum" | "largest" if of:
            return {f"sum_{name}": statistics.sum_of(of)}
        case "median":
            return {f"median_{name}": statistics.median(of)}
        case "deviation":
            return {f"deviation_{name}": statistics.standard_deviation(of)}
        case "least":
            return {f"least_{name}": statistics.minimum(of)}
        case "greatest":
            return {f"greatest_{name}": statistics.maximum(of)}
        case _:
            return {"n": statistics.count()}


def _together(question: Question, chosen: Choices) -> Question:
    """Return the question with the other tables over its keys that were chosen."""
    if chosen.tables not in TABLES:
        raise InvalidArgument(f"choose one of {', '.join(TABLES.values())}")
    names = [key.name for key in question.keys]
    if chosen.tables == "these" or not names:
        return question
    if chosen.tables == "running":
        if len(names) > 1 or [name for name, _ in question.statistics] != ["n"]:
            raise InvalidArgument("running totals are counts along one key; choose one column")
        return replace(question, running=True)
    most = min(2, len(names)) if chosen.tables == "pairs" else len(names)
    return replace(question, sets=sets_up_to(names, most))


def _top(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text[:4]) <= MAX_TOP:
        raise InvalidArgument(f"how many of the largest must be a number from 1 to {MAX_TOP}")
    return int(text)


def _condition(condition: Condition, schema: Schema) -> Col:
    """Return a condition; its value is read by the type of the column."""
    column = columns_to_ask(schema).get(condition.column)
    if column is None:
        raise InvalidArgument(f"{condition.column} is no column of {schema.name}; choose another")
    name = column_words(schema, condition.column)
    tests = tuple(TESTS)[: None if isinstance(column, Ordered) else 3]
    if condition.test not in tests:
        listed = ", ".join(TESTS[test] for test in tests)
        raise InvalidArgument(f"{name} can be compared by: {listed}")
    x = col(condition.column)
    if condition.test == "in":
        return x.is_in([_value(column, name, one.strip()) for one in condition.value.split(",")])
    if condition.test == "between":
        low, to, high = condition.value.replace("…", " to ").partition(" to ")
        if not to:
            raise InvalidArgument(f"{name}: write both ends, such as 10 to 20")
        return x.between(_value(column, name, low.strip()), _value(column, name, high.strip()))
    value = _value(column, name, condition.value)
    match condition.test:
        case "=":
            return x == value
        case "<>":
            return x != value
        case "<":
            return x < value
        case "<=":
            return x <= value
        case ">":
            return x > value
        case _:
            return x >= value


def _value(column: Column, name: str, text: str) -> Literal:
    """Read a value by the type of its column; keys also by their labels, in any case."""
    match column:
        case Integer() | Real():
            return read_number(text, name)
        case Date() | Timestamp():
            return _moment(column, name, text)
        case Text():
            return text
        case Boolean():
            words: dict[str, Literal] = {"yes": True, "no": False, "true": True, "false": False}
        case _:
            listed = column.keys()
            words = {key_text(key).casefold(): key for key in listed if key is not None}
    words |= {label.casefold(): key for key, label in column.labels or ()}
    if text.casefold() not in words:
        known = ", ".join(list(words)[:8])
        raise InvalidArgument(f"{name} has no value {text!r}; there are {known}")
    return words[text.casefold()]


def _moment(column: Date | Timestamp, name: str, text: str) -> date:
    try:
        if isinstance(column, Date):
            return date.fromisoformat(text)
        return datetime.fromisoformat(text)
    except ValueError:
        raise InvalidArgument(f"{name} is a date; write it as {column.low.isoformat()}") from None
