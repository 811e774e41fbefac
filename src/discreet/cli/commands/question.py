"""`discreet query`, `explain`, `plan` and `rehearse`: one question to a store, from the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ...wire.reply import answer_reply, explanation_reply, plan_reply
from ..asking import PlaceFlags, TermFlags, open_curator
from ..bundle import spread_flags
from ..flags import IntervalsFlag, JsonFlag, NonnegativeFlag, SourceArgument, SqlArgument, WhyFlag
from ..refusal import refusals
from ..write import check_picture, echo, write_picture, write_text

__all__ = ["explain", "plan", "query", "rehearse"]


@spread_flags
def query(
    source: SourceArgument,
    sql: SqlArgument,
    *,
    place: PlaceFlags,
    price: TermFlags,
    nonnegative: NonnegativeFlag = False,
    intervals: IntervalsFlag = True,
    why: WhyFlag = "",
    out: Annotated[Path | None, typer.Option(help="Also write the table, with intervals, to this CSV file.")] = None,
    receipt: Annotated[Path | None, typer.Option(help="Also write the receipt to this file.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Also draw the first statistic: .png, .svg or .pdf.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Answer a question privately: charge the ledger, ask the store, add noise, show the table with its error bars.

    The same question of the same version of the data is answered from the ledger, and costs nothing.

    Example: discreet query people.csv "SELECT region, AVG(income) AS income FROM people GROUP BY region" \
    --schema people.toml --ledger people.ledger --budget epsilon=3 --epsilon 1
    """
    with refusals(as_json=as_json):
        check_picture(plot)
        if place.fresh:  # a ledger is for good: make it only for a question that can be answered
            with open_curator(source, place, price, spends=False, quiet=True) as curator:
                curator.explain(sql, **price.words(nonnegative=nonnegative, intervals=intervals))
        with open_curator(source, place, price, spends=True, quiet=as_json) as curator:
            answer = curator.sql(sql, **price.words(nonnegative=nonnegative, intervals=intervals), why=why)
        echo(answer, answer_reply(answer, price.level), as_json=as_json)
        if out is not None:
            write_text(out, answer.to_csv(level=price.level))
        if receipt is not None:
            write_text(receipt, answer.receipt.to_json())  # type: ignore[attr-defined]
        if plot is not None:
            write_picture(answer, plot, level=price.level)


@spread_flags
def explain(
    source: SourceArgument,
    sql: SqlArgument,
    *,
    place: PlaceFlags,
    price: TermFlags,
    nonnegative: NonnegativeFlag = False,
    intervals: IntervalsFlag = True,
    as_json: JsonFlag = False,
) -> None:
    """Show what a question would do, cost and miss, and what the store would be asked; nothing is touched or spent.

    Example: discreet explain people.csv "SELECT COUNT(*) AS n FROM people" --schema people.toml --epsilon 1
    """
    with refusals(as_json=as_json), open_curator(source, place, price, spends=False, quiet=True) as curator:
        shown = curator.explain(sql, **price.words(nonnegative=nonnegative, intervals=intervals))
        echo(shown, explanation_reply(shown), as_json=as_json)


@spread_flags
def plan(
    source: SourceArgument,
    sql: SqlArgument,
    *,
    place: PlaceFlags,
    price: TermFlags,
    queries: Annotated[int | None, typer.Option(help="How many questions like this one are to be asked.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Plan a question; given two of what to spend, the error and the number of queries, find the third.

    Example: discreet plan people.csv "SELECT COUNT(*) AS n FROM people" --schema people.toml --error 20 --queries 100
    """
    with refusals(as_json=as_json), open_curator(source, place, price, spends=False, quiet=True) as curator:
        found = curator.plan(sql, **price.words(), queries=queries)
        echo(found, plan_reply(found), as_json=as_json)


@spread_flags
def rehearse(
    source: SourceArgument,
    sql: SqlArgument,
    *,
    place: PlaceFlags,
    price: TermFlags,
    nonnegative: NonnegativeFlag = False,
    intervals: IntervalsFlag = True,
    rows: Annotated[int, typer.Option(help="How many rows to make up for each table.")] = 1000,
    as_json: JsonFlag = False,
) -> None:
    """Answer a question from made-up data of the schema's shape, free: to see whether it is the question you mean.

    Example: discreet rehearse people.csv "SELECT AVG(age) AS age FROM people" --schema people.toml --epsilon 1
    """
    with refusals(as_json=as_json), open_curator(source, place, price, spends=False, quiet=True) as curator:
        answer = curator.rehearse(sql, **price.words(nonnegative=nonnegative, intervals=intervals), rows=rows)
        echo(answer, answer_reply(answer, price.level), as_json=as_json)
