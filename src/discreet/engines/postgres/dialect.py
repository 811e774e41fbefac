"""SQL dialect of PostgreSQL: every cast follows a test, since there is no TRY_CAST.

Sums are numeric. An overflow or underflow of a double is an error, so both are tested for.
"""

from __future__ import annotations

from ..sql.dialect import (
    ISO_PART_NAMES,
    Dialect,
    Stored,
    case_sql,
    cast_sql,
    cast_to,
    put_quotes,
    time_literals,
)

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
    """Write a numeric as a double, where a plain cast would fail beyond the range of doubles.

    NaN is NULL. Values beyond ±1e300 become ±1e300, and values too small for a double become 0.
    """
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
    return case_sql(f"abs({x}) < {smallest}", zero, f"{x} / {y}")


POSTGRES = Dialect(
    name="postgres",
    quote=lambda name: put_quotes(name, '"'),
    literal=lambda text: cast_sql(put_quotes(text, "'"), "text"),
    text_type="text",
    integer_type="bigint",
    divide=lambda a, b: f"({a} / {b})",
    wide=cast_to("numeric"),
    is_nan=lambda x: f"({x} = 'NaN')",
    nan_types=frozenset({"float", "decimal"}),
    matches=lambda x, pattern: f"({x} ~ {put_quotes(f'^(?:{pattern})$', chr(39))})",
    like=lambda x, pattern: f"({x} LIKE {put_quotes(pattern, chr(39))} ESCAPE '')",
    trim=lambda x: f"btrim({x}, ' ')",
    strip=lambda x, blanks: f"btrim({x}, {blanks})",
    as_text=lambda x: f'(CAST({x} AS text) COLLATE "C")',
    integer_of=cast_to("bigint"),
    as_double=cast_to("double precision"),
    double_of=cast_to("double precision"),
    decimal_double=_decimal_double,
    quotient=_quotient,
    nearest=cast_to("bigint"),
    day_of=cast_to("date"),
    time_literal=time_literals("TIMESTAMPTZ", "+00", "TIMESTAMP"),
    days=lambda x: f"CAST({x} - DATE '1970-01-01' AS bigint)",
    day_at=lambda days: f"DATE '1970-01-01' + CAST({days} AS integer)",
    seconds=lambda x, _: f"CAST(floor(extract(epoch FROM {x})) AS bigint)",
    first_day=lambda unit, day: f"CAST(date_trunc('{unit}', CAST({day} AS timestamp)) AS date)",
    later_day=lambda day, months: f"CAST(({day}) + INTERVAL '{months} months' AS date)",
    part_names=ISO_PART_NAMES,
    # OFFSET 0 keeps the planner from merging the query into the outer one: cells are computed once.
    in_order=lambda names: f" ORDER BY {', '.join(names)} OFFSET 0",
    whole_joins=True,
)
