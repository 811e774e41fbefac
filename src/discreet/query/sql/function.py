"""Reader of scalar SQL functions: each gets one meaning, which holds on every store.

Refuses: with `UnsupportedQuery` a form that users of different stores read differently (`LOG(x)`),
or that can fail or has no exact meaning here (CAST of a real to text).

Law: tests/query/test_sql_meaning.py::test_an_expression_means_what_it_means_in_a_store
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import partial

from sqlglot import exp

from ..algebra.constant_folding import bin_of, exact, fold
from ..algebra.expression import Call, Constant, Expression, Field, Function, call_of
from ..algebra.refusal import refusal
from ..domains.domain import Domain, Whole
from ..domains.domain_of import domain_of
from ..domains.type_of import type_of
from ..meaning.constant_times import as_second, fold_time
from .constant import as_type, day_constant, second_constant
from .expression import Names, Readers, read, read_alike, read_all
from .lexical.quote import quote_of
from .syntax import clause_of, integer_literal, only, refuse_node
from .times import part_of_time

_TYPES = exp.DType
_INTEGER_TYPES = (_TYPES.INT, _TYPES.BIGINT, _TYPES.SMALLINT, _TYPES.TINYINT, _TYPES.INT128)
_REAL_TYPES = (_TYPES.DOUBLE, _TYPES.FLOAT, _TYPES.DECIMAL)
_TEXT_TYPES = (_TYPES.TEXT, _TYPES.VARCHAR)
_MAX_NUMERALS = 500
"""Most whole numbers that are written as text, each by a branch of CASE."""
_TIME_TYPES = (_TYPES.TIMESTAMP, _TYPES.TIMESTAMPNTZ, _TYPES.DATETIME)


def _number_domain(x: Expression, names: Names) -> Whole | None:
    """Return the bounds of a number of a row; noisy results have none."""
    domain = None if names.domains is None else domain_of(x, names.domains)
    return domain if isinstance(domain, Whole) else None


def _unary(function: Function, node: exp.Expr, names: Names) -> Expression:
    only(node, "this")
    return call_of(function, read(node.this, names))


def _variadic(function: Function, node: exp.Expr, names: Names) -> Expression:
    only(node, "this", "expressions", "ignore_nulls")
    arguments = read_alike(node, (node.this, *node.expressions), names)
    return Call(function, tuple(arguments))


def _coalesce(node: exp.Coalesce, names: Names) -> Expression:
    only(node, "this", "expressions")
    arguments = read_all((node.this, *node.expressions), names)
    # Unlike a comparison, COALESCE takes NULL and does not turn dates into times.
    time = None
    for argument in arguments:
        type_ = type_of(argument, names.types)
        if time is None and type_ in ("day", "second"):
            time = type_
    return Call(Function.COALESCE, tuple(as_type(argument, time) for argument in arguments))


def _nullif(node: exp.Nullif, names: Names) -> Expression:
    only(node, "this", "expression")
    x, y = read_alike(node, (node.this, node.expression), names)
    equal = call_of(Function.EQUAL, x, y)
    return call_of(Function.CASE, equal, Constant(None), x)


def _whole_quotient(node: exp.IntDiv, names: Names) -> Expression:
    """Read x // y of whole numbers: the quotient without its fraction, as DuckDB and MySQL have it.

    Refuses: numbers with a fraction, of which stores make different things, and a divisor that is
        no constant, whose quotient would be rounded before it is cut.
    """
    only(node, "this", "expression")
    x = read(node.this, names)
    y = read(node.expression, names)
    divisor = y.value if isinstance(y, Constant) else None
    # type() and not isinstance: True is no number.
    if type(divisor) is not int or divisor == 0 or not (_is_integer(x, names) or not names.domains):
        raise refusal(
            clause_of(node),
            "it takes whole numbers, and a divisor other than 0 that is written out",
            "write FLOOR(x / y)",
        )
    quotient = fold(Function.DIVIDE, x, y)
    cut = call_of(Function.FLOOR, quotient)
    domain = _number_domain(quotient, names)
    if domain is not None and domain.low >= 0:
        return cut
    # Below 0 the fraction is cut off towards 0, which is upwards.
    below_zero = call_of(Function.LESS, quotient, Constant(0))
    return call_of(Function.CASE, below_zero, call_of(Function.CEILING, quotient), cut)


def _modulo(node: exp.Mod, names: Names) -> Expression:
    """Read x % m: a remainder with the sign of x, as in every store."""
    only(node, "this", "expression")
    x = read(node.this, names)
    m = read(node.expression, names)
    if not isinstance(m, Constant) or not isinstance(m.value, int | Fraction) or m.value <= 0:
        raise refusal(
            "%", "its right side must be a positive number that is written out", "write x % 7"
        )
    remainder = call_of(Function.MODULO, x, m)
    domain = _number_domain(x, names)
    if domain is not None and domain.low >= 0:
        return remainder
    # MODULO of the algebra is never negative, so numbers below zero are mirrored twice.
    below_zero = call_of(Function.LESS, x, Constant(0))
    mirrored = call_of(Function.MODULO, fold(Function.NEGATE, x), m)
    negative = call_of(Function.NEGATE, mirrored)
    return call_of(Function.CASE, below_zero, negative, remainder)


def _round(node: exp.Round, names: Names) -> Expression:
    """Read ROUND(x) and ROUND(x, places), half up; places are a constant from −9 to 9."""
    only(node, "this", "decimals")
    x = read(node.this, names)
    decimals = node.args.get("decimals")
    if decimals is None:
        return call_of(Function.ROUND, x)
    digits = read(decimals, names)
    # True is an int in Python, hence the exact type; ten digits either way exceed every grid.
    if (
        not isinstance(digits, Constant)
        or type(digits.value) is not int
        or not -9 <= digits.value <= 9
    ):
        raise refusal("ROUND", "it takes a number of places from -9 to 9", "write ROUND(x, 2)")
    if digits.value == 0:
        return call_of(Function.ROUND, x)
    return _rounded_to(x, digits.value)


def _rounded_to(x: Expression, digits: int) -> Expression:
    """Round half up to a number of decimal digits: ROUND(x · 10^digits) / 10^digits."""
    scale = exact(Fraction(10) ** digits)
    scaled = fold(Function.MULTIPLY, x, scale)
    return call_of(Function.DIVIDE, call_of(Function.ROUND, scaled), scale)


def _substring(node: exp.Substring, names: Names) -> Expression:
    only(node, "this", "start", "length")
    start = node.args.get("start")
    length = node.args.get("length")
    if start is None or length is None:
        raise refusal(
            "SUBSTRING", "it takes a first place and a length", "write SUBSTRING(x, 1, 3)"
        )
    arguments = read_all((node.this, start, length), names)
    return Call(Function.SUBSTRING, tuple(arguments))


def _left(node: exp.Left, names: Names) -> Expression:
    only(node, "this", "expression")
    text = read(node.this, names)
    length = read(node.expression, names)
    return call_of(Function.SUBSTRING, text, Constant(1), length)


def _width_bucket(node: exp.WidthBucket, names: Names) -> Expression:
    """Read WIDTH_BUCKET(x, low, high, n): bins 1 to n, 0 below low, n + 1 from high on."""
    only(node, "this", "min_value", "max_value", "num_buckets")
    numbers = []
    for part in ("min_value", "max_value", "num_buckets"):
        argument = node.args.get(part)
        constant = None if argument is None else read(argument, names)
        if isinstance(constant, Constant) and isinstance(constant.value, int | Fraction):
            numbers.append(Fraction(constant.value))
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
    index = bin_of(read(node.this, names), low, (high - low) / bins)
    # Indices count from 0; one bin on each side holds all that lies outside.
    above = call_of(Function.GREATEST, index, Constant(-1))
    clipped = call_of(Function.LEAST, above, Constant(int(bins)))
    return call_of(Function.ADD, clipped, Constant(1))


def _anonymous(node: exp.Anonymous, names: Names) -> Expression:
    """Read a function for which the grammar has no class, by its name."""
    only(node, "this", "expressions")
    match node.name.upper(), node.expressions:
        case "PMOD", [x, m]:
            return call_of(Function.MODULO, read(x, names), read(m, names))
        case "DATE_PART" | "DATEPART", [exp.Literal() | exp.Column() as part, time]:
            return part_of_time(part.name, time, names)
        case "ISOYEAR", [time]:
            return call_of(Function.ISOYEAR, read(time, names))
        case "TIMESTAMP_SECONDS", [number]:
            return fold_time(Function.FROM_UNIX_SECONDS, read(number, names))
        case "DATEADD" | "TIMESTAMPADD", [exp.Column() as unit, number, time]:
            interval = exp.Interval(this=number, unit=exp.var(unit.name))
            return read(exp.Add(this=time, expression=interval), names)
        case "DATE_SUB", [time, exp.Interval() as interval]:
            return read(exp.Sub(this=time, expression=interval), names)
        case "IFF", [test, then, otherwise]:
            return read(exp.If(this=test, true=then, false=otherwise), names)
        case _:
            return refuse_node(node)


def _cast(node: exp.Expr, names: Names) -> Expression:
    """Read CAST where it cannot fail, round, or differ between stores.

    | from | to | result |
    |---|---|---|
    | noisy number | whole number, DECIMAL(p, s) | rounded half up |
    | text literal | DATE, TIMESTAMP | the day or second that is written |
    | number | real; whole number if the domain is whole | unchanged |
    | truth | whole number | 1, 0 or NULL |
    | whole number of a short range | text | its numeral |
    | second | DATE | its day |
    | day | TIMESTAMP | its first second |
    | any type | the same type | unchanged |
    """
    only(node, "this", "to", "safe")
    to = node.args["to"]
    x = read(node.this, names)
    type_ = type_of(x, names.types)
    if names.domains is None and type_ == "number":
        rounded = _cast_result(x, to)
        if rounded is not None:
            return rounded
    # A type with a length or precision, as VARCHAR(3), cuts values in some stores.
    wanted = _TYPES.UNKNOWN if to.expressions else to.this
    match type_:
        case "text" if isinstance(x, Constant) and wanted is _TYPES.DATE:
            return day_constant(str(x.value))
        case "text" if isinstance(x, Constant) and wanted in _TIME_TYPES:
            return second_constant(str(x.value))
        case "text" if wanted in _TEXT_TYPES:
            return x
        case "number" if wanted in _REAL_TYPES:
            return x
        case "number" if wanted in _INTEGER_TYPES and _is_integer(x, names):
            return x
        case "truth" if wanted in _INTEGER_TYPES:
            return _truth_as_number(x)
        case "truth" if wanted is _TYPES.BOOLEAN:
            return x
        case "day" if wanted is _TYPES.DATE:
            return x
        case "day" if wanted in _TIME_TYPES:
            return as_second(x, "day")
        case "second" if wanted in _TIME_TYPES:
            return x
        case "second" if wanted is _TYPES.DATE:
            return fold_time(Function.DATE_OF, x)
    asked = f"CAST({quote_of(node.this) or 'x'} AS {to.sql(dialect='duckdb')})"
    if type_ == "number" and wanted in _TEXT_TYPES:
        return _number_as_text(x, asked, names)
    raise refusal(
        asked,
        "stores disagree on it, or it can fail",
        "use ROUND or FLOOR, or declare the column so",
    )


def _number_as_text(x: Expression, asked: str, names: Names) -> Expression:
    """Write a whole number of a short public range as text, numeral by numeral.

    Refuses: other numbers, of which stores make different texts.
    """
    domain: Domain | None = _number_domain(x, names)
    if isinstance(x, Field) and names.keys is not None:
        domain = names.keys.get(x.name)
    if (
        not isinstance(domain, Whole)
        or domain.step.denominator != 1
        or domain.high - domain.low >= _MAX_NUMERALS
    ):
        raise refusal(
            asked,
            f"as text there are whole numbers alone, of a range of at most {_MAX_NUMERALS}",
            "leave CAST out, or round and clip it first",
        )
    branches: list[Expression] = []
    for steps in range(domain.low, domain.high + 1):
        number = int(steps * domain.step)
        branches.append(call_of(Function.EQUAL, x, Constant(number)))
        branches.append(Constant(str(number)))
    return Call(Function.CASE, (*branches, Constant(None)))


def _truth_as_number(condition: Expression) -> Expression:
    """Return 1 for true, 0 for false and NULL for NULL."""
    otherwise = call_of(Function.NOT, condition)
    branches = (condition, Constant(1), otherwise, Constant(0), Constant(None))
    return Call(Function.CASE, branches)


def _cast_result(x: Expression, to: exp.DataType) -> Expression | None:
    """Cast a noisy result: to whole numbers and decimals it is rounded, half up."""
    if to.this in _INTEGER_TYPES and not to.expressions:
        return call_of(Function.ROUND, x)
    if to.this is not _TYPES.DECIMAL or len(to.expressions) != 2:
        return None
    # 18 digits fit into 64 bits; a longer scale would change no released number.
    digits = integer_literal(to.expressions[1].this, "DECIMAL")
    return _rounded_to(x, min(digits, 18))


def _logarithm(node: exp.Log, names: Names) -> Expression:
    """Read LOG10(x), LOG2(x) and LOG(base, x).

    Refuses: LOG(x) without a base, which is 10 in some stores and e in others.
    """
    only(node, "this", "expression")
    if node.args.get("expression") is None:
        raise refusal(
            clause_of(node), "its base is 10 in some stores, e in others", "write LN(x) or LOG10(x)"
        )
    base = call_of(Function.LOGARITHM, read(node.this, names))
    x = call_of(Function.LOGARITHM, read(node.expression, names))
    return call_of(Function.DIVIDE, x, base)


def _power(node: exp.Pow, names: Names) -> Expression:
    """Read POWER(x, y) of results; of rows a small whole power that is written out."""
    only(node, "this", "expression")
    x = read(node.this, names)
    y = read(node.expression, names)
    if names.domains is None and not names.per_person:
        return call_of(Function.POWER, x, y)
    # A product is exact on every store; POWER of floats differs in its last bit.
    if not isinstance(y, Constant) or type(y.value) is not int or not 1 <= y.value <= 8:
        raise refusal(
            clause_of(node),
            "of rows only whole powers from 1 to 8 are the same in every store",
            "write x * x",
        )
    power = x
    for _ in range(y.value - 1):
        power = fold(Function.MULTIPLY, power, x)
    return power


def _sign(node: exp.Sign, names: Names) -> Expression:
    """Read SIGN(x): 1, -1 or 0, and NULL for NULL."""
    only(node, "this")
    x = read(node.this, names)
    zero = Constant(0)
    above = call_of(Function.LESS, zero, x)
    below = call_of(Function.LESS, x, zero)
    missing = call_of(Function.IS_NULL, x)
    branches = (above, Constant(1), below, Constant(-1), missing, Constant(None), zero)
    return Call(Function.CASE, branches)


def _read_texts(parts: Iterable[exp.Expr], names: Names) -> list[Expression]:
    """Read texts that are put together; whole numbers among them as their numerals."""
    texts = []
    for part in parts:
        text = read(part, names)
        if type_of(text, names.types) == "number":
            text = _number_as_text(text, clause_of(part), names)
        texts.append(text)
    return texts


def _join_text(node: exp.DPipe, names: Names) -> Expression:
    """Read x || y || z, which is NULL if any of them is."""
    only(node, "this", "expression", "safe")
    return Call(Function.CONCAT, tuple(_read_texts(node.flatten(), names)))


def _concat(node: exp.Concat, names: Names) -> Expression:
    """Read CONCAT(x, y), which leaves NULLs out, as in DuckDB and PostgreSQL."""
    only(node, "expressions", "safe", "coalesce")
    texts: list[Expression] = []
    for text in _read_texts(node.expressions, names):
        if isinstance(text, Constant):
            texts.append(text)
        else:
            texts.append(call_of(Function.COALESCE, text, Constant("")))
    # CONCAT of the algebra takes at least two texts.
    if len(texts) == 1:
        return texts[0]
    return Call(Function.CONCAT, tuple(texts))


def _is_integer(x: Expression, names: Names) -> bool:
    domain = _number_domain(x, names)
    return domain is not None and domain.step.denominator == 1


FUNCTIONS: Readers = {
    exp.Abs: partial(_unary, Function.ABSOLUTE),
    exp.Floor: partial(_unary, Function.FLOOR),
    exp.Ceil: partial(_unary, Function.CEILING),
    exp.Lower: partial(_unary, Function.LOWER),
    exp.Upper: partial(_unary, Function.UPPER),
    exp.Length: partial(_unary, Function.LENGTH),
    exp.Trim: partial(_unary, Function.TRIM),
    exp.Sqrt: partial(_unary, Function.ROOT),
    exp.Ln: partial(_unary, Function.LOGARITHM),
    exp.Exp: partial(_unary, Function.EXPONENTIAL),
    exp.Pow: _power,
    exp.Log: _logarithm,
    exp.Sign: _sign,
    exp.DPipe: _join_text,
    exp.Concat: _concat,
    exp.Least: partial(_variadic, Function.LEAST),
    exp.Greatest: partial(_variadic, Function.GREATEST),
    exp.Coalesce: _coalesce,
    exp.Nullif: _nullif,
    exp.IntDiv: _whole_quotient,
    exp.Mod: _modulo,
    exp.Round: _round,
    exp.Substring: _substring,
    exp.Left: _left,
    exp.WidthBucket: _width_bucket,
    exp.Anonymous: _anonymous,
    exp.Cast: _cast,
    exp.TryCast: _cast,
}
