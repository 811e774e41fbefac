"""Translation of other SQL dialects into the constructs that are read here.

Only constructs with one meaning are translated; the result means the same.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from ..syntax import conjuncts, with_aggregate

_CAST_TYPES = {
    *("DATE", "DATETIME", "TIMESTAMP", "INT", "INTEGER"),
    *("BIGINT", "FLOAT", "REAL", "DECIMAL", "VARCHAR"),
}
_TO_CURRENT_ROW = {"start": "UNBOUNDED", "start_side": "PRECEDING", "end": "CURRENT ROW"}


def translate(root: exp.Expr) -> exp.Expr:
    """Replace every construct of another dialect by the one that it means.

    >>> import sqlglot
    >>> from discreet.query.sql.lexical.dialects import translate
    >>> sql = "SELECT NVL2(a, b, c), EOMONTH(d) FROM t GROUP BY a WITH ROLLUP"
    >>> translate(sqlglot.parse_one(sql)).sql()
    'SELECT CASE WHEN NOT a IS NULL THEN b ELSE c END, LAST_DAY(d) FROM t GROUP BY ROLLUP (a)'
    """
    # Collected once: no change makes a construct that another change looks for.
    present = set(map(type, root.walk()))
    for construct, change in _CHANGES.items():
        if not any(issubclass(kind, construct) for kind in present):
            continue
        for node in list(root.find_all(construct)):
            changed = change(node)
            if changed is None or changed is node:
                continue
            root = changed if node is root else root
            node.replace(changed)
    return root


def _anonymous(node: exp.Anonymous) -> exp.Expr | None:
    """Read a function that only some dialects know."""
    match node.name.upper(), node.expressions:
        case "ZEROIFNULL", [x]:
            return exp.Coalesce(this=x, expressions=[exp.Literal.number(0)])
        case "NULLIFZERO", [x]:
            return exp.Nullif(this=x, expression=exp.Literal.number(0))
        case "ISNULL", [x, y]:
            return exp.Coalesce(this=x, expressions=[y])
        case "EOMONTH", [day]:
            return exp.LastDay(this=day)
        case "DATEPART", [exp.Column() as part, day] if part.args.get("table") is None:
            return exp.Extract(this=exp.var(part.name.upper()), expression=day)
    return None


def _window(node: exp.Window) -> exp.Expr | None:
    """Read RATIO_TO_REPORT(x) OVER (…) as x / SUM(x) OVER (…), and drop the usual frame."""
    function = node.this
    is_call = isinstance(function, exp.Anonymous) and len(function.expressions) == 1
    if is_call and function.name.upper() == "RATIO_TO_REPORT":
        [x] = function.expressions
        window = {name: part for name, part in node.args.items() if name != "this"}
        total = exp.Window(this=exp.Sum(this=x.copy()), **window)
        return exp.Div(this=x, expression=total)
    frame = node.args.get("spec")
    # A running total along a key has one row for each value: rows and values end at the same one.
    running = isinstance(function, exp.Sum) and with_aggregate(function.this)
    if running and frame is not None and node.args.get("order") is not None:
        parts = {name: str(part).upper() for name, part in frame.args.items() if part}
        # RANGE is how a sum over released rows is written; it stays one.
        is_rows = parts.pop("kind", "") == "ROWS"
        parts.setdefault("end", "CURRENT ROW")
        # A frame up to the current row is what ORDER BY alone means.
        if is_rows and parts == _TO_CURRENT_ROW:
            node.set("spec", None)
    return None


def _group(node: exp.Group) -> None:
    """Read GROUP BY ALL as all items of SELECT without aggregates, and WITH ROLLUP as ROLLUP."""
    select = node.parent
    if node.args.get("all") and isinstance(select, exp.Select):
        items = [item for item in select.expressions if not with_aggregate(item)]
        node.set("all", None)
        node.set("expressions", [item.unalias().copy() for item in items])
    for clause, construct in (("rollup", exp.Rollup), ("cube", exp.Cube)):
        # GROUP BY a, b WITH ROLLUP is parsed as an empty ROLLUP beside the keys.
        parsed = node.args.get(clause) or []
        if len(parsed) == 1 and not parsed[0].expressions and node.expressions:
            node.set("expressions", [construct(expressions=node.expressions)])
            node.set(clause, None)


def _quantile_at(node: exp.Bracket) -> exp.Expr | None:
    """Read APPROX_QUANTILES(x, 100)[OFFSET(50)] as the quantile at 50/100."""
    function = node.this
    indices = node.expressions
    is_quantiles = isinstance(function, exp.ApproxQuantiles) and len(indices) == 1
    if not is_quantiles or indices[0].name.upper() != "OFFSET":
        return None
    index = indices[0]
    parts = (*index.expressions, function.expression)
    numbers = [str(part.this) for part in parts if _is_digits(part)]
    # More bins than this are beyond every grid of quantiles.
    if len(numbers) != 2 or not 0 < int(numbers[1]) <= 10**6:
        return None
    bin_number = exp.Literal.number(numbers[0])
    bins = exp.Literal.number(numbers[1])
    order = exp.Div(this=bin_number, expression=bins)
    return exp.Quantile(this=function.this, quantile=order)


def _is_digits(node: exp.Expr | None) -> bool:
    return isinstance(node, exp.Literal) and str(node.this).isdigit()


def _convert(node: exp.Cast) -> exp.Expr | None:
    """Read CONVERT(date, x) of SQL Server, which has the type first."""
    # The grammar takes x for the type, so it is a type that nobody declared.
    to = node.to
    if to.this is not exp.DType.USERDEFINED or not isinstance(node.this, exp.Column):
        return None
    column = str(to.args.get("kind"))
    if node.this.name.upper() not in _CAST_TYPES or not column.isidentifier():
        return None
    return exp.cast(exp.column(column), node.this.name, dialect="duckdb")


def _nvl2(node: exp.Nvl2) -> exp.Expr:
    """Read NVL2(x, then, else) as CASE WHEN x IS NOT NULL."""
    present = exp.Not(this=_is_null(node.this))
    branch = exp.If(this=present, true=node.args["true"])
    return exp.Case(ifs=[branch], default=node.args.get("false"))


def _is_null(node: exp.Expr) -> exp.Expr:
    return exp.Is(this=node, expression=exp.Null())


def _decode(node: exp.DecodeCase) -> exp.Expr:
    """Read DECODE(x, a, then, b, then, …, else): the first that equals x; NULL equals NULL."""
    value, *rest = node.expressions
    branches = []
    for wanted, then in zip(rest[::2], rest[1::2], strict=False):
        branches.append(exp.If(this=_equal_or_both_null(value, wanted), true=then))
    # An odd number of arguments after x ends with the default.
    default = rest[-1] if len(rest) % 2 else None
    return exp.Case(ifs=branches, default=default)


def _equal_or_both_null(value: exp.Expr, wanted: exp.Expr) -> exp.Expr:
    if isinstance(wanted, exp.Null):
        return _is_null(value.copy())
    equal = exp.EQ(this=value.copy(), expression=wanted)
    if isinstance(wanted.unnest(), exp.Literal | exp.Neg | exp.Boolean):
        return equal
    value_null = _is_null(value.copy())
    wanted_null = _is_null(wanted.copy())
    both_null = exp.And(this=value_null, expression=wanted_null)
    return exp.Or(this=equal, expression=exp.Paren(this=both_null))


def _ilike(node: exp.ILike) -> exp.Expr | None:
    """Read x ILIKE 'Pattern' as LOWER(x) LIKE 'pattern'."""
    # LOWER is of letters a to z on every store, so other patterns stay refused.
    pattern = node.expression.unnest()
    if not isinstance(pattern, exp.Literal) or not pattern.is_string:
        return None
    text = str(pattern.this)
    if not text.isascii():
        return None
    return exp.Like(
        this=exp.Lower(this=node.this),
        expression=exp.Literal.string(text.lower()),
        negate=node.args.get("negate"),
    )


def _comma_joins(node: exp.Select) -> None:
    """Read FROM a, b WHERE a.id = b.id AND … as a join on the equalities of both in WHERE."""
    where = node.args.get("where")
    source = node.args.get("from_")
    joins = node.args.get("joins") or []
    comma_joins = [join for join in joins if _is_comma(join)]
    if where is None or not comma_joins or source is None:
        return
    rest = conjuncts(where.this.unnest())
    seen = {source.this.alias_or_name.casefold()}
    for join in joins:
        name = join.this.alias_or_name.casefold()
        if join in comma_joins:
            on = []
            others = []
            for part in rest:
                if _connects(part, name, seen):
                    on.append(part)
                else:
                    others.append(part)
            rest = others
            if on:
                join.set("on", _all_of(on))
        seen.add(name)
    if rest:
        where.set("this", _all_of(rest))
    else:
        node.set("where", None)


def _is_comma(join: exp.Join) -> bool:
    """Return whether a join says nothing of its kind, as a comma in FROM."""
    return not any(join.args.get(part) for part in ("on", "using", "kind", "side", "method"))


def _all_of(conditions: list[exp.Expr]) -> exp.Expr:
    return exp.and_(*conditions, copy=False) if len(conditions) > 1 else conditions[0]


def _connects(part: exp.Expr, name: str, seen: set[str]) -> bool:
    """Return whether a condition equates a column of one table with one of a table before it."""
    if not isinstance(part, exp.EQ):
        return False
    sides = (part.this, part.expression)
    tables = {side.table.casefold() for side in sides if isinstance(side, exp.Column)}
    return len(tables) == 2 and name in tables and tables <= seen | {name}


def _safe_divide(node: exp.SafeDivide) -> exp.Expr:
    return exp.Div(this=node.this, expression=node.expression)


def _datetime_trunc(node: exp.DatetimeTrunc) -> exp.Expr:
    return exp.TimestampTrunc(this=node.this, unit=node.args.get("unit"))


_CHANGES: dict[type[exp.Expr], Callable[..., exp.Expr | None]] = {
    exp.Anonymous: _anonymous,
    exp.Window: _window,
    exp.Group: _group,
    exp.Bracket: _quantile_at,
    exp.Cast: _convert,
    exp.Nvl2: _nvl2,
    exp.DecodeCase: _decode,
    exp.ILike: _ilike,
    exp.SafeDivide: _safe_divide,
    exp.DatetimeTrunc: _datetime_trunc,
    exp.Select: _comma_joins,
}
