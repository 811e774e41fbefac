"""Words of an answer: labels in place of names and codes, and one sentence before the charts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from ...data.schema import Schema
from ...errors import DiscreetError
from ...query.algebra.expression import Field
from ...query.algebra.statistic import (
    Count,
    CountPeople,
    CountPeopleIf,
    Mean,
    Quantile,
    Statistic,
    Sum,
    expressions_of,
)
from ...query.algebra.tree import Finish, Question
from ...query.sql.parse import parse
from ...query.text.labels import column_behind, column_labels, value_labels
from .charts.series import is_number
from .number_text import key_words

FRONTS = ("mean_", "sum_", "median_")
MAX_READ = 4_000
"""Longest question that is read again for a page; longer ones are shown without labels."""


def question_of_answer(sql: str, schemas: Sequence[Schema]) -> Question | None:
    """Read the question of an answer again; None if it is long, or not of these schemas any more."""
    if len(sql) > MAX_READ:
        return None
    try:
        return parse(sql, {schema.name: schema for schema in schemas})
    except DiscreetError:
        return None


def labelled(reply: Mapping[str, Any], question: Question | None) -> Mapping[str, Any]:
    """Return a reply with labels for its keys: names of columns, and values.

    >>> import discreet as dp
    >>> from discreet.service.pages.answer_words import labelled
    >>> sex = dp.Category([0, 1], label="Sex", labels={0: "woman", 1: "man"})
    >>> asked = dp.Table(dp.Schema("people", dp.Rows(), {"sex": sex})).count(by="sex")
    >>> columns = [{"name": "sex", "noisy": False}, {"name": "count", "noisy": True}]
    >>> labelled({"columns": columns, "rows": [[0, 3.0], [None, 5.0]]}, asked)["rows"]
    [['woman', 3.0], [None, 5.0]]
    """
    if question is None:
        return reply
    heads, values = column_labels(question) | _statistic_heads(question), value_labels(question)
    words = [values.get(column["name"], {}) for column in reply["columns"]]
    columns = [{**one, "name": heads.get(one["name"], one["name"])} for one in reply["columns"]]
    rows = [
        [known.get(value, value) for known, value in zip(words, row, strict=True)]
        for row in reply["rows"]
    ]
    return {**reply, "columns": columns, "rows": rows}


def _all_told(question: Question) -> Iterator[tuple[str, str, str]]:
    """Yield the columns that words can be said of: name, subject, and how it is counted."""
    statistics = dict(question.statistics)
    for name, made in question.finish.columns:
        statistic = statistics.get(made.name) if isinstance(made, Field) else None
        told = None if statistic is None else _told(statistic, question)
        if told is not None:
            yield name, *told


def _statistic_heads(question: Question) -> dict[str, str]:
    """Return heads for columns that are named as the form does, such as mean_income, by their labels."""
    heads = {}
    for name, subject, how in _all_told(question):
        if subject and name.startswith(FRONTS):
            heads[name] = f"{subject} {how}"
    return heads


def told_of(question: Question) -> tuple[str, str, str] | None:
    """Return the name of the column that a sentence is about, its subject, and how it is counted.

    It is the first average, sum or median, else the first count; None if there is neither.
    """
    found = list(_all_told(question))
    return next((one for one in found if one[1]), next(iter(found), None))


def _told(statistic: Statistic, question: Question) -> tuple[str, str] | None:
    """Return the subject of a statistic and how it is counted; None if no words fit."""
    match statistic:
        case Count():
            return "", "of them"
        case CountPeople() | CountPeopleIf():
            return "", "people"
        case Mean():
            how = "on average"
        case Sum():
            how = "in all"
        case Quantile(at=at) if at == Fraction(1, 2):
            how = "in the middle"
        case _:
            return None
    [of] = expressions_of(statistic)
    column = column_behind(question.rows, of.name) if isinstance(of, Field) else None
    return (column.label or of.name, how) if column is not None and isinstance(of, Field) else None


def sentence_of(
    reply: Mapping[str, Any], question: Question | None, shown: Sequence[Sequence[tuple[str, str]]]
) -> str:
    """Write the sentence that an answer begins with; "" if there is nothing plain to say.

    `shown` has text and error of each cell. Of several rows the most and the least are named, and
    whether noise may have swapped the most with another.
    """
    told = None if question is None else told_of(question)
    if question is None or told is None or question.sets is not None or question.running:
        return ""
    name, subject, how = told
    names = [column for column, _ in question.finish.columns]
    # A page shows the first rows of a long table: the most may be behind them.
    if name not in names or len(shown) < len(reply["rows"]):
        return ""
    place = names.index(name)
    if len(shown) == 1 and all(column["noisy"] for column in reply["columns"]):
        words = _one_row(names, list(_all_told(question)), shown[0])
    else:
        words = _extremes(reply, place, how, subject, shown)
        # What is most of the rows that were chosen may not be most of all.
        if rows_chosen(question.finish):
            words = f"Of these rows, {words if subject else words[:1].lower() + words[1:]}"
    return f"{words[:1].upper()}{words[1:]}"


def rows_chosen(finish: Finish) -> bool:
    """Return whether HAVING, QUALIFY, LIMIT or OFFSET left rows out."""
    chosen = (finish.having, finish.qualify, finish.limit, finish.offset or None)
    return any(one is not None for one in chosen)


def _one_row(
    names: Sequence[str], told: Sequence[tuple[str, str, str]], row: Sequence[tuple[str, str]]
) -> str:
    """Say each number of a single row; several are told apart by their columns' names."""
    parts = []
    for name, subject, how in told:
        about = _about(row[names.index(name)], how)
        head = name if len(told) > 1 else subject
        parts.append(f"{head}: {about}" if head else about)
    return f"{'; '.join(parts)}."


