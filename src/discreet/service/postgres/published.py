"""Streams over the wire: views of the schema `stream`, whose rows are what the streams have published.

    SELECT … FROM stream.visits   answered in the planning worker: free, at once, without a job
    EXPLAIN SELECT …              its caption, and that nothing is spent
    pg_class, pg_attribute        a view with the stream's keys and its number

Guarantee: columns and rows follow from the ledger; no private row is read, nothing is spent.
Refuses: what `streams.select` refuses, and more numbers than the service gives in one answer.
Law: tests/service/postgres/test_streams.py
"""

from __future__ import annotations

from datetime import date, timedelta

from ...answer.answer import Answer
from ...curator import Curator
from ...curator.verbs.stream import find_streams, select_stream
from ...data.columns.column import Boolean, Category, Column, Date, Integer, Real, Timestamp
from ...data.schema import Schema
from ...errors import UnsupportedQuery
from ...plan.asked.terms import Terms
from ...query.algebra.statistic import Result
from ...query.bounds.relation_facts import columns_of
from ...query.domains.domain import Day, Domain, Second, Texts, Truth
from ...query.domains.domain_of import domain_of
from ...query.sql.published import STREAMS
from ...streams.question import StreamQuestion
from ...wire.verb import check_count

# Wide enough for every published number; drivers are told of the type alone.
_WIDE = 2**53


def stream_views(curator: Curator) -> dict[str, Schema]:
    """Return the columns of each stream, by its name in FROM, as a public table has them."""
    views = {}
    for name, report in find_streams(curator.context, None).items():
        question = report.plan.question
        last = report.plan.start + timedelta(days=report.plan.periods - 1)
        columns = _columns(question, report.plan.start, last)
        views[f"{STREAMS}.{name}"] = Schema.public_table("published", columns)
    return views


def _columns(question: StreamQuestion, start: date, last: date) -> dict[str, Column]:
    """Return the columns of a stream, in the order of its SELECT."""
    asked = question.asked
    rows = columns_of(asked.rows)
    named: dict[str, Column] = {}
    for key in asked.keys:
        domain = domain_of(key.expression, rows)
        if key.expression != question.time:
            named[key.name] = _key_column(domain)
        elif question.seconds:
            named[key.name] = Timestamp(f"{start} 00:00:00", f"{last} 23:59:59")
        else:
            named[key.name] = Date(start, last)
    [(number, statistic)] = asked.statistics
    whole = statistic.declared.result is Result.COUNT or question.step.denominator == 1
    named[number] = _number(whole=whole)
    return {name: named[name] for name, _ in asked.finish.columns}


def _key_column(domain: Domain) -> Column:
    """Return a column of the type of a key; a text has its public values."""
    match domain:
        case Truth():
            return Boolean()
        case Texts(keys=keys):
            return Category(str(key) for key in keys or () if key is not None)
        case Day():
            return Date("1900-01-01", "2200-01-01")
        case Second():
            return Timestamp("1900-01-01 00:00:00", "2200-01-01 00:00:00")
    return _number(whole=domain.step.denominator == 1)


def _number(*, whole: bool) -> Column:
    if whole:
        return Integer(-_WIDE, _WIDE)
    return Real(-_WIDE, _WIDE, 1)


def published_answer(curator: Curator, sql: str, terms: Terms | None, max_cells: int) -> Answer:
    """Answer a SELECT over a stream; without terms of the session at the usual confidence level.

    Refuses: what `streams.select` refuses, and an answer of more than `max_cells` numbers.
    """
    answer = select_stream(curator.context, sql, terms or Terms())
    if answer is None:
        raise UnsupportedQuery(
            "a SELECT reads a stream or private tables, never both; ask them in two statements"
        )
    check_count(len(answer) * len(answer.noisy), max_cells)
    return answer
