"""Allow-list for parsed SQL: helpers with which readers refuse every part that they do not know.

Each clause has a reader that names the parts it understands. Any other part is refused, never
skipped, so no construct of SQL is ignored.

Guarantee: a part that its reader does not name ends in a refusal (`only`, `refuse_node`).

Refuses: `UnsupportedQuery` with the clause as the user wrote it, the reason, and an alternative.

Law: tests/query/test_sql_refusals.py::test_is_refused_and_the_clause_is_named
"""

from __future__ import annotations

from typing import NoReturn

from sqlglot import exp

from ...show.nearest import did_you_mean
from ..algebra.refusal import refusal
from ..algebra.statistic import FUNCTIONS
from .lexical.quote import quote_of, shorten

DETAILS = "docs/reference/question-language.md lists what can be asked"
_ROWS = (
    "use FLOOR, CASE, LOWER, SUBSTRING, DATE_TRUNC or the like, listed in "
    "docs/reference/question-language.md, or a prepared column"
)

# Clauses as users write them, by the names of the grammar's parts.
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

_CLAUSE_NAMES = {
    "subquery": "a sub-query",
    "ordered": "ORDER BY",
    "tablealias": "AS",
    "cte": "WITH",
}
"""Clauses that a node of the grammar stands for, by its key."""

# Alternatives to clauses that are refused in every place.
_LEFT_OUT = {
    "qualify": "use it after GROUP BY, or in a SELECT around it",
    "sample": "leave it out: noise is all the chance there is",
    "pivots": "GROUP BY the column instead",
    "hints": "leave it out",
    "symmetric": "write the lesser bound first",
    "spec": "running totals go from the first row to the current one, so leave the frame out",
    "laterals": "join a public table, or private ones on the person",
    "on": "GROUP BY those columns, and ask for aggregates of the others",
    "limit": "in a sub-query it would pick rows of people; choose them by WHERE",
}

# Alternatives that several refusals share.
_WINDOW = "use GROUP BY: a window shows one row's neighbours"
_RESULTS = "over results there are SUM, AVG, COUNT, MIN and MAX, LAG and LEAD, and ranks of rows"
_SINGLE = "it would show values of single people; ask for COUNT(*), MODE(x), MIN(x) or MAX(x)"
_FORMAT = "group by the date itself, as DATE_TRUNC('month', d), or by YEAR(d) and MONTH(d)"
_CLOCK = "answers may not depend on the clock; write DATE '2024-01-31'"
_SCALAR = (
    "ask for the inner number first and write it out, as WHERE cost > 120; "
    "or join a sub-query that groups by the person; "
    "beside results a sub-query may be a count, sum or mean of all rows"
)
_RANK = "write ORDER BY … DESC, and LIMIT for the first of them"

# Alternatives to functions for which the grammar has no class of its own.
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

KNOWN_FUNCTIONS = (
    *("COUNT", "SUM", "AVG", "MIN", "MAX", "MEDIAN", "QUANTILE", "MODE", "COUNT_IF"),
    *("PERCENTILE_CONT", "PERCENTILE_DISC", "APPROX_COUNT_DISTINCT", "LAG", "LEAD"),
    *("ABS", "FLOOR", "CEIL", "ROUND", "SIGN", "SQRT", "POWER", "LN", "EXP", "LOG10", "PMOD"),
    *("LEAST", "GREATEST", "COALESCE", "NULLIF", "IF", "IFF", "CASE", "DECODE", "WIDTH_BUCKET"),
    *("LOWER", "UPPER", "LENGTH", "TRIM", "LEFT", "SUBSTRING", "CONCAT", "CAST", "EXTRACT"),
    *("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND", "ISOYEAR"),
    *("DAYOFYEAR", "DATE_TRUNC", "DATE_DIFF", "DATE_PART", "DATE_SUB", "DATEADD", "LAST_DAY"),
    *("TIME_BUCKET", "TIMESTAMPDIFF", "IFNULL", "NVL", "NVL2", "SAFE_DIVIDE", "ZEROIFNULL"),
)
"""Functions that are read, the usual ones first: of equally near names these come first."""

