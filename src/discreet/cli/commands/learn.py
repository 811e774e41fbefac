"""`discreet learn`: fit a differentially private model to the rows of a SELECT."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ... import learn as models
from ...errors import InvalidArgument
from ...learn.estimator import Estimator
from ...learn.stored import model_to_json
from ..budget import pairs
from ..flags import JsonFlag, SourceArgument, SqlArgument, WhyFlag
from ..option_group import spread_flags
from ..output import STANDARD, check_file, echo, write_text
from ..question_options import LocationFlags, TermFlags, open_curator
from ..refusal import refusals

_MEMBERS = {name: getattr(models, name) for name in dir(models)}
KINDS = {
    name: member
    for name, member in _MEMBERS.items()
    if isinstance(member, type) and issubclass(member, Estimator)
}


@spread_flags
def learn(
    source: SourceArgument,
    sql: SqlArgument,
    *,
    place: LocationFlags,
    price: TermFlags,
    model: Annotated[str, typer.Option(help=f"Which model: {', '.join(sorted(KINDS))}.")],
    target: Annotated[str | None, typer.Option(help="The column to predict.")] = None,
    option: Annotated[
        list[str] | None,
        typer.Option("--option", help="A parameter of the model: bins=16. May be repeated."),
    ] = None,
    rows: Annotated[
        int | None, typer.Option(help="Only say what a fit on about so many rows would be.")
    ] = None,
    why: WhyFlag = "",
    out: Annotated[Path | None, typer.Option(help="Write the model to this JSON file.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Learn a model privately from the rows of a SELECT: charge the ledger, add up, add noise, solve.

    Example: discreet learn people.csv "SELECT age, region, income FROM people" --schema people.toml \
    --ledger people.ledger --epsilon 1 --delta 1e-6 --model LinearRegression --target income
    """
    with refusals(as_json=as_json):
        if out is not None and out != STANDARD and out.suffix.lower() != ".json":
            raise InvalidArgument(
                f"{out} is no JSON file; a model is written as JSON: name it .json, or - for here"
            )
        made = _model(model, target, pairs(option, "--option"))
        # Files are checked first: a model that cannot be written must not be charged.
        check_file(out)
        # With --rows the training is only explained: nothing is spent.
        with open_curator(source, place, price, spends=rows is None, quiet=as_json) as curator:
            if rows is not None:
                shown = curator.explain_model(sql, made, price.spend, n=rows)
                echo(shown, {"explanation": str(shown)}, as_json=as_json)
                return
            fitted = curator.learn(sql, made, price.spend, why=why)
        # Shown first: a disk that is full by now must not hide what was paid for.
        text = model_to_json(fitted)
        echo(fitted.summary(), {"model": text}, as_json=as_json)
        if out is not None:
            write_text(out, text)


def _model(name: str, target: str | None, options: dict[str, str]) -> Estimator:
    """Make a model of this kind with its target and parameters; refuse an unknown kind."""
    if name not in KINDS:
        raise InvalidArgument(f"there is no model {name!r}; there are {', '.join(sorted(KINDS))}")
    made = KINDS[name]()
    parameters: dict[str, object] = {key: _value(value) for key, value in options.items()}
    if target is not None:
        parameters["target"] = target
    return made.set_params(**parameters)


def _value(text: str) -> object:
    """Return an integer, a float or the text itself, the first that it can be read as."""
    try:
        return int(text)
    except ValueError:
        try:
            return float(text)
        except ValueError:
            return text
