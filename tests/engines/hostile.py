"""Random tables full of what goes wrong, and random tallies over them."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction

from hypothesis import assume
from hypothesis import strategies as st

from discreet.data import (
    Boolean,
    Category,
    Date,
    Integer,
    People,
    Real,
    Rows,
    Schema,
    Text,
    Timestamp,
)
from discreet.engines.tally_analysis import understand
from discreet.errors import UnsupportedQuery
from discreet.query.algebra.expression import Call, Constant, Expression, Field, Function
from discreet.query.algebra.tally import Free, GroupRowShare, GroupShare, RowShare, Tally, Term
from discreet.query.algebra.tree import (
    JoinPeople,
    JoinPublic,
    PerPerson,
    Scan,
    Select,
    Total,
    Union,
    Where,
)
from discreet.query.bounds.relation_facts import columns_of
from discreet.query.domains.calendar import UNITS
from discreet.query.domains.domain import Day, Second, Texts, Truth, Whole
from discreet.query.domains.domain_of import domain_of
from engines.tables import Table

F = Function
INT64 = (-(2**63), 2**63 - 1)

WORDS = (
    ["", " ", "N", "S", " N", "n", "Ä", "👍🏽", "a%b", "a_b", "a\\b", "it's", "x\ny", "12", " 7 ", "-3", "+4", "0x1F", "1e3",
     "-2.5", ".5", "5.", "1e99", "1e-99", "nan", "inf", "-inf", "Infinity", "1_000", "12a", "12\n", "2024-05-01\n", "9" * 18, "9" * 19, "-" + "9" * 25,
     "9" * 41, "4503599627370497", "true", "YES", "f", "0", "1", "2024-02-29", "2023-02-29", "1900-02-29", "2000-02-29",
     "0000-01-01", "0001-01-01", "9999-12-31", "2024-05-01T23:59:59Z", "2024-05-01 09:30", "2024-05-01 24:00",
     "1969-12-31T23:59:59.999", "2024-13-01", "2024-05-01 ", "2024-05-01T09:30:15+02", "Trondheim", "other", "-0.0",
     "0.49999999999999994", "1.7976931348623157e30"]
)  # fmt: skip
INTEGERS = [0, 1, -1, 2, 3, 5, 7, -8, 9, 10, 100, 2**31, -(2**31), 2**52, 2**53 + 1, *INT64]
DOUBLES = (
    [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 0.1, 0.49999999999999994, 1e-320, 5e-324, 1e-20, -1e-20, 1e18, -1e18,
     9.3e18, 1e300, -1e300, 1.7976931348623157e308, float("inf"), float("-inf"), float("nan"), 4503599627370496.5,
     4503599627370497.0, 3.0, 7.0, 0.125, 2.675, 1234.5]
)  # fmt: skip
REALS = [0.0, 1.0, 0.5, -2.5, 3.0, float("inf"), float("nan"), 2.0**-126, 0.125]
DECIMALS = [
    Decimal(t)
    for t in (
        "0",
        "1",
        "-2.5",
        "0.5",
        "3.000001",
        "-0.000001",
        "12345678901234567.891234",
        "1e30",
        "-1e30",
        "7",
    )
]
DAYS = ([date(1, 1, 1), date(1969, 12, 31), date(1970, 1, 1), date(2024, 2, 29), date(2024, 5, 1),
                        date(2024, 12, 31), date(9999, 12, 31)])  # fmt: skip
TIMES = (
    [datetime(1, 1, 2), datetime(1969, 12, 31, 23, 59, 59, 999_999), datetime(1970, 1, 1), datetime(2024, 2, 29, 12, 30, 15),
     datetime(2024, 5, 1, 9, 30, 15, 750_000), datetime(2024, 12, 31, 23, 59, 59, 500_000), datetime(9999, 12, 30)]
)  # fmt: skip
VALUES = {
    "bigint": INTEGERS,
    "integer": [0, 1, -1, 3, 7, 2**31 - 1, -(2**31)],
    "double": DOUBLES,
    "real": REALS,
    "decimal": DECIMALS,
    "text": WORDS,
    "boolean": [False, True],
    "date": DAYS,
    "timestamp": TIMES,
    "timestamptz": [time.replace(tzinfo=UTC) for time in TIMES],
}
STORED = {name: st.sampled_from(values) for name, values in VALUES.items()}
COLUMN_LIST = (
    [Integer(-5, 9), Integer(0, 100, default=3), Integer(2**52, 2**52 + 1), Integer(-(2**62), 2**62 - 1), Integer(1, 3, null_key=True),
     Real(-2, 3, step=0.25), Real(0, 1000), Real(0, 500, step=0.01, default=1), Real(-1e6, 1e6, step=1000), Real(2**52, 2**52 + 1),
     Real(-1, 1, step=2**-60), Date("2024-01-01", "2024-12-31"), Date("1969-01-01", "2030-12-31", default="2024-05-01"),
     Timestamp("1969-06-01T00:00:00", "2024-12-31T23:59:59"), Timestamp("2024-05-01T09:00:00", "2024-05-01T10:00:00", null_key=True),
     Category(["N", "S", "it's", ""]), Category(["N", "S"], other=True), Category(["12", "7"], default="7", other="Z"),
     Category([0, 1, 7, 12], null_key=True), Category([1, 3], other=-1), Category([True, False]), Category([True], default=True),
     Boolean(), Boolean(default=False), Text(3), Text(40, default="none"), Text(2, null_key=True)]
)  # fmt: skip
COLUMNS = st.sampled_from(COLUMN_LIST)
CITIES = Schema.public_table(
    "cities", {"code": Integer(0, 20), "name": Category(["N", "S", "Rome"]), "rate": Real(0, 2, step=0.5)}, key="code", max_rows={"rate": 2},
)  # fmt: skip
CITY_ROWS = Table(
    {"code": "bigint", "name": "text", "rate": "double"},
    [
        (0, "N", 0.5),
        (1, "S", 2.5),
        (3, "Oslo", None),
        (7, "Rome", 1.0),
        (None, "N", 1.0),
        (None, "S", 0.0),
        (9, None, 0.2),
    ],
)


NATURAL = {
    "integer": ["bigint", "integer", "double", "text"],
    "real": ["double", "real", "decimal", "text"],
    "date": ["date", "timestamp", "text"],
    "timestamp": ["timestamp", "timestamptz", "text"],
    "boolean": ["boolean", "bigint", "text"],
    "text": ["text"],
    "category": ["text", "text", "bigint", "double", "boolean"],
}


@st.composite
def private_table(draw, name, unit, ids, at):
    """A schema, and rows that need not respect it; the id is stored as `ids`, the window's time as `at`."""
    declared = {f"{name}_{i}": draw(COLUMNS) for i in range(draw(st.integers(2, 4)))}
    types = {
        label: draw(st.sampled_from(NATURAL[column.kind] * 3 + ["text", *STORED]))
        for label, column in declared.items()
    }
    if at is not None:
        declared["at"], types["at"] = Timestamp("2023-06-01T00:00:00", "2024-12-31T23:59:59"), at
    values = [
        st.one_of(STORED[stored], STORED[stored], STORED[stored], st.none())
        for stored in types.values()
    ]
    if isinstance(unit, People):
        types, values = {**types, "id": ids[0]}, [*values, ids[1]]
    most = 40 if name == "many" else 8
    least = draw(st.sampled_from([0, most // 3, most // 3, most // 3]))
    rows = draw(st.lists(st.tuples(*values), min_size=least, max_size=most))
    return Schema(name, unit, declared), Table(types, rows)


IDS = st.sampled_from(
    [("bigint", st.sampled_from([1, 1, 1, 2, 3, None])), ("text", st.sampled_from(["a", "a", "A", "b ", "b", "", None])),
     ("double", st.sampled_from([1.0, 1.0, -0.0, 0.0, float("nan"), None])), ("date", STORED["date"] | st.none())]
)  # fmt: skip


@st.composite
def database(draw):
    """Two private tables of one unit, and a public one."""
    window = draw(st.sampled_from([None, None, "hour", "day", "week", "month", "quarter", "year"]))
    at = (
        None
        if window is None
        else draw(st.sampled_from(["timestamp", "timestamptz", "text", "date"]))
    )
    people = People("id", max_rows=3, window=None if window is None else ("at", window))
    unit = draw(st.sampled_from([people, people, people, Rows()]))
    ids, at = draw(IDS), at if isinstance(unit, People) else None
    first, rows = draw(private_table("many", unit, ids, at))
    second, more = draw(private_table("few", unit, ids, at))
    return {"many": rows, "few": more, "cities": CITY_ROWS}, (first, second)


@st.composite
def relation(draw, schemas, depth=2):
    """A relation over the tables, in which every column still has a name of its own."""
    first, second = schemas
    rows = Scan(draw(st.sampled_from([first, second])))
    for level in range(draw(st.integers(0, depth))):
        rows = draw(_above(rows, schemas, level))
    return rows


@st.composite
def _above(draw, rows, schemas, level):
    columns = columns_of(rows)
    people = isinstance(schemas[0].unit, People)
    options = ["where", "select", "public", "union"] + ["people", "person"] * people
    match draw(st.sampled_from(options)):
        case "where":
            test = draw(expression(columns, Truth))
            return Where(
                rows, Call(F.COALESCE, (test, Constant(True))) if draw(st.booleans()) else test
            )
        case "select":
            kept = {name: Field(name) for name in columns if draw(st.booleans())}
            return Select(rows, (*kept.items(), (f"made{level}", draw(expression(columns)))))
        case "public":
            on = (
                (draw(expression(columns, Whole)), draw(st.sampled_from(["code", "code", "rate"]))),
            )
            added = ((f"city{level}", "name"), (f"rate{level}", "rate"))
            return JoinPublic(rows, CITIES, on, added, keep=draw(st.booleans()))
        case "union":
            return Union((rows, Where(rows, draw(expression(columns, Truth)))))
        case "people":
            other = schemas[1]
            renamed = tuple((f"r{level}_{name}", Field(name)) for name in columns_of(Scan(other)))
            more = (
                draw(expression(columns, Whole)),
                draw(expression(columns_of(Select(Scan(other), renamed)), Whole)),
            )
            on = (more,) if draw(st.integers(0, 3)) == 0 else ()
            return JoinPeople(
                rows,
                Select(Scan(other), renamed),
                on,
                draw(st.sampled_from(["", "", "left", "full"])),
            )
        case _:
            return _person(draw, rows, columns, level)


def _person(draw, rows, columns, level):
    keys = ((f"key{level}", draw(expression(columns))),) if draw(st.booleans()) else ()
    number = draw(expression(columns, Whole))
    step = domain_of(number, columns).step
    what = draw(st.sampled_from(["sum", "least", "greatest"]))
    fine = step / draw(st.sampled_from([1, 1, 3]))
    totals = (
        (f"rows{level}", Total("count", None, Fraction(1), 0, draw(st.sampled_from([2, 10])))),
        (
            f"total{level}",
            Total(
                what,
                number,
                fine,
                draw(st.sampled_from([-20, 0])),
                draw(st.sampled_from([7, 2**40])),
            ),
        ),
    )
    return PerPerson(rows, keys, totals)


CONSTANTS = {
    Whole: st.sampled_from(
        [
            Constant(n)
            for n in (0, 1, -1, 3, 10, -7, Fraction(1, 2), Fraction(-5, 4), Fraction(1, 3), 2**40)
        ]
    ),
    Truth: st.sampled_from([Constant(True), Constant(False)]),
    Texts: st.sampled_from(
        [Constant(t) for t in ("", "N", "a%b", "it's", "x\ny", "a\\b", "👍🏽", "Tro", "12")]
    ),
    Day: st.sampled_from([Constant(n, "day") for n in (-1, 0, 19844, 19782)]),
    Second: st.sampled_from([Constant(n, "second") for n in (-1, 0, 1_714_555_815, 1_709_209_815)]),
}


@st.composite
def expression(draw, columns, sort=None, depth=2) -> Expression:
    """An expression of a sort (any sort if none is named) that has a kind."""
    wanted = sort or draw(st.sampled_from([Whole, Truth, Texts, Day, Second]))
    for _ in range(4):
        found = draw(_raw(columns, wanted, depth))
        try:
            kind = domain_of(found, columns)
        except UnsupportedQuery:
            continue
        if isinstance(kind, wanted):
            return found
    return draw(CONSTANTS[wanted])


def _leaf(draw, columns, sort):
    names = [name for name, kind in columns.items() if isinstance(kind, sort)]
    if names and draw(st.sampled_from([True, True, True, False])):
        return Field(draw(st.sampled_from(names)))
    return draw(CONSTANTS[sort])


@st.composite
def _raw(draw, columns, sort, depth):
    if depth == 0 or draw(st.sampled_from([False, False, False, True])):
        return _leaf(draw, columns, sort)

    def some(kind):
        return draw(expression(columns, kind, depth - 1))

    if draw(st.sampled_from([False] * 5 + [True])):
        return Call(
            F.CASE,
            (
                some(Truth),
                some(sort),
                draw(st.just(Constant(None)) | expression(columns, sort, depth - 1)),
            ),
        )
    if draw(st.sampled_from([False] * 5 + [True])):
        return Call(F.COALESCE, (some(sort), some(sort)))
    return _applied(draw, columns, sort, some)


def _applied(draw, columns, sort, some):
    times = (F.YEAR, F.QUARTER, F.MONTH, F.DAY, F.WEEKDAY, F.WEEK, F.ISOYEAR, F.YEARDAY)
    clock = {
        F.HOUR: Second,
        F.MINUTE: Second,
        F.SECOND: Second,
        F.UNIX_SECONDS: Second,
        F.UNIX_DATE: Day,
        F.LENGTH: Texts,
    }
    if sort is Whole:
        function = draw(st.sampled_from([F.ADD, F.SUBTRACT, F.MULTIPLY, F.DIVIDE, F.MODULO, F.NEGATE, F.ABSOLUTE, F.FLOOR,
                                         F.CEILING, F.ROUND, F.LEAST, F.GREATEST, F.ROOT, *clock, *times]))  # fmt: skip
        if function in times:
            return Call(function, (some(draw(st.sampled_from([Day, Second]))),))
        if function in clock:
            return Call(function, (some(clock[function]),))
        if function is F.MODULO:
            return Call(
                function, (some(Whole), Constant(draw(st.sampled_from([2, 7, Fraction(3, 4)]))))
            )
        one = function in (F.NEGATE, F.ABSOLUTE, F.FLOOR, F.CEILING, F.ROUND, F.ROOT)
        return Call(function, (some(Whole),) if one else (some(Whole), some(Whole)))
    if sort is Truth:
        return _truth(draw, some)
    if sort is Texts:
        function = draw(st.sampled_from([F.LOWER, F.UPPER, F.TRIM, F.SUBSTRING, F.CONCAT]))
        if function is F.CONCAT:
            return Call(function, (some(Texts), some(Texts)))
        rest = (
            Constant(draw(st.sampled_from([1, 2, 9]))),
            Constant(draw(st.sampled_from([0, 1, 50]))),
        )
        return Call(function, (some(Texts), *(rest if function is F.SUBSTRING else ())))
    return _moved(draw, sort, some)


def _moved(draw, sort, some):
    """A time from another: truncated, months later, moved by a number, or the less of two."""
    match draw(st.sampled_from(["day", "start", "start", "later", "number", "two"])):
        case "day" if sort is Day:
            return Call(F.DATE_OF, (some(Second),))
        case "start":
            return Call(F.TRUNCATE, (some(sort), Constant(draw(st.sampled_from(UNITS)))))
        case "later":
            return Call(
                F.MONTHS_LATER,
                (some(sort), Constant(draw(st.sampled_from([0, 1, -1, 11, -13, 1200])))),
            )
        case "number":
            there, back = (
                (F.UNIX_DATE, F.FROM_UNIX_DATE)
                if sort is Day
                else (F.UNIX_SECONDS, F.FROM_UNIX_SECONDS)
            )
            return Call(
                back,
                (
                    Call(
                        F.ADD,
                        (Call(there, (some(sort),)), Constant(draw(st.sampled_from([-7, 30])))),
                    ),
                ),
            )
    return Call(draw(st.sampled_from([F.LEAST, F.GREATEST])), (some(sort), some(sort)))


def _truth(draw, some):
    function = draw(
        st.sampled_from(
            [F.EQUAL, F.UNEQUAL, F.LESS, F.AT_MOST, F.AND, F.OR, F.NOT, F.IS_NULL, F.AMONG, F.LIKE]
        )
    )
    sort = draw(st.sampled_from([Whole, Truth, Texts, Day, Second]))
    match function:
        case F.EQUAL | F.UNEQUAL:
            return Call(function, (some(sort), some(sort)))
        case F.LESS | F.AT_MOST:
            ordered = draw(st.sampled_from([Whole, Day, Second]))
            return Call(function, (some(ordered), some(ordered)))
        case F.AND | F.OR:
            return Call(function, (some(Truth), some(Truth)))
        case F.AMONG:
            return Call(function, (some(sort), draw(CONSTANTS[sort]), draw(CONSTANTS[sort])))
        case F.LIKE:
            pattern = draw(
                st.sampled_from(["%", "_", "N%", "%'%", "a\\%", "_\n_", "%👍%", "", "!~|^/%"])
            )
            return Call(function, (some(Texts), Constant(pattern)))
        case _:
            return Call(function, (some(Truth if function is F.NOT else sort),))


@st.composite
def tally(draw, schemas):
    """A tally that every engine must answer."""
    try:
        rows = draw(relation(schemas))
        columns = columns_of(rows)
        keys = tuple(draw(_key(columns)) for _ in range(draw(st.sampled_from([0, 1, 1, 2]))))
        terms = tuple(draw(_term(columns)) for _ in range(draw(st.integers(1, 3))))
        people = isinstance(schemas[0].unit, People)
        shares = (
            [
                RowShare(2),
                RowShare(1),
                GroupShare(1, 1),
                GroupShare(2, 3),
                RowShare(2**22),
                GroupRowShare(3, 2, len(keys)),
                GroupRowShare(2, 1, min(1, len(keys))),
            ]
            if people
            else []
        )
        share = draw(st.sampled_from([Free(), *shares, *shares]))
        only = draw(st.one_of(st.none(), st.none(), _only(keys, columns)))
        asked = Tally(rows, keys, terms, share, only, people=people and draw(st.booleans()))
        understand(asked)
    except UnsupportedQuery:
        assume(False)
    return asked


def _key(columns):
    return (
        st.sampled_from([Field(name) for name in columns]) | expression(columns)
        if columns
        else expression(columns)
    )


@st.composite
def _term(draw, columns):
    if draw(st.booleans()):
        return Term(
            draw(st.just(Constant(True)) | expression(columns, Truth)),
            w := draw(st.sampled_from([1, 16])),
            0,
            w,
        )
    number = draw(expression(columns, Whole))
    kind = domain_of(number, columns)
    weight = draw(st.sampled_from([1, 4]))
    low, high = kind.low * weight, kind.high * weight
    tight = draw(st.booleans())
    return Term(
        number, weight, low // 2 if tight else low, max(low // 2, high // 2) if tight else high
    )


@st.composite
def _only(draw, keys, columns):
    values = []
    for key in keys:
        kind = domain_of(key, columns)
        options = {
            Whole: [0, 1, 2, Fraction(1, 2), 10**30],
            Truth: [True, False],
            Texts: ["N", "S", "", "it's", "other"],
            Day: [0, 19844],
            Second: [0, 1_714_555_815],
        }[type(kind)]
        values.append(st.sampled_from([*options, None]))
    return tuple(draw(st.lists(st.tuples(*values), unique=True, max_size=4)))
