"""`discreet schema fix`: propose column declarations that read more cells of a messy file.

Proposals that are accepted are written into the schema file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from operator import attrgetter
from typing import Annotated

import typer

# The package imports DuckDB only when it is used.
from ... import engines
from ...connection import server_table
from ...data.columns.column import Column
from ...data.drafting.answers import split_answer
from ...data.drafting.proposals import Proposal, effect_text, redeclare
from ...data.files.schema_file import read_schemas, rewrite_columns
from ...data.files.schema_json import column_to_dict, looked_at_of, marks_of
from ...data.schema import Schema
from ...errors import InvalidArgument
from ..refusal import refusals
from ..source import table_of


def fix(
    file: Annotated[str, typer.Argument(help="The schema file; it is written anew.")],
    source: Annotated[str, typer.Argument(help="A CSV or Parquet file of one of its tables.")],
    *,
    yes: Annotated[
        bool, typer.Option("--yes", help="Accept every proposal without asking.")
    ] = False,
    alias: Annotated[
        list[str] | None,
        typer.Option(help="A spelling and the key that it means: ward=E.R.:emergency."),
    ] = None,
    delimiter: Annotated[
        str | None, typer.Option(help="What separates the fields of a text file.")
    ] = None,
    encoding: Annotated[str, typer.Option(help="The encoding of a text file.")] = "utf-8",
) -> None:
    """Show by column what would be read with each proposal, and write those that you accept.

    Every proposal is counted over all cells first, and given only if it mends more than it breaks.
    Accepted facts are marked looked_at, because the data were looked at.

    Example: discreet schema fix visits.toml visits.csv --alias ward=E.R.:emergency
    """
    with refusals():
        if server_table(source) is not None:
            raise InvalidArgument(
                "schema fix reads files; a server's own tables have types already"
            )
        schemas = read_schemas(file, draft=True)
        name = table_of(source, schemas)
        by_name = dict(zip(map(attrgetter("name"), schemas), schemas, strict=True))
        schema = by_name[name]
        stated = _with_aliases(schema, alias or [])
        given: object = source
        if delimiter is not None or encoding != "utf-8":
            given = engines.Csv(source, delimiter=delimiter, encoding=encoding)
        fixed = _walk(stated, given, partial(_accept, yes), ask=not yes)
        if fixed == schema:
            typer.echo(f"{file}: nothing to change")
            return
        kept = rewrite_columns(file, (by_name | {name: fixed}).values())
        note = "" if kept else "; it was written anew, without its comments"
        typer.echo(f"{file}: {len(fixed.looked_at)} facts taken from the data{note}")


def _accept(yes: bool, proposal: Proposal) -> bool:
    """Print a proposal with its effect; return True with --yes, else what the user answers."""
    effect = effect_text(*proposal.effect.counts)
    text = f"{proposal.column}: with {proposal.text}: {effect}"
    if yes:
        typer.echo(text)
        return True
    return typer.confirm(f"{text}. Take it?", default=True)


def _walk(schema: Schema, source: object, accept: Callable[[Proposal], bool], ask: bool) -> Schema:
    """Return a schema with the accepted proposals, and with aliases for spellings that are left."""
    for found in engines.find_proposals(source, schema, accept):
        column = schema.columns[found.name]
        facts: list[str] = []
        for proposal in found.proposals:
            column = proposal.declared
            facts += dict(proposal.options)
        for spelling, rows in found.unlisted:
            text = f"{found.name}: {spelling!r} in {rows:,} rows is not listed"
            if not ask:
                typer.echo(f"{text}; say --alias COLUMN=SPELLING:KEY if it means a key")
                continue
            meant = typer.prompt(f"{text}. Which key does it mean?", default="", show_default=False)
            if meant:
                column = _with_alias(found.name, column, spelling, meant.strip())
                facts.append("aliases")
        schema = _replaced(schema, found.name, column, facts)
    return schema


def _with_aliases(schema: Schema, options: Iterable[str]) -> Schema:
    """Add the aliases that were said, each as COLUMN=SPELLING:KEY."""
    for option in options:
        name, said = split_answer(option, schema.columns)
        spelling, _, meant = said.rpartition(":")
        column = _with_alias(name, schema.columns[name], spelling, meant)
        schema = _replaced(schema, name, column, ["aliases"])
    return schema


def _with_alias(name: str, column: Column, spelling: str, meant: str) -> Column:
    """Return a column that reads one more spelling as a listed key; refuse an unlisted key."""
    known = dict(getattr(column, "aliases", None) or ())
    declared = redeclare(column, {"aliases": {**known, spelling: meant}})
    if declared is None:
        raise InvalidArgument(
            f"{name}: {spelling!r} cannot be an alias of {meant!r}; it must be a listed key, and the "
            "spelling must mean nothing else"
        )
    return declared


def _replaced(schema: Schema, name: str, column: Column, looked_at: Iterable[str]) -> Schema:
    """Return a schema with another declaration of one column, and what was looked at for it."""
    path = f"columns.{name}"
    marks = marks_of(path, schema.needs_word, schema.looked_at)
    declared = column.options()
    # A unit that became one of several units is no longer declared by itself.
    stated = list(filter(declared.get, [*looked_at_of(name, schema.looked_at), *looked_at]))
    if stated:
        marks["looked_at"] = list(dict.fromkeys(stated))
    facts = schema.to_dict()
    columns: dict[str, object] = dict(facts["columns"])  # type: ignore[call-overload]
    columns[name] = column_to_dict(column) | marks
    return Schema.from_dict(facts | {"columns": columns})
