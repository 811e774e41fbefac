"""A question of `oracles.meaning`, which is plain data, as SQL and as `dp.Table` builds it."""

from __future__ import annotations

from datetime import date

import discreet as dp
from discreet.query import case, count, count_people, maximum, mean, minimum, overall, sum_of

IDS = {"members": "member"}
"""Tables whose people's id has another name."""


def sql_of(plain):
    """Write a question as SQL."""
    shown = [f"{text(key['expression'])} AS {key['name']}" for key in plain["keys"]]
    shown += [f"{statistic_text(each)} AS {name}" for name, each in plain["statistics"].items()]
    return f"SELECT {', '.join(shown)} FROM {from_text(plain['from'])}{group_text(plain)}"


def group_text(plain):
    texts = [text(key["expression"]) for key in plain["keys"]]
    if not texts:
        return ""
    if plain["sets"] is None:
        return f" GROUP BY {', '.join(texts)}"
    sets = ", ".join(f"({', '.join(texts[place] for place in one)})" for one in plain["sets"])
    return f" GROUP BY GROUPING SETS ({sets})"


def statistic_text(statistic):
    if statistic["what"] == "overall":
        return (
            f"(SELECT {statistic_text(statistic['statistic'])} FROM {from_text(statistic['from'])})"
        )
    of = text(statistic["of"]) if "of" in statistic else "*"
    if "case" in statistic:  # another way to write FILTER
        return f"COUNT(DISTINCT CASE WHEN {text(statistic['filter'])} THEN id END)"
    if statistic["what"] == "quantile":
        return f"QUANTILE({of}, {statistic['at']})"
    names = {"count": "COUNT", "sum": "SUM", "mean": "AVG"}
    made = (
        "COUNT(DISTINCT id)"
        if statistic["what"] == "people"
        else f"{names[statistic['what']]}({of})"
    )
    if "filter" in statistic:
        made += f" FILTER (WHERE {text(statistic['filter'])})"
    return made


def from_text(relation):
    """Write what stands after FROM, WHERE included."""
    kind, *parts = relation
    match kind:
        case "table":
            return parts[0]
        case "where":
            inner = from_text(parts[0])
            word = "AND" if " WHERE " in inner and parts[0][0] == "where" else "WHERE"
            if parts[0][0] in ("select", "union", "per person"):
                inner = as_table(parts[0])
            return f"{inner} {word} {text(parts[1])}"
        case "public":
            rows, public, expression, matched, keep = parts
            join = "LEFT JOIN" if keep else "JOIN"
            return f"{from_text(rows)} {join} {public} ON {text(expression)} = {matched}"
        case "people":
            left, right = map(from_text, parts)
            return f"{left} JOIN {right} ON {left}.id = {right}.{IDS.get(right, 'id')}"
        case "listed":
            return listed_text(*parts)
    return as_table(relation)


def listed_text(rows, expressions, listed):
    values = ", ".join(f"({', '.join(map(literal, row))})" for row in listed)
    names = [f"k{place}" for place, _ in enumerate(expressions)]
    on = " AND ".join(f"{text(e)} = k.{name}" for e, name in zip(expressions, names, strict=True))
    join = f"JOIN (VALUES {values}) AS k({', '.join(names)}) ON {on}"
    if rows[0] == "where":
        return f"{from_text(rows[1])} {join} WHERE {text(rows[2])}"
    return f"{from_text(rows)} {join}"


def as_table(relation):
    return f"({select_text(relation)}) AS t"


def select_text(relation):
    kind, *parts = relation
    match kind:
        case "union":
            return " UNION ALL ".join(map(select_text, parts))
        case "select":
            chosen = [f"{text(expression)} AS {name}" for name, expression in parts[1].items()]
            return f"SELECT {', '.join(chosen)} FROM {from_text(parts[0])}"
        case "per person":
            totals = [f"{total_text(*total)} AS {name}" for name, total in parts[1].items()]
            return f"SELECT id, {', '.join(totals)} FROM {from_text(parts[0])} GROUP BY id"
    return f"SELECT * FROM {from_text(relation)}"


def total_text(what, expression, _low, _high):
    return "COUNT(*)" if what == "count" else f"{what.upper()}({text(expression)})"


