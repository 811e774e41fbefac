"""Questions as people read them, and as machines tell them apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from fractions import Fraction

from ...arithmetic.canonical import hash_json
from ...data.schema import Schema
from ..algebra.expression import Constant, Expression
from ..algebra.statistic import expressions_of, function_name
from ..algebra.tree import CountDistinct, CountPeople, Finish, Quantile, Question, Statistic
from ..meaning.post_processing import types_of
from .expression import expression_text, quote
from .relation import ListedKeys, Naming, from_text

FORMAT = 1
"""Of the canonical text behind a fingerprint; ledgers keep fingerprints, so it changes only with a new number."""
_LATER = {"sets", "running", "outer", "offset", "nested"}
"""Fields that came later: where they say nothing they are not written, so that old fingerprints stay."""


def describe(question: Question) -> str:
    """Write a question as SQL; what SQL can say is read back as the same question.

    >>> import discreet as dp
    >>> from discreet.query import describe
    >>> from discreet.data import Category, Rows
    >>> from discreet.query.sql.parse import parse
    >>> people = dp.Schema("people", Rows(), {"region": Category(["N", "S"])})
    >>> print(describe(parse("select region, count(*) n from people group by 1 order by 2 desc", {"people": people})))
    SELECT region, COUNT(*) AS n
    FROM people
    GROUP BY region
    ORDER BY n DESC
    """
    shown, finish = from_text(question.rows, _chosen_keys(question)), question.finish
    keys = {key.name: expression_text(key.expression, shown.names) for key in question.keys}
    names = {**keys, **{name: statistic_text(s, shown) for name, s in question.statistics}}
    if question.running:
        over = ", ".join(keys.values())
        names |= {
            name: f"SUM({names[name]}) OVER (ORDER BY {over})" for name, _ in question.statistics
        }
    listed = [_item(name, e, names) for name, e in finish.columns]
    lines = [f"SELECT {', '.join(listed)}", shown.text]
    if keys:
        lines.append(f"GROUP BY {_group(question, list(keys.values()))}")
    return "\n".join([*lines, *_finish(finish, names)])


def _chosen_keys(question: Question) -> ListedKeys | None:
    """Return the chosen combinations of keys, as constants of their types."""
    nest = question.nested
    if nest is None or question.sets is not None:
        return None
    keys, types = [question.keys[place] for place in nest.places], types_of(question)
    times = [types[key.name] if types[key.name] in ("day", "second") else None for key in keys]
    rows = (
        tuple(Constant(v, None if v is None else t) for v, t in zip(row, times, strict=True))
        for row in nest.rows
    )
    return ListedKeys(tuple(key.expression for key in keys), tuple(rows))


def _group(question: Question, keys: list[str]) -> str:
    if question.sets is None:
        return ", ".join(keys)
    return f"GROUPING SETS ({', '.join('(' + ', '.join(keys[i] for i in one) + ')' for one in question.sets)})"


def _item(name: str, expression: Expression, names: Mapping[str, str]) -> str:
    text = expression_text(expression, names)
    return text if text == quote(name) else f"{text} AS {quote(name)}"


def _finish(finish: Finish, names: Mapping[str, str]) -> list[str]:
    lines = [] if finish.having is None else [f"HAVING {expression_text(finish.having, names)}"]
    shown = {expression: name for name, expression in reversed(finish.columns)}
    order = []
    for expression, descending in finish.order:
        text = (
            quote(shown[expression]) if expression in shown else expression_text(expression, names)
        )
        order.append(f"{text} DESC" if descending else text)
    lines += [f"ORDER BY {', '.join(order)}"] if order else []
    lines += [] if finish.limit is None else [f"LIMIT {finish.limit}"]
    return lines + ([f"OFFSET {finish.offset}"] if finish.offset else [])


def statistic_text(statistic: Statistic, shown: Naming) -> str:
    """Write a statistic as an aggregate of SQL."""
    if isinstance(statistic, CountPeople):
        return f"COUNT(DISTINCT {shown.person or 'person'})"
    inner = ", ".join(expression_text(e, shown.names) for e in expressions_of(statistic)) or "*"
    name = function_name(statistic)
    if isinstance(statistic, Quantile) and name == "QUANTILE":
        return f"QUANTILE({inner}, {expression_text(Constant(statistic.at), {})})"
    return (
        f"{name}(DISTINCT {inner})" if isinstance(statistic, CountDistinct) else f"{name}({inner})"
    )


def fingerprint(question: Question) -> str:
    """Return one name for equal questions: the SHA-256 of the tree in canonical JSON, schemas and versions included.

    >>> import discreet as dp
    >>> from discreet.query import fingerprint
    >>> from discreet.data import Boolean, Rows
    >>> from discreet.query.sql.parse import parse
    >>> votes = {"votes": dp.Schema("votes", Rows(), {"yes": Boolean()})}
    >>> one, two = (parse(sql, votes) for sql in ("SELECT COUNT(*) FROM votes", "select count( * ) from VOTES -- all"))
    >>> fingerprint(one) == fingerprint(two), len(fingerprint(one))
    (True, 64)
    """
    return hash_json({"format": FORMAT, "question": _plain(question)})


def _plain(value: object) -> object:
    """Turn a tree into plain values for JSON, each node under its name; equal numbers look alike."""
    match value:
        case None | bool() | str() | int():
            return value
        case Fraction():
            return int(value) if value.denominator == 1 else {"fraction": str(value)}
        case tuple():
            return [_plain(part) for part in value]
        case Schema():
            return {"Schema": value.to_dict()}
        case _ if is_dataclass(value) and not isinstance(value, type):
            parts = {f.name: getattr(value, f.name) for f in fields(value)}
            known = {name: part for name, part in parts.items() if name not in _LATER or part}
            return {type(value).__name__: {name: _plain(part) for name, part in known.items()}}
    raise TypeError(f"a {type(value).__name__} is no part of a question")
