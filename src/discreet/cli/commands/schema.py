"""`discreet schema`: draft (infer), mend (fix), check and show schema files."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, TypeAlias, TypedDict, TypeVar, cast

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ...arithmetic.rational import whole
from ...data.columns.column import Column, ColumnType
from ...data.display import column_rows, heading
from ...data.drafting.answers import read_bounds, read_key_list, read_max_length, split_answer
from ...data.drafting.draft import SIZE, Draft
from ...data.drafting.guess import guess
from ...data.drafting.infer import infer
from ...data.drafting.proposals import effect_text
from ...data.drafting.sniff import sniff
from ...data.files.schema_file import read_schemas, write_toml
from ...data.files.schema_json import COLUMN_SHAPES
from ...data.unit import People, Period, Rows, Unit
from ...errors import InvalidArgument
from ...privacy.measures import ADD_REMOVE, read_neighbours
from ..refusal import refusals
from .schema_fix import fix

app = typer.Typer(
    name="schema",
    help="Declare public facts about private data: columns with bounds, who is protected.",
    no_args_is_help=True,
)

app.command()(fix)

T = TypeVar("T")
Kinds: TypeAlias = Mapping[str, ColumnType]


class Caps(TypedDict):
    """Options that are allowed beside `--people`: caps on groups and rows, and a name (`who`)."""

    max_groups: int | None
    max_rows_per_group: int | None
    who: str | None


QUESTIONS: dict[ColumnType, str] = {
    "text": "its keys as N,S,E,W or its greatest length as a number",
    "category": "its keys as N,S,E,W",
    "integer": "low:high, or its keys as 1,2,3",
    "timestamp": "low..high",
}


@app.command("infer")
def infer_command(
    file: Annotated[
        str,
        typer.Argument(
            help="A CSV file with a header line, Parquet, FILE.duckdb#TABLE, or postgresql://…#TABLE."
        ),
    ],
    *,
    unit: Annotated[
        str | None, typer.Option(help="Who is protected: rows. For people say --people.")
    ] = None,
    people: Annotated[str | None, typer.Option(help="The column that tells people apart.")] = None,
    who: Annotated[
        str | None,
        typer.Option(
            help="A name for these people, equal in all tables that hold the same people."
        ),
    ] = None,
    max_rows: Annotated[
        int | None, typer.Option(help="The most rows of one person that may count.")
    ] = None,
    max_groups: Annotated[
        int | None, typer.Option(help="The most groups one person's rows may fall in.")
    ] = None,
    max_rows_per_group: Annotated[
        int | None, typer.Option(help="The most rows of one person that may count in one group.")
    ] = None,
    window: Annotated[
        str | None, typer.Option(help="Protect a person within a period: COLUMN=month.")
    ] = None,
    bounds: Annotated[
        list[str] | None, typer.Option(help="Public bounds: age=0:120, paid=0:500:0.01.")
    ] = None,
    categories: Annotated[
        list[str] | None, typer.Option(help="A closed list of keys: region=N,S,E,W.")
    ] = None,
    length: Annotated[
        list[str] | None, typer.Option(help="The most characters of a text: note=200.")
    ] = None,
    kind: Annotated[
        list[str] | None, typer.Option("--type", help="Overrule a guessed type: zip=text.")
    ] = None,
    leave_out: Annotated[
        list[str] | None, typer.Option(help="A column that nobody may ask about.")
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="The table's name; the file's name if left out.")
    ] = None,
    neighbours: Annotated[str, typer.Option(help="add-remove or replace.")] = ADD_REMOVE,
    data_version: Annotated[str, typer.Option(help="Your word for the state of the data.")] = "1",
    size: Annotated[
        int | None, typer.Option(help="A public number of people or rows, about; not counted.")
    ] = None,
    from_data: Annotated[
        bool, typer.Option("--from-data", help="Read what is open from the data, and mark it.")
    ] = False,
    ask: Annotated[
        bool | None, typer.Option(help="Ask for what is open; the default at a terminal.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="The TOML file to write; it must not exist yet.")
    ] = None,
) -> None:
    """Draft a schema file from the types of a file's columns and your answers.

    Example: discreet schema infer people.csv --unit rows --bounds age=0:120 --categories region=N,S --out people.toml
    """
    with refusals():
        # Before any question is asked: answers would be lost.
        _check_free(out)
        guessed: dict[str, ColumnType] = {}
        for column, seen in sniff(file).columns.items():
            guessed[column] = guess(column, seen).kind
        types = _overruled_types(guessed, kind or [])
        kinds = guessed | types
        answers = _answers(kinds, bounds or [], categories or [], length or [])
        caps: Caps = {
            "max_groups": max_groups,
            "max_rows_per_group": max_rows_per_group,
            "who": who,
        }
        protected = _unit(unit, people, max_rows, caps, window)
        if ask is None:
            ask = sys.stdin.isatty()
        if ask:
            protected = _ask_unit(protected, kinds)
            # The column of people has no facts of its own: it is not asked for.
            id_column = protected.id if isinstance(protected, People) else protected
            settled = {*answers, *(leave_out or []), id_column}
            open_columns = {column: k for column, k in kinds.items() if column not in settled}
            answers |= _ask_columns(open_columns)
            if size is None:
                size = _prompt("How many are protected, about? A public number", _read_size)
        draft = infer(
            file,
            name=name,
            # A name alone is the column of people, whose number of rows is still open.
            unit=None if isinstance(protected, str) else protected,
            people=protected if isinstance(protected, str) else None,
            columns=answers,
            types=types,
            leave_out=leave_out or [],
            neighbours=read_neighbours(neighbours),
            version=data_version,
            size=size,
            from_data=from_data,
        )
        _write(draft, out)


def _overruled_types(guessed: Kinds, options: list[str]) -> dict[str, ColumnType]:
    """Read options COLUMN=TYPE, which overrule the guessed types; return the types by column."""
    kinds: dict[str, ColumnType] = {}
    for answer in options:
        name, kind = split_answer(answer, guessed)
        if kind not in COLUMN_SHAPES:
            raise InvalidArgument(
                f"{kind!r} is no type of column; use one of {', '.join(COLUMN_SHAPES)}"
            )
        kinds[name] = cast("ColumnType", kind)
    return kinds


def _answers(
    kinds: Kinds, bounds: list[str], categories: list[str], lengths: list[str]
) -> dict[str, Column]:
    """Read the options about columns as declarations; each column may have one."""
    answers: dict[str, Column] = {}
    readers: list[tuple[list[str], Callable[[ColumnType, str], Column]]] = [
        (bounds, read_bounds),
        (categories, read_key_list),
        (lengths, _read_length),
    ]
    for options, read in readers:
        for answer in options:
            name, fact = split_answer(answer, kinds)
            if name in answers:
                raise InvalidArgument(
                    f"column {name!r} is answered twice; say bounds, categories or a length, once"
                )
            answers[name] = read(kinds[name], fact)
    return answers


def _read_length(_kind: ColumnType, answer: str) -> Column:
    return read_max_length(answer)


def _unit(
    unit: str | None,
    people: str | None,
    max_rows: int | None,
    caps: Caps,
    window: str | None,
) -> Unit | str | None:
    """Read the unit of privacy; only the column of people if `max_rows` is not given."""
    if unit not in (None, "rows") or (unit and people):
        raise InvalidArgument("say --unit rows, or --people COLUMN --max-rows N, one of the two")
    if people is None or max_rows is None:
        rows_without_people = max_rows is not None and people is None
        given = [*caps.values(), window]
        if any(one is not None for one in given) or rows_without_people:
            raise InvalidArgument(
                "--max-groups, --max-rows-per-group, --window and --who go with "
                "--people COLUMN --max-rows N"
            )
        return Rows() if unit else people
    within = None
    if window is not None:
        column, _, period = window.rpartition("=")
        within = (column, cast("Period", period))
    return People(people, max_rows=max_rows, window=within, **caps)


def _ask_unit(known: Unit | str | None, names: Kinds) -> Unit | str | None:
    """Ask who is protected, and how many rows of a person count, as far as that is open."""
    who = known
    if who is None:
        question = "Who is protected? 'rows', or the column that tells people apart"
        who = _prompt(question, partial(_rows_or_column, names))
    if not isinstance(who, str):
        return who
    question = f"The most rows of one person ({who}) that may count"
    return _prompt(question, partial(_people, who)) or who


def _rows_or_column(names: Kinds, answer: str) -> Unit | str:
    """Read "rows" or the name of a column."""
    if answer == "rows":
        return Rows()
    if answer not in names:
        raise InvalidArgument(
            f"{answer!r} is neither 'rows' nor a column; the columns are {', '.join(names)}"
        )
    return answer


def _people(column: str, max_rows: str) -> People:
    # People parses text exactly, as any number of the library.
    return People(column, max_rows=cast("int", max_rows))


def _ask_columns(kinds: Kinds) -> dict[str, Column]:
    """Ask for the facts of each column; an empty answer leaves it open."""
    answers: dict[str, Column] = {}
    for name, kind in kinds.items():
        if kind == "boolean":
            continue
        question = f"{name} ({kind}): {QUESTIONS.get(kind, 'low:high')}"
        column = _prompt(question, partial(_read_column, kind))
        if column is not None:
            answers[name] = column
    return answers


def _read_column(kind: ColumnType, answer: str) -> Column:
    """Read the declaration of a column from an answer, by its type."""
    # A comma means a list of keys, whatever the type of the column.
    if kind == "category" or "," in answer:
        return read_key_list(kind, answer)
    if kind == "text":
        return read_max_length(answer)
    return read_bounds(kind, answer)


def _prompt(question: str, read: Callable[[str], T]) -> T | None:
    """Ask until the answer can be read; an empty answer leaves the question open."""
    while True:
        # On standard error: standard output is for the schema alone.
        given = typer.prompt(question, default="", show_default=False, err=True)
        answer = str(given).strip()
        if not answer:
            return None
        try:
            return read(answer)
        except InvalidArgument as refusal:
            typer.secho(str(refusal), err=True, fg="yellow")


def _read_size(answer: str) -> int:
    return whole(answer, "size", least=1)


def _check_free(out: Path | None) -> None:
    if out is not None and out.exists():
        raise InvalidArgument(f"{out} exists; draft into a new file, or remove it first")


def _write(draft: Draft, out: Path | None) -> None:
    """Write the draft of a schema, and on standard error what is proposed and still open."""
    if out is None:
        typer.echo(draft.to_toml(), nl=False)
    else:
        write_toml(out, draft.to_toml())
    for proposal in draft.proposals:
        effect = effect_text(*proposal.effect.counts)
        typer.secho(f"proposed: {proposal.column}: {proposal.text}: {effect}", err=True)
    if draft.size is None:
        typer.secho(f"open: size: {SIZE}", err=True, fg="yellow")
    for path, question in draft.open.items():
        typer.secho(f"open: {path}: {question}", err=True, fg="yellow")
    for path in draft.needs_word:
        typer.secho(
            f"from the data: {path}: put in what is known without looking, remove needs_word",
            err=True,
            fg="red",
        )


@app.command()
def check(files: Annotated[list[Path], typer.Argument(help="Schema files.")]) -> None:
    """Say whether schema files are complete and every fact in them is your word; exit with 2 if not.

    Example: discreet schema check people.toml
    """
    with refusals():
        for file in files:
            names = ", ".join(schema.name for schema in read_schemas(file))
            typer.echo(f"{file}: ready: {names}")


@app.command()
def show(
    file: Annotated[Path, typer.Argument(help="A schema file, or a draft of one.")],
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Show the tables of a schema file: who is protected, and what each column may hold.

    Example: discreet schema show people.toml
    """
    with refusals():
        schemas = read_schemas(file, draft=True)
    if as_json:
        described = [schema.to_dict() for schema in schemas]
        typer.echo(json.dumps(described, ensure_ascii=False, indent=2))
        return
    for schema in schemas:
        table = Table(title=escape(heading(schema)), title_justify="left", title_style="bold")
        for title in ("column", "type", "values", "NULL"):
            table.add_column(title, overflow="fold")
        for row in column_rows(schema):
            # Escaped: names of columns may look like markup of rich.
            table.add_row(*(escape(cell) for cell in row))
        Console().print(table)
