"""`discreet query`, `explain`, `plan`, `rehearse` and `estimate-truncation`: one question to a store."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ...answer.answer import DATA, Answer
from ...answer.sampled_columns import read_target
from ...curator import Curator, verbs
from ...curator.verbs.bounds import truncation_question_of
from ...errors import InvalidArgument
from ...plan.asked.terms import SpendOptions
from ...query.sql.parse import mentions_stream
from ...wire.reply import answer_reply
from ...wire.verbs.question import explanation_reply, plan_reply
from ..flags import (
    DetailsFlag,
    IntervalsFlag,
    JsonFlag,
    NonnegativeFlag,
    ReuseFlag,
    SourceArgument,
    SqlArgument,
    TargetFlag,
    WhyFlag,
    WithinFlag,
)
from ..option_group import spread_flags
from ..output import (
    STANDARD,
    check_file,
    check_out,
    check_picture,
    echo,
    read_text,
    terminal_width,
    write_answer,
    write_picture,
    write_text,
)
from ..question_options import LocationFlags, TermFlags, open_curator, read_reuse_flag
from ..refusal import refusals


@spread_flags
def query(
    source: SourceArgument,
    sql: SqlArgument,
    *,
    place: LocationFlags,
    price: TermFlags,
    nonnegative: NonnegativeFlag = False,
    intervals: IntervalsFlag = True,
    reuse: ReuseFlag = "yes",
    within: WithinFlag = None,
    of: TargetFlag = DATA,
    why: WhyFlag = "",
    out: Annotated[
        Path | None,
        typer.Option(
            help="Also write the table, by suffix: .csv .json .parquet .arrow .md .html; - writes CSV here."
        ),
    ] = None,
    receipt: Annotated[
        Path | None, typer.Option(help="Also write the receipt to this file.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Also draw the first statistic: .png, .svg or .pdf.")
    ] = None,
    details: DetailsFlag = False,
    as_json: JsonFlag = False,
) -> None:
    """Answer a question privately: charge the ledger, ask the store, add noise, show the table with its error bars.

    The same question of the same version of the data is answered from the ledger, and costs nothing.

    Example: discreet query people.csv "SELECT region, AVG(income) AS income FROM people GROUP BY region" \
    --schema people.toml --ledger people.ledger --budget epsilon=3 --epsilon 1
    """
    with refusals(as_json=as_json):
        # Files are checked first: an answer that cannot be written must not be charged.
        check_picture(plot)
        check_out(out, as_json=as_json)
        check_file(receipt)
        asked = read_text(sql, "the question")
        # Most questions name no stream: what parses SQL takes long to import.
        stream = verbs.stream.stream_read_by(asked) if mentions_stream(asked) else None
        if stream is None:
            words = price.words(nonnegative=nonnegative, intervals=intervals)
            words["reuse"] = read_reuse_flag(reuse)
            words["within"] = within
        elif receipt is not None:
            raise InvalidArgument("what a stream has published is free: leave out --receipt")
        else:
            verbs.stream.check_free_target(of)
            # Nothing is spent, and errors are those of the stream.
            words = SpendOptions(level=price.level)

        def check(curator: Curator) -> None:
            if stream is None:
                read_target(of, curator.explain(asked, **words).plan.question)
            else:
                verbs.stream.find_stream(curator.context, stream)

        with open_curator(source, place, price, spends=True, quiet=as_json, first=check) as curator:
            if of != DATA:
                # Refused before the charge, also where the ledger is not new.
                check(curator)
            if stream is None:
                _warn(curator, asked, words, quiet=as_json)
            answer = curator.sql(asked, **words, why=why).about(of)
        if out == STANDARD:
            # Standard output is for the CSV alone.
            typer.echo(answer.details() if details else answer.caption, err=True)
        else:
            _echo_answer(answer, price.level, details=details, as_json=as_json)
        if out is not None:
            write_answer(answer, out, price.level)
        if receipt is not None:
            write_text(receipt, answer.receipt.to_json())  # type: ignore[attr-defined]
        if plot is not None:
            write_picture(answer, plot, level=price.level)


def _echo_answer(answer: Answer, level: float, *, details: bool, as_json: bool) -> None:
    """Print an answer; below it the details if they are wanted, which JSON always has."""
    echo(answer, answer_reply(answer, level), as_json=as_json)
    if details and not as_json:
        typer.echo(f"\n{answer.details()}")


def _warn(curator: Curator, sql: str, words: SpendOptions, *, quiet: bool) -> None:
    """Print warnings about a question before its charge; a stored answer is free, so has none."""
    if quiet:
        return
    explanation = curator.explain(sql, **words)
    if explanation.stored:
        return
    for warning in explanation.warnings:
        typer.secho(f"before paying: {warning}", err=True, fg="yellow")


@spread_flags
def explain(
    source: SourceArgument,
    sql: SqlArgument,
    *,
    place: LocationFlags,
    price: TermFlags,
    nonnegative: NonnegativeFlag = False,
    intervals: IntervalsFlag = True,
    store: Annotated[
        bool, typer.Option("--store", help="Also show what the store would be asked, in its SQL.")
    ] = False,
    as_json: JsonFlag = False,
) -> None:
    """Show noise, price, errors and warnings of a question before it is asked; no row is read, nothing is spent.

    Example: discreet explain people.csv "SELECT COUNT(*) AS n FROM people" --schema people.toml --epsilon 1
    """
    with (
        refusals(as_json=as_json),
        open_curator(source, place, price, spends=False, quiet=True) as curator,
    ):
        words = price.words(nonnegative=nonnegative, intervals=intervals)
        shown = curator.explain(read_text(sql, "the question"), **words)
        if as_json:
            reply = explanation_reply(shown)
            if not store:
                reply["texts"] = []
            echo(shown, reply, as_json=True)
        else:
            typer.echo(shown.to_text(terminal_width(), store=store))


@spread_flags
def plan(
    source: SourceArgument,
    sql: SqlArgument,
    *,
    place: LocationFlags,
    price: TermFlags,
    queries: Annotated[
        int | None, typer.Option(help="How many questions like this one are to be asked.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Plan a question; given two of what to spend, the error and the number of queries, find the third.

    Example: discreet plan people.csv "SELECT COUNT(*) AS n FROM people" --schema people.toml --error 20 --queries 100
    """
    with (
        refusals(as_json=as_json),
        open_curator(source, place, price, spends=False, quiet=True) as curator,
    ):
        found = curator.plan(read_text(sql, "the question"), **price.words(), queries=queries)
        echo(found, plan_reply(found), as_json=as_json)


