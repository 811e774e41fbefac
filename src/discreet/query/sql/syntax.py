"""Reading parsed SQL by an allow-list: what is not named by the reader of a clause is refused, never skipped."""

from __future__ import annotations

from typing import NoReturn

from sqlglot import exp

from ..algebra.refusal import refusal

__all__ = ["clause_of", "identifier", "is_aggregate", "only", "refuse_node", "whole_literal", "with_aggregate"]

DETAILS = "docs/questions.md lists what can be asked"

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
}

_INSTEAD: dict[type[exp.Expr], tuple[str, str]] = {
    exp.Window: ("OVER", "use GROUP BY: a window shows one row's neighbours"),
    exp.Subquery: ("a sub-query in an expression", "join a public table, or group by the person in FROM"),
    exp.Select: ("a sub-query in an expression", "join a public table, or group by the person in FROM"),
    exp.Exists: ("EXISTS", "join a public table, or join private tables on the person"),
    exp.Star: ("*", "name the columns"),
    exp.IntDiv: ("//", "write FLOOR(x / y)"),
    exp.ILike: ("ILIKE", "write LOWER(x) LIKE 'pattern'"),
    exp.DayOfWeek: ("DAYOFWEEK", "stores disagree where a week begins; write EXTRACT(ISODOW FROM d), 1 is Monday"),
    exp.Rand: ("RANDOM", "answers may not depend on chance in the store"),
    exp.CurrentDate: ("CURRENT_DATE", "answers may not depend on the clock; write DATE '2024-01-31'"),
    exp.CurrentTimestamp: ("NOW", "answers may not depend on the clock; write TIMESTAMP '2024-01-31 00:00:00'"),
    exp.Interval: ("INTERVAL", "write the date itself, as DATE '2024-01-31'"),
    exp.Placeholder: ("a parameter", "write the value into the question"),
    exp.Parameter: ("a parameter", "write the value into the question"),
    exp.Escape: ("ESCAPE", "patterns know only % and _"),
    exp.Distinct: ("DISTINCT", "only COUNT(DISTINCT …) counts each value once"),
    exp.Tuple: ("a row of values", "compare the columns one by one"),
    exp.Dot: (".", "name a column of a declared table"),
    exp.Bracket: ("[…]", "there are no lists"),
    exp.Any: ("ANY", "write IN (…)"),
    exp.All: ("ALL", "compare with one value"),
}


def clause_of(node: exp.Expr) -> str:
    """Name a part of a question as SQL writes it, for a refusal."""
    if type(node) in _INSTEAD:
        return _INSTEAD[type(node)][0]
    if isinstance(node, exp.IgnoreNulls | exp.RespectNulls):
        return clause_of(node.this)
    if isinstance(node, exp.Anonymous | exp.Var):
        return f"{node.name}()" if isinstance(node, exp.Anonymous) else node.name
    if isinstance(node, exp.Func):
        return f"{type(node).sql_names()[0]}()"
    return type(node).__name__.upper()


def refuse_node(node: exp.Expr) -> NoReturn:
    """Refuse a part of a question that is on no list."""
    if is_aggregate(node) and type(node) not in _INSTEAD:
        raise refusal(clause_of(node), "an aggregate cannot stand here", "use it in SELECT, HAVING or ORDER BY")
    instead = _INSTEAD[type(node)][1] if type(node) in _INSTEAD else DETAILS
    raise refusal(clause_of(node), "it is not among what can be asked privately", instead)


def only(node: exp.Expr, *known: str) -> None:
    """Refuse whatever a node carries beyond what its reader knows."""
    for part, value in node.args.items():
        if value and part not in known:
            clause = _CLAUSES.get(part, part.strip("_").replace("_", " ").upper())
            raise refusal(clause, f"it is not supported in {_place(node)}", DETAILS)


def _place(node: exp.Expr) -> str:
    if isinstance(node, exp.Table):
        return "FROM"
    return clause_of(node) if isinstance(node, exp.Func) else node.key.upper()


def identifier(node: exp.Expr) -> str:
    """Read a name; its case is kept, but never matters."""
    only(node, "this", "quoted")
    return str(node.this)


def whole_literal(node: object, clause: str) -> int:
    """Read a whole number that is written out, as LIMIT and ordinals need."""
    if not isinstance(node, exp.Literal) or node.is_string or not str(node.this).isdigit() or len(str(node.this)) > 18:
        raise refusal(clause, "it takes a whole number that is written out", f"write {clause} 10")
    return int(str(node.this))


_AGGREGATES = (exp.AggFunc, exp.Filter, exp.WithinGroup, exp.Window)


def is_aggregate(node: exp.Expr) -> bool:
    """Return whether a node sums up many rows."""
    return isinstance(node, _AGGREGATES) and not isinstance(node, exp.Grouping)  # GROUPING(x) tells of the row itself


def with_aggregate(node: exp.Expr) -> bool:
    """Return whether a node holds an aggregate anywhere."""
    return node.find(*_AGGREGATES) is not None
