"""Scalar functions of SQL that have one meaning on every store."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial, reduce

from sqlglot import exp

from ..algebra.constant_folding import exact, fold
from ..algebra.expression import Call, Constant, Expression, Function
from ..algebra.refusal import refusal
from ..domains.domain import Whole
from ..domains.domain_of import domain_of
from ..domains.type_of import type_of
from ..meaning.constant_times import as_second, fold_time
from ..python.bins import bin_of
from .constant import as_type, on_day, on_second
from .expression import Names, alike, read
from .lexical.quote import quote_of
from .syntax import clause_of, only, refuse_node, whole_literal
from .times.functions import part_of_time

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
        raise refusal(
            "%", "its right side must be a positive number that is written out", "write x % 7"
        )
    if (domain := _whole(x, names)) is not None and domain.low >= 0:
        return Call(Function.MODULO, (x, m))
    below = Call(Function.LESS, (x, Constant(0)))
    mirrored = Call(Function.NEGATE, (Call(Function.MODULO, (fold(Function.NEGATE, x), m)),))
    return Call(Function.CASE, (below, mirrored, Call(Function.MODULO, (x, m))))


def _round(node: exp.Round, names: Names) -> Expression:
    only(node, "this", "decimals")
    x = read(node.this, names)
    places = node.args.get("decimals")
    if places is None:
        return Call(Function.ROUND, (x,))
    digits = read(places, names)
    if (
        not isinstance(digits, Constant)
        or type(digits.value) is not int
        or not -9 <= digits.value <= 9
    ):
        raise refusal("ROUND", "it takes a number of places from -9 to 9", "write ROUND(x, 2)")
    if digits.value == 0:
        return Call(Function.ROUND, (x,))
    scale = exact(Fraction(10) ** digits.value)
    return Call(
        Function.DIVIDE, (Call(Function.ROUND, (fold(Function.MULTIPLY, x, scale),)), scale)
    )


def _substring(node: exp.Substring, names: Names) -> Expression:
    only(node, "this", "start", "length")
    if node.args.get("start") is None or node.args.get("length") is None:
        raise refusal(
            "SUBSTRING", "it takes a first place and a length", "write SUBSTRING(x, 1, 3)"
        )
    return Call(
        Function.SUBSTRING,
        tuple(read(node.args[part], names) for part in ("this", "start", "length")),
    )


def _left(node: exp.Left, names: Names) -> Expression:
    only(node, "this", "expression")
    return Call(
        Function.SUBSTRING, (read(node.this, names), Constant(1), read(node.expression, names))
    )


def _bucket(node: exp.WidthBucket, names: Names) -> Expression:
    """WIDTH_BUCKET(x, low, high, n): 0 below low, n + 1 from high on, between them equal bins 1 to n."""
    only(node, "this", "min_value", "max_value", "num_buckets")
    parts = [node.args.get(part) for part in ("min_value", "max_value", "num_buckets")]
    known = [read(part, names) for part in parts if part is not None]
    numbers = [
        Fraction(k.value)
        for k in known
        if isinstance(k, Constant) and isinstance(k.value, int | Fraction)
    ]
    if (
        len(numbers) < 3
        or numbers[0] >= numbers[1]
        or numbers[2] < 1
        or numbers[2].denominator != 1
    ):
        raise refusal(
            "WIDTH_BUCKET",
            "it takes constants low < high and a number of bins",
            "write (x, 0, 100, 10)",
        )
    low, high, bins = numbers
    place = bin_of(read(node.this, names), low, (high - low) / bins)
    clipped = Call(Function.GREATEST, (place, Constant(-1)))
    return Call(Function.ADD, (Call(Function.LEAST, (clipped, Constant(int(bins)))), Constant(1)))


def _anonymous(node: exp.Anonymous, names: Names) -> Expression:
    only(node, "this", "expressions")
    match node.name.upper(), node.expressions:
        case "PMOD", [x, m]:
            return Call(Function.MODULO, (read(x, names), read(m, names)))
        case "DATE_PART" | "DATEPART", [exp.Literal() | exp.Column() as what, time]:
            return part_of_time(what.name, time, names)
        case "ISOYEAR", [time]:
            return Call(Function.ISOYEAR, (read(time, names),))
        case "TIMESTAMP_SECONDS", [number]:
            return fold_time(Function.FROM_UNIX_SECONDS, read(number, names))
        case "DATEADD" | "TIMESTAMPADD", [exp.Column() as unit, number, time]:
            return read(
                exp.Add(this=time, expression=exp.Interval(this=number, unit=exp.var(unit.name))),
                names,
            )
        case "DATE_SUB", [time, exp.Interval() as interval]:
            return read(exp.Sub(this=time, expression=interval), names)
        case "IFF", [test, then, otherwise]:
            return read(exp.If(this=test, true=then, false=otherwise), names)
        case _:
            return refuse_node(node)


def _cast(node: exp.Expr, names: Names) -> Expression:
    """Cast where nothing can fail, round or depend on the store."""
    only(node, "this", "to", "safe")
    to, x = node.args["to"], read(node.this, names)
    type_ = type_of(x, names.types)
    if names.domains is None and type_ == "number" and (rounded := _cast_result(x, to)) is not None:
        return rounded
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
            return Call(
                Function.CASE,
                (x, Constant(1), Call(Function.NOT, (x,)), Constant(0), Constant(None)),
            )
        case ("truth", _TYPES.BOOLEAN) | ("day", _TYPES.DATE):
            return x
        case ("second", wanted) if wanted in _TIMES:
            return x
        case ("second", _TYPES.DATE):
            return fold_time(Function.DATE_OF, x)
        case ("day", wanted) if wanted in _TIMES:
            return as_second(x, "day")
    asked = f"CAST({quote_of(node.this) or 'x'} AS {to.sql(dialect='duckdb')})"
    raise refusal(
        asked,
        "stores disagree on it, or it can fail",
        "use ROUND or FLOOR, or declare the column so",
    )


def _cast_result(x: Expression, to: exp.DataType) -> Expression | None:
    """Cast a noisy result: to whole numbers and decimals it is rounded, half up."""
    if to.this in _WHOLE and not to.expressions:
        return Call(Function.ROUND, (x,))
    if to.this is not _TYPES.DECIMAL or len(to.expressions) != 2:
        return None
    places = whole_literal(to.expressions[1].this, "DECIMAL")
    scale = exact(Fraction(10) ** min(places, 18))
    return Call(
        Function.DIVIDE, (Call(Function.ROUND, (fold(Function.MULTIPLY, x, scale),)), scale)
    )


def _logarithm(node: exp.Log, names: Names) -> Expression:
    """Read LOG10(x) and LOG2(x); LOG(x) alone means base 10 here and e there."""
    only(node, "this", "expression")
    if node.args.get("expression") is None:
        raise refusal(
            clause_of(node), "its base is 10 in some stores, e in others", "write LN(x) or LOG10(x)"
        )
    base, x = read(node.this, names), read(node.expression, names)
    return Call(
        Function.DIVIDE, (Call(Function.LOGARITHM, (x,)), Call(Function.LOGARITHM, (base,)))
    )


def _power(node: exp.Pow, names: Names) -> Expression:
    """POWER(x, y) of results; of rows only a whole number of times that is written out, as a product."""
    only(node, "this", "expression")
    x, y = read(node.this, names), read(node.expression, names)
    if names.domains is None:
        return Call(Function.POWER, (x, y))
    if not isinstance(y, Constant) or type(y.value) is not int or not 1 <= y.value <= 8:
        raise refusal(
            clause_of(node),
            "of rows only whole powers from 1 to 8 are the same in every store",
            "write x * x",
        )
    return reduce(partial(fold, Function.MULTIPLY), [x] * y.value)


def _sign(node: exp.Sign, names: Names) -> Expression:
    """SIGN(x): 1, -1 or 0."""
    only(node, "this")
    x = read(node.this, names)
    tests = (
        Call(Function.LESS, (Constant(0), x)),
        Constant(1),
        Call(Function.LESS, (x, Constant(0))),
        Constant(-1),
    )
    return Call(Function.CASE, (*tests, Call(Function.IS_NULL, (x,)), Constant(None), Constant(0)))


def _join(node: exp.DPipe, names: Names) -> Expression:
    """Read x || y || z, which is NULL if any of them is."""
    only(node, "this", "expression", "safe")
    return Call(Function.CONCAT, tuple(read(part, names) for part in node.flatten()))


def _concat(node: exp.Concat, names: Names) -> Expression:
    """CONCAT(x, y) leaves NULLs out, as in DuckDB and PostgreSQL."""
    only(node, "expressions", "safe", "coalesce")
    parts = [read(part, names) for part in node.expressions]
    some = tuple(
        p if isinstance(p, Constant) else Call(Function.COALESCE, (p, Constant(""))) for p in parts
    )
    return some[0] if len(some) == 1 else Call(Function.CONCAT, some)


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
    exp.Sqrt: partial(_one, Function.ROOT),
    exp.Ln: partial(_one, Function.LOGARITHM),
    exp.Exp: partial(_one, Function.EXPONENTIAL),
    exp.Pow: _power,
    exp.Log: _logarithm,
    exp.Sign: _sign,
    exp.DPipe: _join,
    exp.Concat: _concat,
    exp.Least: partial(_many, Function.LEAST),
    exp.Greatest: partial(_many, Function.GREATEST),
    exp.Coalesce: _coalesce,
    exp.Nullif: _nullif,
    exp.Mod: _modulo,
    exp.Round: _round,
    exp.Substring: _substring,
    exp.Left: _left,
    exp.WidthBucket: _bucket,
    exp.Anonymous: _anonymous,
    exp.Cast: _cast,
    exp.TryCast: _cast,
}
