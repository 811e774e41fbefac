"""Scalar functions of SQL that have one meaning on every store."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial

from sqlglot import exp

from ..algebra.expression import Call, Constant, Expression, Function
from ..algebra.fold import exact, folded
from ..algebra.refusal import refusal
from ..domains.domain import Whole
from ..domains.domain_of import domain_of
from ..domains.type_of import type_of
from ..python.bins import bin_of
from .constant import as_type, on_day, on_second
from .expression import Names, alike, read
from .syntax import only, refuse_node

__all__ = ["FUNCTIONS"]

_PARTS = {
    "YEAR": Function.YEAR,
    "QUARTER": Function.QUARTER,
    "MONTH": Function.MONTH,
    "DAY": Function.DAY,
    "HOUR": Function.HOUR,
    "ISODOW": Function.WEEKDAY,
}
_TYPES = exp.DType
_WHOLE = (_TYPES.INT, _TYPES.BIGINT, _TYPES.SMALLINT, _TYPES.TINYINT, _TYPES.INT128)
_REAL = (_TYPES.DOUBLE, _TYPES.FLOAT, _TYPES.DECIMAL)
_WORDS = (_TYPES.TEXT, _TYPES.VARCHAR)
_TIMES = (_TYPES.TIMESTAMP, _TYPES.TIMESTAMPNTZ, _TYPES.DATETIME)


def _whole(x: Expression, names: Names) -> Whole | None:
    """Return the bounds of a number of a row; noisy results have none."""
    domain = None if names.domains is None else domain_of(x, names.domains)
    return domain if isinstance(domain, Whole) else None


def _one(function: Function, node: exp.Expr, names: Names) -> Expression:
    only(node, "this")
    return Call(function, (read(node.this, names),))


def _many(function: Function, node: exp.Expr, names: Names) -> Expression:
    only(node, "this", "expressions", "ignore_nulls")
    parts = [read(part, names) for part in (node.this, *node.expressions)]
    return Call(function, tuple(alike(node, parts, names)))


def _coalesce(node: exp.Coalesce, names: Names) -> Expression:
    only(node, "this", "expressions")
    parts = [read(part, names) for part in (node.this, *node.expressions)]
    types = [type_of(part, names.types) for part in parts]
    time = next((type_ for type_ in types if type_ in ("day", "second")), None)
    return Call(Function.COALESCE, tuple(as_type(part, time) for part in parts))


def _nullif(node: exp.Nullif, names: Names) -> Expression:
    only(node, "this", "expression")
    x, y = alike(node, [read(node.this, names), read(node.expression, names)], names)
    return Call(Function.CASE, (Call(Function.EQUAL, (x, y)), Constant(None), x))


def _modulo(node: exp.Mod, names: Names) -> Expression:
    """Return a remainder with the sign of x, as every store does; our MODULO is never negative."""
    only(node, "this", "expression")
    x, m = read(node.this, names), read(node.expression, names)
    if not isinstance(m, Constant) or not isinstance(m.value, int | Fraction) or m.value <= 0:
        raise refusal("%", "its right side must be a positive number that is written out", "write x % 7")
    if (domain := _whole(x, names)) is not None and domain.low >= 0:
        return Call(Function.MODULO, (x, m))
    below = Call(Function.LESS, (x, Constant(0)))
    mirrored = Call(Function.NEGATE, (Call(Function.MODULO, (folded(Function.NEGATE, x), m)),))
    return Call(Function.CASE, (below, mirrored, Call(Function.MODULO, (x, m))))


def _round(node: exp.Round, names: Names) -> Expression:
    only(node, "this", "decimals")
    x = read(node.this, names)
    places = node.args.get("decimals")
    if places is None:
        return Call(Function.ROUND, (x,))
    digits = read(places, names)
    if not isinstance(digits, Constant) or type(digits.value) is not int or not -9 <= digits.value <= 9:
        raise refusal("ROUND", "it takes a number of places from -9 to 9", "write ROUND(x, 2)")
    if digits.value == 0:
        return Call(Function.ROUND, (x,))
    scale = exact(Fraction(10) ** digits.value)
    return Call(Function.DIVIDE, (Call(Function.ROUND, (folded(Function.MULTIPLY, x, scale),)), scale))


def _substring(node: exp.Substring, names: Names) -> Expression:
    only(node, "this", "start", "length")
    if node.args.get("start") is None or node.args.get("length") is None:
        raise refusal("SUBSTRING", "it takes a first place and a length", "write SUBSTRING(x, 1, 3)")
    return Call(Function.SUBSTRING, tuple(read(node.args[part], names) for part in ("this", "start", "length")))


def _left(node: exp.Left, names: Names) -> Expression:
    only(node, "this", "expression")
    return Call(Function.SUBSTRING, (read(node.this, names), Constant(1), read(node.expression, names)))


def _extract(node: exp.Extract, names: Names) -> Expression:
    only(node, "this", "expression")
    return _part(str(node.this.name), node.expression, names)


def _part(what: str, node: exp.Expr, names: Names) -> Expression:
    """Take a part of a time; DOW is 0 on Sunday in every store that knows it."""
    time = read(node, names)
    if what.upper() in ("DOW", "DAYOFWEEK"):
        return Call(Function.MODULO, (Call(Function.WEEKDAY, (time,)), Constant(7)))
    if what.upper() not in _PARTS:
        raise refusal(f"EXTRACT({what.upper()})", "it is not among the parts of a time", f"use {', '.join(_PARTS)}")
    return Call(_PARTS[what.upper()], (time,))


def _bucket(node: exp.WidthBucket, names: Names) -> Expression:
    """WIDTH_BUCKET(x, low, high, n): 0 below low, n + 1 from high on, between them equal bins 1 to n."""
    only(node, "this", "min_value", "max_value", "num_buckets")
    parts = [node.args.get(part) for part in ("min_value", "max_value", "num_buckets")]
    known = [read(part, names) for part in parts if part is not None]
    numbers = [Fraction(k.value) for k in known if isinstance(k, Constant) and isinstance(k.value, int | Fraction)]
    if len(numbers) < 3 or numbers[0] >= numbers[1] or numbers[2] < 1 or numbers[2].denominator != 1:
        raise refusal("WIDTH_BUCKET", "it takes constants low < high and a number of bins", "write (x, 0, 100, 10)")
    low, high, bins = numbers
    place = bin_of(read(node.this, names), low, (high - low) / bins)
    clipped = Call(Function.GREATEST, (place, Constant(-1)))
    return Call(Function.ADD, (Call(Function.LEAST, (clipped, Constant(int(bins)))), Constant(1)))


def _anonymous(node: exp.Anonymous, names: Names) -> Expression:
    only(node, "this", "expressions")
    match node.name.upper(), node.expressions:
        case "PMOD", [x, m]:
            return Call(Function.MODULO, (read(x, names), read(m, names)))
        case "DATE_PART", [exp.Literal() as what, time]:
            return _part(str(what.this), time, names)
        case _:
            return refuse_node(node)


def _cast(node: exp.Expr, names: Names) -> Expression:
    """Cast where nothing can fail, round or depend on the store."""
    only(node, "this", "to", "safe")
    to, x = node.args["to"], read(node.this, names)
    type_ = type_of(x, names.types)
    match type_, _TYPES.UNKNOWN if to.expressions else to.this:
        case ("text", wanted) if isinstance(x, Constant) and wanted is _TYPES.DATE:
            return on_day(str(x.value))
        case ("text", wanted) if isinstance(x, Constant) and wanted in _TIMES:
            return on_second(str(x.value))
        case ("number", wanted) if wanted in _REAL or (wanted in _WHOLE and _is_whole(x, names)):
            return x
        case ("text", wanted) if wanted in _WORDS:
            return x
        case ("truth", wanted) if wanted in _WHOLE:
            return Call(Function.CASE, (x, Constant(1), Call(Function.NOT, (x,)), Constant(0), Constant(None)))
        case ("truth", _TYPES.BOOLEAN) | ("day", _TYPES.DATE):
            return x
        case ("second", wanted) if wanted in _TIMES:
            return x
        case ("second", _TYPES.DATE):
            return Call(Function.DATE_OF, (x,))
    raise refusal("CAST", "stores disagree on it, or it can fail", "use ROUND or FLOOR, or declare the column so")


def _is_whole(x: Expression, names: Names) -> bool:
    domain = _whole(x, names)
    return domain is not None and domain.step.denominator == 1


FUNCTIONS: dict[type[exp.Expr], Callable[..., Expression]] = {
    exp.Abs: partial(_one, Function.ABSOLUTE),
    exp.Floor: partial(_one, Function.FLOOR),
    exp.Ceil: partial(_one, Function.CEILING),
    exp.Lower: partial(_one, Function.LOWER),
    exp.Upper: partial(_one, Function.UPPER),
    exp.Length: partial(_one, Function.LENGTH),
    exp.Trim: partial(_one, Function.TRIM),
    exp.Year: partial(_one, Function.YEAR),
    exp.Quarter: partial(_one, Function.QUARTER),
    exp.Month: partial(_one, Function.MONTH),
    exp.Day: partial(_one, Function.DAY),
    exp.DayOfMonth: partial(_one, Function.DAY),
    exp.Hour: partial(_one, Function.HOUR),
    exp.DayOfWeekIso: partial(_one, Function.WEEKDAY),
    exp.Least: partial(_many, Function.LEAST),
    exp.Greatest: partial(_many, Function.GREATEST),
    exp.Coalesce: _coalesce,
    exp.Nullif: _nullif,
    exp.Mod: _modulo,
    exp.Round: _round,
    exp.Substring: _substring,
    exp.Left: _left,
    exp.Extract: _extract,
    exp.WidthBucket: _bucket,
    exp.Anonymous: _anonymous,
    exp.Cast: _cast,
    exp.TryCast: _cast,
}