# Functions of other dialects, by the function that means the same here.
_FOREIGN = {
    "AVERAGE": "AVG",
    "COUNTA": "COUNT",
    "COUNT_DISTINCT": "COUNT(DISTINCT x)",
    "COUNTD": "COUNT(DISTINCT x)",
    "SUMIF": "SUM(x) FILTER (WHERE …)",
    "SUM_IF": "SUM(x) FILTER (WHERE …)",
    "AVG_IF": "AVG(x) FILTER (WHERE …)",
    "COUNTIFS": "COUNT_IF",
    "NUNIQUE": "COUNT(DISTINCT x)",
    "N_DISTINCT": "COUNT(DISTINCT x)",
    "UNIQ": "COUNT(DISTINCT x)",
    "STDDEVP": "STDDEV_POP",
    "STDEV_S": "STDDEV_SAMP",
    "UCASE": "UPPER",
    "LCASE": "LOWER",
    "TOUPPER": "UPPER",
    "TOLOWER": "LOWER",
    "MID": "SUBSTRING",
    "CHARACTER_LENGTH": "LENGTH",
    "SQR": "POWER(x, 2)",
    "SQUARE": "POWER(x, 2)",
    "CONCATENATE": "CONCAT",
    "INT": "FLOOR",
    "TODATE": "CAST(x AS DATE)",
    "DATESUB": "d - INTERVAL '1' DAY",
    "MONTHS_BETWEEN": "DATE_DIFF('month', a, b)",
    "YEAROF": "YEAR",
    "IFELSE": "CASE WHEN … THEN … ELSE … END",
    "ISNA": "x IS NULL",
}

