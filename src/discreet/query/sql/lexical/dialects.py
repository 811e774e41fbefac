"""What other dialects call by another name, or write elsewhere, in the words that are read here; it means the same."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from ..syntax import with_aggregate

_CASTS = {
    "DATE",
    "DATETIME",
    "TIMESTAMP",
    "INT",
    "INTEGER",
    "BIGINT",
    "FLOAT",
    "REAL",
    "DECIMAL",
    "VARCHAR",
}


def translate(root: exp.Expr) -> exp.Expr:
    """Put every construct of another dialect into the one that it means.

    >>> import sqlglot
    >>> from discreet.query.sql.lexical.dialects import translate
    >>> translate(sqlglot.parse_one("SELECT NVL2(a, b, c), EOMONTH(d) FROM t GROUP BY a WITH ROLLUP")).sql()
    'SELECT CASE WHEN NOT a IS NULL THEN b ELSE c END, LAST_DAY(d) FROM t GROUP BY ROLLUP (a)'
    """
    there = {
        type(node) for node in root.walk()
    }  # no change makes a kind that another one looks for
    for kind, change in _CHANGES.items():
        for node in (
            list(root.find_all(kind)) if any(issubclass(one, kind) for one in there) else ()
        ):
            made = change(node)
            if made is not None and made is not node:
                root = made if node is root else root
                node.replace(made)
    return root


def _call(node: exp.Anonymous) -> exp.Expr | None:
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


def _ratio(node: exp.Window) -> exp.Expr | None:
    """RATIO_TO_REPORT(x) OVER (…) is x / SUM(x) OVER (…); a frame up to the current row is the usual one."""
    inner, spec = node.this, node.args.get("spec")
    if (
        isinstance(inner, exp.Anonymous)
        and inner.name.upper() == "RATIO_TO_REPORT"
        and len(inner.expressions) == 1
    ):
        [x] = inner.expressions
        parts = {name: part for name, part in node.args.items() if name != "this"}
        return exp.Div(this=x, expression=exp.Window(this=exp.Sum(this=x.copy()), **parts))
    if spec is not None and node.args.get("order") is not None:
        parts = {
            name: str(part).upper() for name, part in spec.args.items() if part and name != "kind"
        }
        if parts in (_UP_TO_HERE, {**_UP_TO_HERE, "end": "CURRENT ROW"}):
            node.set("spec", None)
    return None


_UP_TO_HERE = {"start": "UNBOUNDED", "start_side": "PRECEDING"}


def _group(node: exp.Group) -> None:
    """GROUP BY ALL names all that is no aggregate in SELECT; GROUP BY a, b WITH ROLLUP is ROLLUP (a, b)."""
    select = node.parent
    if node.args.get("all") and isinstance(select, exp.Select):
        items = [item for item in select.expressions if not with_aggregate(item)]
        node.set("all", None)
        node.set("expressions", [item.unalias().copy() for item in items])
    for word, made in (("rollup", exp.Rollup), ("cube", exp.Cube)):
        found = node.args.get(word) or []
        if len(found) == 1 and not found[0].expressions and node.expressions:
            node.set("expressions", [made(expressions=node.expressions)])
            node.set(word, None)


def _place(node: exp.Bracket) -> exp.Expr | None:
    """APPROX_QUANTILES(x, 100)[OFFSET(50)] is the quantile at 50/100."""
    inner, places = node.this, node.expressions
    if (
        not isinstance(inner, exp.ApproxQuantiles)
        or len(places) != 1
        or places[0].name.upper() != "OFFSET"
    ):
        return None
    at, of = places[0].expressions, inner.expression
    whole = [
        str(part.this)
        for part in (*at, of)
        if isinstance(part, exp.Literal) and str(part.this).isdigit()
    ]
    if len(whole) != 2 or not 0 < int(whole[1]) <= 10**6:
        return None
    share = exp.Div(this=exp.Literal.number(whole[0]), expression=exp.Literal.number(whole[1]))
    return exp.Quantile(this=inner.this, quantile=share)


def _convert(node: exp.Cast) -> exp.Expr | None:
    """CONVERT(date, x) of SQL Server has the type first; the grammar takes x for the type."""
    to = node.to
    if to.this is not exp.DType.USERDEFINED or not isinstance(node.this, exp.Column):
        return None
    if node.this.name.upper() not in _CASTS or not str(to.args.get("kind")).isidentifier():
        return None
    return exp.cast(exp.column(str(to.args["kind"])), node.this.name, dialect="duckdb")


def _present(node: exp.Nvl2) -> exp.Expr:
    there = exp.Not(this=exp.Is(this=node.this, expression=exp.Null()))
    return exp.Case(
        ifs=[exp.If(this=there, true=node.args["true"])], default=node.args.get("false")
    )


def _decode(node: exp.DecodeCase) -> exp.Expr:
    """DECODE(x, a, then, b, then, …, else): the first that equals x, where NULL equals NULL."""
    value, *rest = node.expressions
    pairs = zip(rest[::2], rest[1::2], strict=False)
    ifs = [exp.If(this=_same(value, sought), true=then) for sought, then in pairs]
    return exp.Case(ifs=ifs, default=rest[-1] if len(rest) % 2 else None)


def _same(value: exp.Expr, sought: exp.Expr) -> exp.Expr:
    if isinstance(sought, exp.Null):
        return exp.Is(this=value.copy(), expression=exp.Null())
    equal = exp.EQ(this=value.copy(), expression=sought)
    if isinstance(sought.unnest(), exp.Literal | exp.Neg | exp.Boolean):
        return equal
    missing = [exp.Is(this=one.copy(), expression=exp.Null()) for one in (value, sought)]
    return exp.Or(
        this=equal, expression=exp.Paren(this=exp.And(this=missing[0], expression=missing[1]))
    )


def _alike(node: exp.ILike) -> exp.Expr | None:
    """X ILIKE 'Pattern' is LOWER(x) LIKE 'pattern': letters a to z are alike, others are not, on every store."""
    pattern = node.expression.unnest()
    if (
        not isinstance(pattern, exp.Literal)
        or not pattern.is_string
        or not str(pattern.this).isascii()
    ):
        return None
    lower = exp.Literal.string(str(pattern.this).lower())
    return exp.Like(
        this=exp.Lower(this=node.this), expression=lower, negate=node.args.get("negate")
    )


def _by_comma(node: exp.Select) -> None:
    """FROM a, b WHERE a.id = b.id AND … is a join on what WHERE says of both."""
    where = node.args.get("where")
    joins = node.args.get("joins") or []
    bare = [
        j
        for j in joins
        if not any(j.args.get(part) for part in ("on", "using", "kind", "side", "method"))
    ]
    if where is None or not bare or node.args.get("from_") is None:
        return
    condition = where.this.unnest()
    rest = list(condition.flatten()) if isinstance(condition, exp.And) else [condition]
    seen = {node.args["from_"].this.alias_or_name.casefold()}
    for join in joins:
        name = join.this.alias_or_name.casefold()
        if join in bare:
            on = [part for part in rest if _connects(part, name, seen)]
            rest = [part for part in rest if not any(part is one for one in on)]
            if on:
                join.set("on", exp.and_(*on, copy=False) if len(on) > 1 else on[0])
        seen.add(name)
    if not rest:
        node.set("where", None)
    else:
        where.set("this", exp.and_(*rest, copy=False) if len(rest) > 1 else rest[0])


def _connects(part: exp.Expr, name: str, seen: set[str]) -> bool:
    """Return whether a condition is an equality of a column of one table with one of a table before it."""
    sides = [part.this, part.expression] if isinstance(part, exp.EQ) else []
    tables = {side.table.casefold() for side in sides if isinstance(side, exp.Column)}
    return len(tables) == 2 and name in tables and bool(tables - {name} <= seen)


_CHANGES: dict[type[exp.Expr], Callable[..., exp.Expr | None]] = {
    exp.Anonymous: _call,
    exp.Window: _ratio,
    exp.Group: _group,
    exp.Bracket: _place,
    exp.Cast: _convert,
    exp.Nvl2: _present,
    exp.DecodeCase: _decode,
    exp.ILike: _alike,
    exp.SafeDivide: lambda node: exp.Div(this=node.this, expression=node.expression),
    exp.DatetimeTrunc: lambda node: exp.TimestampTrunc(this=node.this, unit=node.args.get("unit")),
    exp.Select: _by_comma,
}
