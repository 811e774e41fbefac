"""Reading parsed SQL by an allow-list: what is not named by the reader of a clause is refused, never skipped."""

from __future__ import annotations

from typing import NoReturn

from sqlglot import exp

from ..algebra.refusal import refusal
from .lexical.quote import quote_of, shorten

DETAILS = "docs/questions.md lists what can be asked"
_ROWS = "use FLOOR, CASE, LOWER, SUBSTRING, DATE_TRUNC or the like, listed in docs/questions.md, or a prepared column"

_CLAUSES = {
    "with_": "WITH",
    "distinct": "DISTINCT",
    "into": "INTO",
    "laterals": "LATERAL",
    "qualify": "QUALIFY",
    "windows": "WINDOW",
    "locks": "FOR UPDATE",
    "sample": "TABLESAMPLE",
    "pivots": "PIVOT",
    "joins": "JOIN",
    "order": "ORDER BY",
    "group": "GROUP BY",
    "db": "a qualified table name",
    "when": "AT",
    "except_": "EXCLUDE",
    "grouping_sets": "GROUPING SETS",
    "hints": "WITH (…)",
    "spec": "ROWS BETWEEN",
    "on": "DISTINCT ON",
}

_LEFT_OUT = {
    "qualify": "use HAVING, or ORDER BY … LIMIT",
    "sample": "leave it out: noise is all the chance there is",
    "pivots": "GROUP BY the column instead",
    "hints": "leave it out",
    "symmetric": "write the lesser bound first",
    "spec": "running totals go from the first row to the current one, so leave the frame out",
    "laterals": "join a public table, or private ones on the person",
    "on": "GROUP BY those columns, and ask for aggregates of the others",
}
"""What would work instead of a clause that is refused wherever it stands."""
_WINDOW = "use GROUP BY: a window shows one row's neighbours"
_RESULTS = (
    "over results there are SUM(COUNT(*)) OVER (), LAG and LEAD, and running totals along a number"
)
_SINGLE = "it would show values of single people; ask for COUNT(*), MODE(x), MIN(x) or MAX(x)"
_FORMAT = "group by the date itself, as DATE_TRUNC('month', d), or by YEAR(d) and MONTH(d)"
_CLOCK = "answers may not depend on the clock; write DATE '2024-01-31'"
_RANK = "write ORDER BY … DESC, and LIMIT for the first of them"
_NAMED = {
    **dict.fromkeys(("NOW", "GETDATE", "SYSDATE", "SYSDATETIME", "GETUTCDATE"), _CLOCK),
    **dict.fromkeys(
        ("FORMAT_DATE", "FORMAT_TIMESTAMP", "DATE_FORMAT", "FORMAT", "DATENAME"), _FORMAT
    ),
    "YEARWEEK": "group by DATE_TRUNC('week', d), or by ISOYEAR(d) and WEEK(d)",
    "AGE": "write DATE_DIFF('year', d, DATE '2024-01-31')",
    "APPROX_TOP_COUNT": "write GROUP BY x ORDER BY COUNT(*) DESC LIMIT 10",
    "GENERATE_SERIES": "all public keys of GROUP BY have a row already",
}
"""What to write instead of functions that the grammar knows by no class."""
_INSTEAD: dict[type[exp.Expr], tuple[str, str]] = {
    exp.Window: ("OVER", _WINDOW),
    exp.RowNumber: ("ROW_NUMBER", "use ORDER BY … LIMIT on the result"),
    exp.Subquery: (
        "a sub-query in an expression",
        "join a public table, or group by the person in FROM",
    ),
    exp.Select: (
        "a sub-query in an expression",
        "join a public table, or group by the person in FROM",
    ),
    exp.Exists: ("EXISTS", "in WHERE, joined by AND, it takes private tables of the same person"),
    exp.Star: ("*", "name the columns"),
    exp.IntDiv: ("//", "write FLOOR(x / y)"),
    exp.ILike: (
        "ILIKE",
        "write a pattern of letters a to z, as x ILIKE 'abc%'; stores disagree on others",
    ),
    exp.RegexpLike: ("a regular expression", "write LIKE 'abc%', or x IN ('a', 'b')"),
    exp.SimilarTo: ("SIMILAR TO", "write LIKE 'abc%', or x IN ('a', 'b')"),
    exp.DayOfWeek: (
        "DAYOFWEEK",
        "stores disagree where a week begins; write EXTRACT(ISODOW FROM d), 1 is Monday",
    ),
    exp.TimeToStr: ("a date as text", _FORMAT),
    exp.ToChar: ("a date as text", _FORMAT),
    exp.Monthname: ("MONTHNAME", "write MONTH(d)"),
    exp.Dayname: ("DAYNAME", "write EXTRACT(ISODOW FROM d), 1 is Monday"),
    exp.StrToTime: ("text as a date", "declare the column as Date or Timestamp"),
    exp.Rand: ("RANDOM", "answers may not depend on chance in the store"),
    exp.CurrentDate: ("CURRENT_DATE", _CLOCK),
    exp.CurrentTimestamp: (
        "NOW",
        "answers may not depend on the clock; write TIMESTAMP '2024-01-31 00:00:00'",
    ),
    exp.Interval: ("INTERVAL", "add it to a date, as d + INTERVAL '1' DAY"),
    exp.Placeholder: ("a parameter", "write the value into the question"),
    exp.Parameter: ("a parameter", "write the value into the question"),
    exp.Escape: ("ESCAPE", "patterns know only % and _"),
    exp.Distinct: ("DISTINCT", "only COUNT(DISTINCT …) counts each value once"),
    exp.Tuple: ("a row of values", "compare the columns one by one"),
    exp.Dot: (".", "name a column of a declared table"),
    exp.Bracket: ("[…]", "there are no lists"),
    exp.Any: ("ANY", "write IN (…)"),
    exp.All: ("ALL", "compare with one value"),
    exp.GroupConcat: ("a list of values", _SINGLE),
    exp.ArrayAgg: ("a list of values", _SINGLE),
    exp.AnyValue: ("one of the values", _SINGLE),
    exp.First: ("the first value", _SINGLE),
    exp.Last: ("the last value", _SINGLE),
    exp.ArgMax: ("the value at a maximum", _SINGLE),
    exp.ArgMin: ("the value at a minimum", _SINGLE),
    exp.LogicalOr: ("BOOL_OR", "write COUNT_IF(condition) > 0"),
    exp.LogicalAnd: ("BOOL_AND", "write COUNT_IF(NOT condition) = 0"),
    exp.Trunc: ("TRUNC", "write FLOOR(x), or FLOOR(x / 100) * 100"),
    exp.RegrSlope: ("REGR_SLOPE", "write COVAR_POP(y, x) / VAR_POP(x)"),
    exp.Right: ("RIGHT", "write LEFT, SUBSTRING(x, 1, 3) or LIKE '%abc'"),
    exp.Rank: ("RANK", _RANK),
    exp.DenseRank: ("DENSE_RANK", _RANK),
    exp.ApproxTopK: (
        "the most frequent values",
        "write GROUP BY x ORDER BY COUNT(*) DESC LIMIT 10",
    ),
}
_QUOTED = (
    exp.Func,
    exp.Binary,
    exp.Predicate,
    exp.Cast,
    exp.Interval,
    exp.Column,
    exp.Window,
    exp.Unary,
)
_UNNAMED = (
    exp.Subquery,
    exp.Select,
    exp.Exists,
    exp.Star,
    exp.Tuple,
    exp.Any,
    exp.All,
    exp.Array,
    exp.In,
)