# Name and alternative of each known construct that has no private meaning, by its class.
_INSTEAD: dict[type[exp.Expr], tuple[str, str]] = {
    exp.Window: ("OVER", _WINDOW),
    exp.RowNumber: ("ROW_NUMBER", "number the rows of a result, with GROUP BY"),
    exp.Subquery: ("a sub-query in an expression", _SCALAR),
    exp.Select: ("a sub-query in an expression", _SCALAR),
    exp.Lateral: ("LATERAL", "join a sub-query that groups by the person"),
    exp.Exists: ("EXISTS", "in WHERE, joined by AND, it takes private tables of the same person"),
    exp.Star: ("*", "name the columns"),
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

# Constructs that are quoted from the question in a refusal, and exceptions that have a name.
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
    """Name a part of a question for a refusal: quote the user's text, else write it as SQL."""
    if isinstance(node, exp.IgnoreNulls | exp.RespectNulls):
        return clause_of(node.this)
    if isinstance(node, exp.Window) or _has_unplaced_part(node):
        return shorten(node.sql(dialect="duckdb", comments=False))
    if isinstance(node, _QUOTED) and not isinstance(node, _UNNAMED):
        quote = quote_of(node)
        if quote is not None:
            return quote
    if type(node) in _INSTEAD:
        return _INSTEAD[type(node)][0]
    if isinstance(node, exp.Anonymous | exp.Var):
        return f"{node.name}()" if isinstance(node, exp.Anonymous) else node.name
    if isinstance(node, exp.Func):
        return f"{type(node).sql_names()[0]}()"
    return type(node).__name__.upper()


def _has_unplaced_part(node: exp.Expr) -> bool:
    """Return whether a direct part has no position in the text, so that a quote would lose it."""
    return any(isinstance(part, exp.Null | exp.Boolean) for part in node.iter_expressions())


def refuse_node(node: exp.Expr) -> NoReturn:
    """Refuse a part of a question that is on no allow-list."""
    clause = clause_of(node)
    if isinstance(node, exp.Anonymous) and node.name.upper() not in _NAMED:
        hint = function_hint(node.name)
        if hint:
            raise refusal(clause, "there is no such function", hint)
    # IGNORE NULLS wraps the function that is meant, and that function has the alternative.
    inner = node.this if isinstance(node, exp.IgnoreNulls | exp.RespectNulls) else node
    if is_aggregate(inner) and type(inner) not in _INSTEAD:
        raise refusal(
            clause, "an aggregate cannot stand here", "use it in SELECT, HAVING or ORDER BY"
        )
    raise refusal(clause, "it is not among what can be asked privately", _alternative(inner))


def function_hint(name: str) -> str:
    """Return the function that a misspelt or foreign name means, as a question; else nothing."""
    meant = _FOREIGN.get(name.upper())
    if meant is not None:
        return f"did you mean {meant}?"
    # A known function that has no reader here was given other arguments than it takes.
    if name.upper() in KNOWN_FUNCTIONS:
        return ""
    return did_you_mean(name, [*KNOWN_FUNCTIONS, *FUNCTIONS, *_RENAMED])


def _alternative(node: exp.Expr) -> str:
    """Name the nearest construct that works instead of a refused one."""
    if isinstance(node, exp.Window):
        return _window_alternative(node)
    if isinstance(node, exp.Anonymous):
        return _NAMED.get(node.name.upper(), _ROWS)
    if type(node) in _INSTEAD:
        return _INSTEAD[type(node)][1]
    return _ROWS if isinstance(node, exp.Func) else DETAILS


def _window_alternative(node: exp.Window) -> str:
    if isinstance(node.this, exp.Rank | exp.DenseRank | exp.RowNumber):
        return _RANK
    function = node.this
    arguments = [function.this or function]
    # A function that the parser does not know holds its name there, and its arguments apart.
    if isinstance(function.this, str):
        arguments = function.expressions
    # A window over aggregates works on noisy results, so those windows are the nearest.
    return _RESULTS if any(map(with_aggregate, arguments)) else _WINDOW


def only(node: exp.Expr, *known: str) -> None:
    """Refuse every part of a node that its reader does not name in `known`."""
    for part, value in node.args.items():
        if value and part not in known:
            written = part.strip("_").replace("_", " ").upper()
            clause = _CLAUSES.get(part, written)
            alternative = _LEFT_OUT.get(part, DETAILS)
            raise refusal(clause, f"it is not supported in {_clause_name(node)}", alternative)


def _clause_name(node: exp.Expr) -> str:
    if isinstance(node, exp.Table):
        return "FROM"
    if isinstance(node, exp.Func):
        return clause_of(node)
    return _CLAUSE_NAMES.get(node.key, node.key.upper())


def conjuncts(condition: exp.Expr) -> list[exp.Expr]:
    """List the conditions that AND joins; any other condition is alone."""
    return list(condition.flatten()) if isinstance(condition, exp.And) else [condition]


def identifier(node: exp.Expr) -> str:
    """Read a name; its case is kept, but never matters."""
    only(node, "this", "quoted")
    return str(node.this)


def integer_literal(node: object, clause: str) -> int:
    """Read a whole number that is written out, as LIMIT and ordinals need."""
    if isinstance(node, exp.Literal) and not node.is_string:
        digits = str(node.this)
        # 18 digits always fit into 64 bits; every store holds such a number.
        if digits.isdigit() and len(digits) <= 18:
            return int(digits)
    raise refusal(clause, "it takes a whole number that is written out", f"write {clause} 10")


_AGGREGATES = (exp.AggFunc, exp.Filter, exp.WithinGroup, exp.Window)
SUMMARIES = (exp.Sum, exp.Avg, exp.Count, exp.Min, exp.Max)
"""Aggregates of rows, or of results where they stand before OVER."""
_RESULTS_ALONE = (exp.Lag, exp.Lead, exp.RowNumber, exp.Rank, exp.DenseRank)
"""Functions before OVER that read results alone."""

# Aggregates under names that only some dialects know, with the parts their arguments fill.
_RENAMED: dict[str, tuple[type[exp.Expr], tuple[str, ...]]] = {
    "MEAN": (exp.Avg, ("this",)),
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


def standard_aggregate(node: exp.Expr) -> exp.Expr:
    """Return an aggregate of another dialect as the one it means; other nodes as they are."""
    if not isinstance(node, exp.Anonymous) or node.name.upper() not in _RENAMED:
        return node
    aggregate, parts = _RENAMED[node.name.upper()]
    require_arity(node, len(parts))
    arguments = zip(parts, node.expressions, strict=True)
    return aggregate(**dict(arguments))


def require_arity(node: exp.Anonymous, arity: int) -> None:
    """Refuse a function that the grammar does not know with another number of arguments."""
    if len(node.expressions) != arity:
        raise refusal(clause_of(node), f"it takes {arity} arguments", DETAILS)


def aggregate_name(node: exp.Expr) -> str:
    """Return the name under which a statistic declares this function; empty for other nodes."""
    names = []
    if isinstance(node, exp.Anonymous):
        names = [node.name.upper()]
    elif isinstance(node, exp.AggFunc):
        names = type(node).sql_names()
    declared = [name for name in names if name in FUNCTIONS]
    return declared[0] if declared else ""


def suggested_aggregate(node: exp.Expr) -> str:
    """Name the nearest question that works instead of an aggregate."""
    usual = ("", "use COUNT, SUM, AVG, VARIANCE, MEDIAN, MIN, MAX or MODE")
    _, alternative = _INSTEAD.get(type(node), usual)
    return alternative


def is_aggregate(node: exp.Expr) -> bool:
    """Return whether a node summarises many rows."""
    if isinstance(node, exp.Anonymous):
        return node.name.upper() in _RENAMED or aggregate_name(node) != ""
    # The grammar calls GROUPING(x) an aggregate, but it only tells of its own row.
    return isinstance(node, _AGGREGATES) and not isinstance(node, exp.Grouping)


def with_aggregate(node: exp.Expr) -> bool:
    """Return whether a node contains an aggregate anywhere."""
    if node.find(*_AGGREGATES) is not None:
        return True
    return any(map(is_aggregate, node.find_all(exp.Anonymous)))


def is_result_window(node: exp.Expr) -> bool:
    """Return whether a node is a window over results of GROUP BY, other than a running total."""
    if not isinstance(node, exp.Window):
        return False
    function = node.this
    if isinstance(function, _RESULTS_ALONE):
        return True
    if not isinstance(function, SUMMARIES):
        return False
    if not with_aggregate(function.this):
        # Of rows it would show one row's neighbours; of keys it reads results.
        select = node.find_ancestor(exp.Select)
        return select is not None and select.args.get("group") is not None
    # SUM with ORDER BY alone is a running total, which is planned as a statistic of its own.
    plain_order = node.args.get("order") is not None and node.args.get("spec") is None
    return not (isinstance(function, exp.Sum) and plain_order)
