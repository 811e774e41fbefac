"""`discreet release`: publish tables with one charge, and a page with errors and guarantee."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...answer.measurements import MEASUREMENTS_NOTE
from ...connection import is_server
from ...curator import Curator
from ...data.files.schema_file import read_schemas
from ...errors import InvalidArgument
from ...ledger import open_ledger
from ...plan.plan import Plan
from ...query.text.question import describe
from ...record import DeploymentRecord
from ...record import record as make_record
from ...samples.country import write_country
from ...service.pages.charts.drawing import drawing
from ...service.pages.charts.grouping_tables import answer_charts
from ...wire.reply import answer_reply
from ...wire.verbs.question import plan_reply
from ..flags import JsonFlag
from ..ledger_access import report_charges_on_interrupt
from ..output import can_draw, echo, write_picture, write_text
from ..publish.other_row import with_other_row
from ..publish.release_file import ReleaseFile, read_release
from ..publish.release_page import MAX_DRAWN_ROWS, errors_known, page
from ..refusal import refusals
from ..source import open_source

if TYPE_CHECKING:
    from ...answer.answer import Answer
    from ...data.schema import Schema
    from ...ledger import Ledger


def release(
    file: Annotated[
        Path,
        typer.Argument(
            help="The release file: source, schema, ledger, spend, questions; or country, an example."
        ),
    ],
    *,
    out: Annotated[Path, typer.Option(help="The folder to make; it must not be there yet.")],
    plan: Annotated[
        bool,
        typer.Option(
            "--plan",
            help="Only show price and errors; of a release that was paid for, how wide its intervals are.",
        ),
    ] = False,
    dated: Annotated[
        bool,
        typer.Option(
            "--dated",
            help="Write to a folder of today's date (UTC) in --out: for schedules (cron).",
        ),
    ] = False,
    as_json: JsonFlag = False,
) -> None:
    """Answer all questions of a file with one charge, and write them to a folder: CSV tables, pictures, a README.

    All are answered or nothing is spent. The same release of the same version of the data is written again for free.

    `country` stands for a made-up country of 60,000 tracts: its people, schema and release file are written to --out.

    Example: discreet release release.toml --out release/
    """
    with refusals(as_json=as_json):
        if str(file) == "country" and not file.exists():
            _write_example(out, as_json=as_json)
            return
        asked = read_release(file)
        if dated:
            out = out / datetime.now(UTC).date().isoformat()
        if out.exists() and not plan:
            raise InvalidArgument(f"{out} is there already; name a new folder, nothing was spent")
        schemas = read_schemas(asked.schema)
        engine = open_source(asked.source, schemas, asked.tables, progress=not plan)
        where = asked.ledger
        if plan and not is_server(where) and not Path(where).exists():
            # A plan creates no ledger.
            where = ":memory:"
        try:
            with (
                open_ledger(where, asked.budget) as ledger,
                report_charges_on_interrupt(ledger, asked.who),
            ):
                curator = Curator(engine, schemas, ledger, who=asked.who)
                options = {**_price(asked), "level": asked.level, "whole": asked.whole}
                questions = _questions(asked, schemas)
                if plan:
                    found = curator.plan(questions, **_price(asked), level=asked.level)
                    answered = curator.released(questions, **options) or {}
                    known = {name: errors_known(one, asked.level) for name, one in answered.items()}
                    text = "\n\n".join([str(found), *(f"{of}: {it}" for of, it in known.items())])
                    echo(text, {**plan_reply(found), "answered": known}, as_json=as_json)
                    return
                answers = curator.release(questions, **options, why=asked.why)
                drawn = drawable(answers, asked.level)
                readme = page(asked, answers, schemas, ledger.promise(), drawn)
                record = _record(ledger, schemas, asked, answers)
                _write(out, asked, answers, drawn, readme=readme, record=record)
        finally:
            engine.close()
        facts = {"tables": list(answers), "out": str(out)}
        echo(f"{len(answers)} tables written to {out}", facts, as_json=as_json)


def _write_example(out: Path, *, as_json: bool) -> None:
    made = write_country(out)
    next_step = f"publish it: discreet release {made} --out tables"
    echo(f"a made-up country is in {out}; {next_step}", {"file": str(made)}, as_json=as_json)


def _questions(asked: ReleaseFile, schemas: Iterable[Schema]) -> dict[str, str]:
    """Return the questions by name, with a row for all others where the file asks for one."""
    questions = {}
    for name, table in asked.questions.items():
        questions[name] = with_other_row(table.sql, schemas, asked.other)
    return questions


def _price(asked: ReleaseFile) -> dict[str, Any]:
    """Return the price of a release: errors by table, or a spend with weights."""
    if asked.spend is None:
        errors = {name: table.error for name, table in asked.questions.items()}
        return {"error": errors}
    weights = {name: table.weight for name, table in asked.questions.items()}
    return {"spend": asked.spend, "weights": weights}


def _record(
    ledger: Ledger, schemas: Iterable[Schema], asked: ReleaseFile, answers: Mapping[str, Answer]
) -> DeploymentRecord | None:
    """Make the public record where the file has words; its tables are those of the release."""
    if asked.words is None:
        return None
    by_entry: dict[int, dict[str, Answer]] = {}
    for name, answer in answers.items():
        receipt: Any = answer.receipt
        by_entry.setdefault(receipt.number, {})[name] = answer
    words = {"name": asked.title, **asked.words}
    return make_record(ledger, schemas, words, asked=by_entry)


def _write(
    out: Path,
    asked: ReleaseFile,
    answers: Mapping[str, Answer],
    drawn: Mapping[str, str],
    *,
    readme: str,
    record: DeploymentRecord | None,
) -> None:
    """Write a folder beside `out` first and rename it, so that no partial release is left."""
    partial = out.with_name(f".{out.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        partial.mkdir(parents=True)
    except OSError:
        raise InvalidArgument(
            f"{out} cannot be made; what was asked is paid for: "
            "give --out a folder that is yours, it costs nothing"
        ) from None
    for name, answer in answers.items():
        write_text(partial / f"{name}.csv", answer.to_csv(level=asked.level))
        if drawn.get(name):
            write_text(partial / f"{name}.svg", drawn[name])
        elif name in drawn:
            title = asked.questions[name].title
            write_picture(answer, partial / f"{name}.svg", level=asked.level, title=title)
    measurements = _measurements(answers)
    if measurements:
        write_text(partial / "measurements.json", json.dumps(measurements, indent=1))
    # All answers have one charge, hence one receipt.
    receipt: Any = next(iter(answers.values())).receipt
    write_text(partial / "receipt.json", receipt.to_json())
    write_text(partial / "README.md", readme)
    if record is not None:
        record.write(partial / "record")
    partial.rename(out)


def drawable(answers: Mapping[str, Answer], level: float) -> dict[str, str]:
    """Return the tables that have a picture, with their SVG; "" where matplotlib draws it.

    Without matplotlib a table of one key is drawn as the service's pages draw it.
    """
    found = {}
    for name, answer in answers.items():
        if len(answer) > MAX_DRAWN_ROWS:
            continue
        if can_draw():
            found[name] = ""
            continue
        reply = answer_reply(answer, level)
        charts = [one for one in answer_charts(reply, describe(answer.question)) if one.picture]
        # A picture is of the first column. Of two keys it would be a part of it, so there is none.
        if 0 < len(charts) <= len(answer.noisy):
            found[name] = drawing(charts[0].picture)
    return found


def _measurements(answers: Mapping[str, Answer]) -> dict[str, object]:
    """Return the estimates of all workloads before post-processing, with their covariance."""
    workloads = {}
    for name, answer in answers.items():
        if isinstance(answer.plan, Plan) and answer.plan.gap is not None:
            workloads[name] = answer
    if not workloads:
        return {}
    tables: dict[str, object] = {}
    for name, answer in workloads.items():
        # Tables of one strategy have correlated errors: readers must know which.
        strategy = _strategy_of(answer)
        shared = [other for other in workloads if _strategy_of(workloads[other]) is strategy]
        tables[name] = {"strategy_of": shared, **answer.measurements()}
    return {"how": MEASUREMENTS_NOTE, "tables": tables}


def _strategy_of(answer: Answer) -> object:
    plan: Any = answer.plan
    if plan.within is None:
        return plan
    return plan.within
