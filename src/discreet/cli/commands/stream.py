"""`discreet stream`: standing reports, one question answered for every day under one charge.

`open` charges, `close` publishes the days that are due (for cron), `show` and `list` are free.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from ...curator.verbs.stream import StreamWords, find_stream, stream_state
from ...errors import InvalidArgument
from ...plan.asked.terms import DEFAULT_LEVEL
from ...streams.caps import Days
from ...streams.published import state_line
from ...streams.report import StreamReport
from ...streams.seal import Seal
from ...streams.views import StreamTable
from ..budget import pairs
from ..flags import JsonFlag, LevelFlag, SourceArgument, WhyFlag
from ..option_group import spread_flags
from ..output import echo, read_text
from ..question_options import LocationFlags, TermFlags, open_curator
from ..refusal import refusals

app = typer.Typer(
    name="stream",
    help="Standing reports: one charge, then every day its answer. Open one, close days, show sums.",
    no_args_is_help=True,
)

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="The name of the stream.")]
SealFlag = Annotated[
    Path, typer.Option("--seal", help="The key file of the stream; `open` makes a new one.")
]


@app.command("open")
@spread_flags
def open_(
    source: SourceArgument,
    sql: Annotated[str, typer.Argument(help="SELECT day, …, COUNT(*) or SUM(x) … GROUP BY day, …")],
    *,
    place: LocationFlags,
    price: TermFlags,
    name: Annotated[str, typer.Option("--name", help="The name of the stream, such as visits.")],
    start: Annotated[str, typer.Option(help="Its first day, such as 2027-01-01.")],
    periods: Annotated[int, typer.Option(help="Its number of days.")],
    seal: SealFlag,
    late: Annotated[int, typer.Option(help="Days after its end at which a day closes.")] = 0,
    zone: Annotated[
        str, typer.Option(help="Time zone in which days end, such as Europe/Berlin.")
    ] = "UTC",
    days: Annotated[int | None, typer.Option(help="Days on which one person counts.")] = None,
    apart: Annotated[int, typer.Option(help="Days between two that count of a person.")] = 1,
    rows: Annotated[int, typer.Option(help="Rows of a person that count on a day.")] = 1,
    matters: Annotated[
        list[str] | None,
        typer.Option("--matters", help="Weight of a kind of sums: total=1. May be repeated."),
    ] = None,
    plan: Annotated[
        bool, typer.Option("--plan", help="Only show strategy and errors; nothing is spent.")
    ] = False,
    rehearse: Annotated[
        bool, typer.Option("--rehearse", help="Show its weeks of made-up rows; nothing is spent.")
    ] = False,
    why: WhyFlag = "",
    as_json: JsonFlag = False,
) -> None:
    """Open a standing report of a count or sum by day: one charge for all its days.

    Example: discreet stream open visits.csv "SELECT day, COUNT(*) AS n FROM visits GROUP BY day" \
    --schema visits.toml --ledger visits.ledger --rho 1/2 --name visits --start 2027-01-01 \
    --periods 365 --seal visits.key
    """
    with refusals(as_json=as_json):
        if price.spend is None:
            raise InvalidArgument("say what to spend on all days: --rho, --mu, --epsilon")
        words = StreamWords(start=start, periods=periods, late=late, zone=zone)
        if days is not None:
            words["per_person"] = Days(days, apart=apart, rows=rows)
        if matters:
            words["matters"] = pairs(matters, "--matters")
        asked = read_text(sql, "the SQL")
        spends = not (plan or rehearse)
        with open_curator(source, place, price, spends=spends, quiet=as_json) as curator:
            if rehearse:
                table = curator.rehearse_stream(asked, price.spend, **words).by("week")
                echo(str(table), table.to_json(), as_json=as_json)
                return
            shown = curator.plan_stream(asked, price.spend, **words)
            if plan:
                echo(shown, {"plan": str(shown), "errors": shown.errors}, as_json=as_json)
                return
            key = Seal.load(seal) if seal.exists() else Seal.create(seal)
            report = curator.stream(asked, price.spend, name=name, seal=key, why=why, **words)
            state = stream_state(curator.ledger, name)
            echo(f"{report!r}\n{shown}", state, as_json=as_json)


@app.command("close")
@spread_flags
def close(
    source: SourceArgument,
    name: NameArgument,
    *,
    place: LocationFlags,
    seal: SealFlag,
    as_json: JsonFlag = False,
) -> None:
    """Close every day that is due; made for cron: with nothing due it does nothing.

    Example: discreet stream close visits.csv visits --schema visits.toml --ledger visits.ledger \
    --seal visits.key
    """
    with (
        refusals(as_json=as_json),
        open_curator(source, place, TermFlags(), spends=True, quiet=as_json) as curator,
    ):
        report = find_stream(curator.context, name, Seal.load(seal))
        table = report.close()
        nothing = f"nothing is due; {report!r}"
        echo(str(table) if len(table) else nothing, table.to_json(), as_json=as_json)


@app.command("show")
@spread_flags
def show(
    source: SourceArgument,
    name: NameArgument,
    *,
    place: LocationFlags,
    by: Annotated[str, typer.Option(help="day, week, month, quarter, year or total.")] = "day",
    first: Annotated[
        str | None, typer.Option("--from", help="First day of a range, with --to.")
    ] = None,
    last: Annotated[str | None, typer.Option("--to", help="Last day of the range.")] = None,
    level: LevelFlag = DEFAULT_LEVEL,
    joint: Annotated[
        bool, typer.Option("--joint", help="Intervals that hold for all rows at once.")
    ] = False,
    as_json: JsonFlag = False,
) -> None:
    """Show what is published, by day, week, month, year or total, or of a range; free.

    Example: discreet stream show visits.csv visits --schema visits.toml --ledger visits.ledger \
    --by month
    """
    with (
        refusals(as_json=as_json),
        open_curator(source, place, TermFlags(), spends=True, quiet=as_json) as curator,
    ):
        report = find_stream(curator.context, name)
        table = _view(report, by, first, last)
        echo(table.to_text(level, joint=joint), table.to_json(level, joint=joint), as_json=as_json)


@app.command("stop")
@spread_flags
def stop(
    source: SourceArgument,
    name: NameArgument,
    *,
    place: LocationFlags,
    why: Annotated[str, typer.Option(help="Why; it is kept in the ledger.")],
    as_json: JsonFlag = False,
) -> None:
    """Stop a stream for good; what was published stays, and nothing is paid back."""
    with (
        refusals(as_json=as_json),
        open_curator(source, place, TermFlags(), spends=True, quiet=as_json) as curator,
    ):
        # By the ledger alone: a stream whose schema was changed since is stopped too.
        curator.ledger.stop_stream(name, why=why)
        state = stream_state(curator.ledger, name)
        echo(_line(state), state, as_json=as_json)


@app.command("list")
@spread_flags
def list_(source: SourceArgument, *, place: LocationFlags, as_json: JsonFlag = False) -> None:
    """List the streams of a ledger."""
    with (
        refusals(as_json=as_json),
        open_curator(source, place, TermFlags(), spends=True, quiet=as_json) as curator,
    ):
        states = [stream_state(curator.ledger, name) for name in curator.ledger.streams()]
        lines = "\n".join(map(_line, states)) or "there is no stream in this ledger"
        echo(lines, states, as_json=as_json)


def _line(state: Mapping[str, Any]) -> str:
    closed = f"{state['closed']} of {state['periods']}"
    return state_line(state["stream"], state["start"], closed, stopped=state["stopped"])


def _view(report: StreamReport, by: str, first: str | None, last: str | None) -> StreamTable:
    """Return the sums by a unit of time, or of a range, which needs both ends."""
    if first is None and last is None:
        return report.by(by)
    if first is None or last is None:
        raise InvalidArgument("a range has two ends: give --from and --to")
    return report.between(first, last)