def _about(cell: tuple[str, str], how: str) -> str:
    value, error = cell
    if not error.startswith("±"):
        return f"{value} {how}".strip()
    return f"about {f'{value} {how}'.strip()}, give or take {error.removeprefix('± ')}"


def _key(head: str, value: object) -> str:
    """Write a key; a number alone would not say of what it is."""
    if not is_number(value):
        return key_words(value)
    return f"{head.replace(', from', ' from')} {key_words(value)}"


def _extremes(
    reply: Mapping[str, Any],
    place: int,
    how: str,
    subject: str,
    shown: Sequence[Sequence[tuple[str, str]]],
) -> str:
    """Name the row with the largest value of those that noise does not hide.

    Where noise hides no row, name the one with the smallest value too.
    """
    faint = set(reply.get("faint", ()))
    keys = [at for at, column in enumerate(reply["columns"]) if not column["noisy"]]
    rows = []
    for at, (row, intervals) in enumerate(zip(reply["rows"], reply["intervals"], strict=True)):
        ends = intervals[place]
        if (
            at not in faint
            and at < len(shown)
            and ends
            and all(map(is_number, (row[place], *ends)))
        ):
            key = ", ".join(_key(reply["columns"][column]["name"], row[column]) for column in keys)
            rows.append((row[place], ends, key, shown[at][place]))
    if not rows:
        return "Noise hides every row: spend more, or ask for fewer groups."
    rows.sort(key=lambda row: row[0], reverse=True)
    most, least = rows[0], rows[-1]
    how = how if subject else ""
    words = f"{subject}, most: " if subject else "Most: "
    words += f"{most[2]}, {_about(most[3], how)}."
    if len(rows) > 1:
        second = rows[1]
        # The noise may have swapped two rows whose intervals meet.
        if second[1][1] >= most[1][0]:
            words = f"{words[:-1]}; too close to {second[2]} to be sure."
    # Rows that noise hides may be less than all others.
    if len(rows) > 1 and not faint:
        words += f" Least: {least[2]}, {_about(least[3], how)}."
    return words
