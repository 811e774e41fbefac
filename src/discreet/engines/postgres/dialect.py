"""SQL dialect of PostgreSQL: every cast follows a test, since there is no TRY_CAST.

Sums are numeric. An overflow or underflow of a double is an error, so both are tested for.
"""

from __future__ import annotations

from datetime import datetime

from ...query.algebra.expression import Function
from ..sql.dialect import Dialect, Stored, put_quotes

_CLASSES: dict[str, Stored] = {
    **dict.fromkeys(("smallint", "integer", "bigint"), "integer"),
    **dict.fromkeys(("real", "double precision"), "float"),
    "numeric": "decimal",
    "boolean": "boolean",
    "date": "date",
    "timestamp without time zone": "timestamp",
    "timestamp with time zone": "zoned",
}
_SMALLEST = "2.470328229206232721e-324"
"""Just above 2^-1075, half of the smallest positive double: below it the nearest double is 0."""
_PARTS = {Function.WEEKDAY: "isodow", Function.YEARDAY: "doy"}


def stored_class(type_name: str, category: str) -> Stored:
    """Return the class of a type by its name and PostgreSQL's category; strings and enumerations are text.

    >>> from discreet.engines.postgres.dialect import stored_class
    >>> stored_class("numeric", "N"), stored_class("character varying", "S"), stored_class("uuid", "U")
    ('decimal', 'text', 'other')
    """
    if category in ("S", "E"):
        return "text"
    return _CLASSES.get(type_name, "other")


def _decimal_double(x: str, _: str) -> str:
    """Write a numeric as a double; one beyond a double is an error, so it is clipped first."""
    tests = [
        f"WHEN {x} = 'NaN' THEN NULL",
        f"WHEN {x} > 1e300 THEN {POSTGRES.double(1e300)}",
        f"WHEN {x} < -1e300 THEN {POSTGRES.double(-1e300)}",
        f"WHEN abs({x}) < {_SMALLEST} THEN {POSTGRES.double(0.0)}",
    ]
    return f"CASE {' '.join(tests)} ELSE CAST({x} AS double precision) END"


def _quotient(x: str, y: str) -> str:
    """Write a quotient of doubles without underflow, which is an error.

    The divisor is at least 1, so a dividend this small is less than a step.
    """
    smallest = POSTGRES.double(1e-280)
    zero = POSTGRES.double(0.0)
    return f"CASE WHEN abs({x}) < {smallest} THEN {zero} ELSE {x} / {y} END"


def _time_literal(time: datetime, stored: Stored) -> str:
    text = time.isoformat(sep=" ")
    return f"TIMESTAMPTZ '{text}+00'" if stored == "zoned" else f"TIMESTAMP '{text}'"


def _part(function: Function, days: str) -> str:
    part = _PARTS.get(function, function.value)
    return f"CAST(extract({part} FROM DATE '1970-01-01' + CAST({days} AS integer)) AS bigint)"


def _start(unit: str, days: str) -> str:
    first = f"date_trunc('{unit}', CAST(DATE '1970-01-01' + CAST({days} AS integer) AS timestamp))"
    return f"CAST(CAST({first} AS date) - DATE '1970-01-01' AS bigint)"


def _months_later(days: str, months: int) -> str:
    day = f"DATE '1970-01-01' + CAST({days} AS integer)"
    later = f"CAST(({day}) + INTERVAL '{months} months' AS date)"
    return f"CAST({later} - DATE '1970-01-01' AS bigint)"


POSTGRES = Dialect(
    name="postgres",
    quote=lambda name: put_quotes(name, '"'),
    literal=lambda text: f"CAST({put_quotes(text, chr(39))} AS text)",
    text_type="text",
    divide=lambda a, b: f"({a} / {b})",
    wide=lambda x: f"CAST({x} AS numeric)",
    total=lambda x, _: f"sum({x})",
    is_nan=lambda x: f"({x} = 'NaN')",
    nan_types=frozenset({"float", "decimal"}),
    matches=lambda x, pattern: f"({x} ~ {put_quotes(f'^(?:{pattern})$', chr(39))})",
    like=lambda x, pattern: f"({x} LIKE {put_quotes(pattern, chr(39))} ESCAPE '')",
    trim=lambda x: f"btrim({x}, ' ')",
    as_text=lambda x: f'(CAST({x} AS text) COLLATE "C")',
    integer_of=lambda x: f"CAST({x} AS bigint)",
    as_double=lambda x: f"CAST({x} AS double precision)",
    double_of=lambda x: f"CAST({x} AS double precision)",
    decimal_double=_decimal_double,
    quotient=_quotient,
    nearest=lambda x: f"CAST({x} AS bigint)",
    day_of=lambda x: f"CAST({x} AS date)",
    time_literal=_time_literal,
    days=lambda x: f"CAST({x} - DATE '1970-01-01' AS bigint)",
    seconds=lambda x, _: f"CAST(floor(extract(epoch FROM {x})) AS bigint)",
    part=_part,
    start=_start,
    months_later=_months_later,
    listed=None,
    distance=False,
    # OFFSET 0 keeps the planner from merging the query into the outer one: cells are computed once.
    in_order=lambda names: f" ORDER BY {', '.join(names)} OFFSET 0",
    whole_joins=True,
    heavy=False,
    joined=None,
)