@spread_flags
def rehearse(
    source: SourceArgument,
    sql: SqlArgument,
    *,
    place: LocationFlags,
    price: TermFlags,
    nonnegative: NonnegativeFlag = False,
    intervals: IntervalsFlag = True,
    of: TargetFlag = DATA,
    rows: Annotated[int, typer.Option(help="How many rows to make up for each table.")] = 1000,
    details: DetailsFlag = False,
    as_json: JsonFlag = False,
) -> None:
    """Answer a question from made-up data of the schema's shape, free: to see whether it is the question you mean.

    Example: discreet rehearse people.csv "SELECT AVG(age) AS age FROM people" --schema people.toml --epsilon 1
    """
    with (
        refusals(as_json=as_json),
        open_curator(source, place, price, spends=False, quiet=True) as curator,
    ):
        words = price.words(nonnegative=nonnegative, intervals=intervals)
        answer = curator.rehearse(read_text(sql, "the question"), **words, rows=rows).about(of)
        _echo_answer(answer, price.level, details=details, as_json=as_json)


@spread_flags
def estimate_truncation(
    source: SourceArgument,
    name: Annotated[
        str, typer.Argument(metavar="TABLE", help="The table, of people with several rows each.")
    ],
    *,
    up_to: Annotated[
        int, typer.Option(help="The most rows that anyone can have; noise grows with it.")
    ],
    of: Annotated[str | None, typer.Option(help="Also tell it of the sum of this column.")] = None,
    place: LocationFlags,
    price: TermFlags,
    why: WhyFlag = "estimate truncation",
    details: DetailsFlag = False,
    as_json: JsonFlag = False,
) -> None:
    """Estimate privately how many rows of people the declared max_rows cuts off, and which share that is.

    Example: discreet estimate-truncation visits.csv visits --up-to 100 --schema visits.toml \
    --ledger visits.ledger --epsilon 1
    """
    with refusals(as_json=as_json):
        words = price.words()

        def check(curator: Curator) -> None:
            question = truncation_question_of(curator.context.planner, name, up_to, of)
            curator.explain(question, **words)

        with open_curator(source, place, price, spends=True, quiet=as_json, first=check) as curator:
            question = truncation_question_of(curator.context.planner, name, up_to, of)
            answer = curator.ask(question, **words, why=why)
        _echo_answer(answer, price.level, details=details, as_json=as_json)
