"""`discreet synthesize`: noisy tables and synthetic records of a table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from ...errors import InvalidArgument
from ...show.spreadsheet import safe_csv
from ...synthetic.plan import NOT_GOOD_FOR
from ...synthetic.request import SynthesisWords
from ...synthetic.stored import synthetic_to_json
from ...synthetic.synthetic import Synthetic
from ..budget import pairs
from ..flags import JsonFlag, SourceArgument, WhyFlag
from ..option_group import spread_flags
from ..output import check_file, echo, write_text
from ..question_options import LocationFlags, TermFlags, open_curator
from ..refusal import refusals


@spread_flags
def synthesize(
    source: SourceArgument,
    of: Annotated[str, typer.Argument(help="A declared table, or a SELECT of its rows.")],
    *,
    place: LocationFlags,
    price: TermFlags,
    column: Annotated[
        list[str] | None,
        typer.Option("--column", help="A column to keep; all if none. May be repeated."),
    ] = None,
    workload: Annotated[str, typer.Option(help="Which tables: pairs, or ones.")] = "pairs",
    bins: Annotated[
        list[str] | None,
        typer.Option("--bins", help="Equal bins of a number: income=50. May be repeated."),
    ] = None,
    target: Annotated[
        str | None, typer.Option(help="The column whose relations matter most: its pairs first.")
    ] = None,
    rows: Annotated[
        int | None, typer.Option(help="How many records to make; about as many as there are.")
    ] = None,
    plan: Annotated[
        bool, typer.Option("--plan", help="Only say what would be measured; nothing is spent.")
    ] = False,
    why: WhyFlag = "",
    out: Annotated[Path | None, typer.Option(help="Write whole records to this CSV file.")] = None,
    tables: Annotated[
        Path | None, typer.Option(help="Write the released tables to this JSON file.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Release noisy tables of columns and pairs, and make records from them: charge the ledger, count, add noise.

    Example: discreet synthesize people.csv people --schema people.toml --ledger people.ledger \
    --epsilon 1 --delta 1e-6 --out records.csv
    """
    with refusals(as_json=as_json):
        words = SynthesisWords(
            columns=column or None,
            workload=workload,
            bins=_bins(bins),
            # Text here: the library checks it like any other number.
            size=price.size,  # type: ignore[typeddict-item]
            target=target,
        )
        if price.spend is None:
            raise InvalidArgument("say what to spend: --epsilon and --delta, --rho or --mu")
        # Files are checked first: records that cannot be written must not be charged.
        check_file(tables)
        check_file(out)
        with open_curator(source, place, price, spends=not plan, quiet=as_json) as curator:
            if plan:
                shown = curator.plan_synthesis(of, price.spend, **words)
                echo(shown, {"plan": str(shown)}, as_json=as_json)
                return
            made = curator.synthesize(of, price.spend, why=why, **words)
        # Shown first: a disk that is full by now must not hide what was paid for.
        _report(made, as_json=as_json)
        if tables is not None:
            write_text(tables, synthetic_to_json(made))
        if out is not None:
            write_text(out, _csv(made, rows))


def _bins(options: list[str] | None) -> dict[str, int]:
    """Read numbers of bins by column."""
    bins = {}
    for name, count in pairs(options, "--bins").items():
        if not count.isdigit():
            raise InvalidArgument(
                "--bins takes a whole number for each column, such as income=50; "
                f"got {name}={count}"
            )
        bins[name] = int(count)
    return bins


def _report(made: Synthetic, *, as_json: bool) -> None:
    """Print the released tables' quality, and what synthetic records are not good for."""
    quality = made.quality()
    # Written as JSON only where it is shown: the tables may be large.
    tables = json.loads(synthetic_to_json(made)) if as_json else None
    reply = {
        "columns": list(made.columns),
        "rows": made.rows,
        "tables": tables,
        "quality": {
            "weighted": quality.weighted,
            "whole": quality.whole,
            "expected": quality.expected,
            "not_measured": list(quality.not_measured),
        },
        "not_good_for": NOT_GOOD_FOR,
    }
    echo(f"{made!r}\n{quality}\n{NOT_GOOD_FOR}", reply, as_json=as_json)


def _csv(made: Synthetic, rows: int | None) -> str:
    """Sample records and write them as CSV; about as many as there are rows if `rows` is None."""
    columns = made.records(rows)
    return safe_csv([list(columns), *zip(*columns.values(), strict=True)])