def clause_of(node: exp.Expr) -> str:
    """Name a part of a question by the user's own words, for a refusal; else as SQL writes it."""
    if isinstance(node, exp.IgnoreNulls | exp.RespectNulls):
        return clause_of(node.this)
    if isinstance(node, exp.Window) or any(
        isinstance(part, exp.Null | exp.Boolean) for part in node.iter_expressions()
    ):
        return shorten(node.sql(dialect="duckdb", comments=False))
    found = quote_of(node) if isinstance(node, _QUOTED) and not isinstance(node, _UNNAMED) else None
    if found is not None:
        return found
    if type(node) in _INSTEAD:
        return _INSTEAD[type(node)][0]
    if isinstance(node, exp.Anonymous | exp.Var):
        return f"{node.name}()" if isinstance(node, exp.Anonymous) else node.name
    if isinstance(node, exp.Func):
        return f"{type(node).sql_names()[0]}()"
    return type(node).__name__.upper()


def refuse_node(node: exp.Expr) -> NoReturn:
    """Refuse a part of a question that is on no list."""
    inner = node.this if isinstance(node, exp.IgnoreNulls | exp.RespectNulls) else node
    if is_aggregate(inner) and type(inner) not in _INSTEAD:
        raise refusal(
            clause_of(node),
            "an aggregate cannot stand here",
            "use it in SELECT, HAVING or ORDER BY",
        )
    raise refusal(clause_of(node), "it is not among what can be asked privately", _instead(inner))