def literal(constant):
    if isinstance(constant, date):
        return f"DATE '{constant}'"
    return repr(constant) if isinstance(constant, str) else str(constant)


def text(expression):
    """Write an expression as SQL."""
    kind, *parts = expression
    match kind:
        case "column":
            return parts[0]
        case "value":
            return literal(parts[0])
        case "is null":
            return f"{text(parts[0])} IS NULL"
        case "not":
            return f"NOT ({text(parts[0])})"
        case "and" | "or":
            return f"({f' {kind.upper()} '.join(map(text, parts))})"
        case "coalesce":
            return f"COALESCE({', '.join(map(text, parts))})"
        case "in":
            return f"{text(parts[0])} IN ({', '.join(map(literal, parts[1]))})"
        case "case":
            branches = [f"WHEN {text(when)} THEN {text(then)}" for when, then in parts[0]]
            otherwise = f" ELSE {text(parts[1])}" if parts[1] else ""
            return f"CASE {' '.join(branches)}{otherwise} END"
        case "bin":
            return f"FLOOR({text(parts[0])} / {text(parts[1])})"
        case "week":
            return f"DATE_TRUNC('week', {text(parts[0])})"
    return f"{text(parts[0])} {kind} {text(parts[1])}"


# The same question in Python.
def python_of(plain, schemas, public_values):
    """Build a question with `dp.Table`; None for sets and lists of keys, which it says otherwise."""
    if plain["sets"] is not None or plain["from"][0] == "listed":
        return None
    by = {key["name"]: column_of(key["expression"]) for key in plain["keys"]}
    named = {}
    for name, each in plain["statistics"].items():
        if each["what"] == "overall":
            table = table_of(each["from"], schemas, public_values)
            named[name] = overall(table, statistic_of(each["statistic"]))
        else:
            named[name] = statistic_of(each)
    return table_of(plain["from"], schemas, public_values).aggregate(by=by, **named)


def statistic_of(statistic):
    of = statistic.get("of", ("value", 1))
    if statistic["what"] == "people" and "filter" in statistic:
        return count_people(column_of(statistic["filter"]))
    if "filter" in statistic:
        of = ("case", [(statistic["filter"], of)], None)
    if statistic["what"] == "people":
        return count_people()
    if statistic["what"] == "count" and "of" not in statistic and "filter" not in statistic:
        return count()
    makes = {"count": count, "sum": sum_of, "mean": mean, "min": minimum, "max": maximum}
    return makes[statistic["what"]](column_of(of))


def table_of(relation, schemas, public_values):
    kind, first, *parts = relation
    if kind == "table":
        return dp.Table(schemas[first], public_values)
    inner = table_of(first, schemas, public_values)
    match kind:
        case "where":
            return inner.where(column_of(parts[0]))
        case "select":
            return inner.select(**{name: column_of(e) for name, e in parts[0].items()})
        case "union":
            return inner.union(*(table_of(part, schemas, public_values) for part in parts))
        case "public":
            name, expression, matched, keep = parts
            return inner.join(schemas[name], [(column_of(expression), matched)], keep=keep)
        case "people":
            return inner.join_person(table_of(parts[0], schemas, public_values))
        case "per person":
            return inner.per_person(**{name: total(*each) for name, each in parts[0].items()})
    raise ValueError(kind)


def total(what, expression, _low, _high):
    return count() if what == "count" else statistic_of({"what": what, "of": expression})


def column_of(expression):
    """Build an expression of `dp.col`."""
    kind, *parts = expression
    match kind:
        case "column":
            return dp.col(parts[0])
        case "value":
            return parts[0]
        case "in":
            return column_of(parts[0]).is_in(parts[1])
        case "case":
            branches = [(column_of(when), column_of(then)) for when, then in parts[0]]
            return case(*branches, otherwise=parts[1] and column_of(parts[1]))
    made = [column_of(part) for part in parts]
    return COLUMNS[kind](*made)


COLUMNS = {
    "is null": lambda a: a.is_null(),
    "not": lambda a: ~a,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "coalesce": lambda a, b: a.coalesce(b),
    "=": lambda a, b: a == b,
    "<>": lambda a, b: a != b,
    ">=": lambda a, b: a >= b,
    "<": lambda a, b: a < b,
    "bin": lambda a, width: a // width,
    "week": lambda a: a.truncate("week"),
}
