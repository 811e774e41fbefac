"""`discreet release`: publish a set of tables, with a page that says how far off they are and what is promised."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...answer.measurements import HOW
from ...connection import is_server
from ...curator import Curator
from ...data.files.schema_file import read_schemas
from ...errors import InvalidArgument
from ...ledger import open_ledger
from ...plan.plan import Plan
from ...samples.country import write_country
from ...wire.reply import plan_reply
from ..flags import JsonFlag
from ..interrupt import told_of_charges
from ..output import can_draw, echo, write_picture, write_text
from ..publish.release_file import ReleaseFile, read_release
from ..publish.release_page import MOST_DRAWN, page
from ..refusal import refusals
from ..source import open_source

if TYPE_CHECKING:
    from ...answer.answer import Answer


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
        bool, typer.Option("--plan", help="Only show what it would cost and miss.")
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
            made = write_country(out)
            told = (
                f"a made-up country is in {out}; publish it: discreet release {made} --out tables"
            )
            echo(told, {"file": str(made)}, as_json=as_json)
            return
        asked = read_release(file)
        if out.exists() and not plan:
            raise InvalidArgument(f"{out} is there already; name a new folder, nothing was spent")
        schemas = read_schemas(asked.schema)
        engine = open_source(asked.source, schemas, asked.tables, progress=not plan)
        where = (
            ":memory:"
            if plan and not is_server(asked.ledger) and not Path(asked.ledger).exists()
            else asked.ledger
        )
        try:
            with open_ledger(where, asked.budget) as ledger, told_of_charges(ledger, asked.who):
                curator = Curator(engine, schemas, ledger, who=asked.who)
                if plan:
                    found = curator.plan(_questions(asked), **_price(asked), level=asked.level)
                    echo(found, plan_reply(found), as_json=as_json)
                    return
                words = {**_price(asked), "level": asked.level, "whole": asked.whole}
                answers = curator.release(_questions(asked), **words, why=asked.why)
                _write(
                    out, asked, answers, page(asked, answers, schemas, ledger.promise(), can_draw())
                )
        finally:
            engine.close()
        echo(
            f"{len(answers)} tables written to {out}",
            {"tables": list(answers), "out": str(out)},
            as_json=as_json,
        )


def _questions(asked: ReleaseFile) -> dict[str, str]:
    return {name: one.sql for name, one in asked.questions.items()}


def _price(asked: ReleaseFile) -> dict[str, Any]:
    if asked.spend is not None:
        return {
            "spend": asked.spend,
            "weights": {name: one.weight for name, one in asked.questions.items()},
        }
    return {"error": {name: one.error for name, one in asked.questions.items()}}


def _write(out: Path, asked: ReleaseFile, answers: Mapping[str, Answer], readme: str) -> None:
    """Write everything beside the folder first, so that there is no half of a release."""
    half = out.with_name(f".{out.name}.partial")
    shutil.rmtree(half, ignore_errors=True)
    try:
        half.mkdir(parents=True)
    except OSError:
        raise InvalidArgument(
            f"{out} cannot be made; what was asked is paid for: give --out a folder that is yours, it costs nothing"
        ) from None
    for name, answer in answers.items():
        write_text(half / f"{name}.csv", answer.to_csv(level=asked.level))
        if can_draw() and len(answer) <= MOST_DRAWN:
            write_picture(
                answer, half / f"{name}.svg", level=asked.level, title=asked.questions[name].title
            )
    if told := _measured(answers):
        write_text(half / "measurements.json", json.dumps(told, indent=1))
    receipt: Any = next(iter(answers.values())).receipt
    write_text(half / "receipt.json", receipt.to_json())
    write_text(half / "README.md", readme)
    half.rename(out)


def _measured(answers: Mapping[str, Answer]) -> dict[str, object]:
    """Return the estimates of all workloads before they were moved, with their covariance, and how to read them."""
    found = {
        name: one
        for name, one in answers.items()
        if isinstance(one.plan, Plan) and one.plan.gap is not None
    }
    if not found:
        return {}
    tables: dict[str, object] = {}
    for name, answer in found.items():
        shared = [
            other for other, one in found.items() if _strategy_of(one) is _strategy_of(answer)
        ]
        tables[name] = {"strategy_of": shared, **answer.measurements()}
    return {"how": HOW, "tables": tables}


def _strategy_of(answer: Answer) -> object:
    plan: Any = answer.plan
    return plan if plan.within is None else plan.within