def _instead(node: exp.Expr) -> str:
    """Name the nearest that works instead of what is on no list."""
    if isinstance(node, exp.Window):
        return _instead_of_window(node)
    if isinstance(node, exp.Anonymous):
        return _NAMED.get(node.name.upper(), _ROWS)
    if type(node) in _INSTEAD:
        return _INSTEAD[type(node)][1]
    return _ROWS if isinstance(node, exp.Func) else DETAILS


def _instead_of_window(node: exp.Window) -> str:
    if isinstance(node.this, exp.Rank | exp.DenseRank | exp.RowNumber):
        return _RANK
    return _RESULTS if with_aggregate(node.this.this or node.this) else _WINDOW


def only(node: exp.Expr, *known: str) -> None:
    """Refuse whatever a node carries beyond what its reader knows."""
    for part, value in node.args.items():
        if value and part not in known:
            clause = _CLAUSES.get(part, part.strip("_").replace("_", " ").upper())
            raise refusal(
                clause, f"it is not supported in {_place(node)}", _LEFT_OUT.get(part, DETAILS)
            )


def _place(node: exp.Expr) -> str:
    if isinstance(node, exp.Table):
        return "FROM"
    if isinstance(node, exp.Func):
        return clause_of(node)
    words = {"subquery": "a sub-query", "ordered": "ORDER BY", "tablealias": "AS", "cte": "WITH"}
    return words.get(node.key, node.key.upper())


def identifier(node: exp.Expr) -> str:
    """Read a name; its case is kept, but never matters."""
    only(node, "this", "quoted")
    return str(node.this)


def whole_literal(node: object, clause: str) -> int:
    """Read a whole number that is written out, as LIMIT and ordinals need."""
    if (
        not isinstance(node, exp.Literal)
        or node.is_string
        or not str(node.this).isdigit()
        or len(str(node.this)) > 18
    ):
        raise refusal(clause, "it takes a whole number that is written out", f"write {clause} 10")
    return int(str(node.this))


_AGGREGATES = (exp.AggFunc, exp.Filter, exp.WithinGroup, exp.Window)
_RENAMED: dict[str, tuple[type[exp.Expr], tuple[str, ...]]] = {
    "VAR": (exp.Variance, ("this",)),
    "STD": (exp.Stddev, ("this",)),
    "STDEV": (exp.Stddev, ("this",)),
    "VARP": (exp.VariancePop, ("this",)),
    "STDEVP": (exp.StddevPop, ("this",)),
    "APPROX_MEDIAN": (exp.Median, ("this",)),
    "APPROX_PERCENTILE": (exp.ApproxQuantile, ("this", "quantile")),
    "PERCENTILE_APPROX": (exp.ApproxQuantile, ("this", "quantile")),
    "PERCENTILE": (exp.ApproxQuantile, ("this", "quantile")),
    "COUNT_BIG": (exp.Count, ("this",)),
}
"""Aggregates by names that only some dialects know."""


def aggregate_named(node: exp.Expr) -> exp.Expr:
    """Return an aggregate of another dialect as the one it means; other nodes as they are."""
    if not isinstance(node, exp.Anonymous) or node.name.upper() not in _RENAMED:
        return node
    made, parts = _RENAMED[node.name.upper()]
    if len(node.expressions) != len(parts):
        raise refusal(clause_of(node), f"it takes {len(parts)} arguments", DETAILS)
    return made(**dict(zip(parts, node.expressions, strict=True)))


def nearest_to(node: exp.Expr) -> str:
    """Name the nearest question that works instead of an aggregate."""
    return (
        _INSTEAD[type(node)][1]
        if type(node) in _INSTEAD
        else "use COUNT, SUM, AVG, VARIANCE, MEDIAN, MIN, MAX or MODE"
    )


def is_aggregate(node: exp.Expr) -> bool:
    """Return whether a node sums up many rows."""
    if isinstance(node, exp.Anonymous):
        return node.name.upper() in _RENAMED
    return isinstance(node, _AGGREGATES) and not isinstance(
        node, exp.Grouping
    )  # GROUPING(x) tells of the row itself


def with_aggregate(node: exp.Expr) -> bool:
    """Return whether a node holds an aggregate anywhere."""
    return node.find(*_AGGREGATES) is not None or any(
        map(is_aggregate, node.find_all(exp.Anonymous))
    )
