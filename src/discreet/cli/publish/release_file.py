"""Release file: a TOML file with data source, ledger, budget and a question for each table.

title = "Incomes of the region"
source = "people.csv"
schema = "people.toml"
ledger = "people.ledger"
spend = { epsilon = "1" }
whole = false           # true: counts of cubes, rollups, running totals are whole and add up
other = "other or unknown"  # a row of this name for rows without a listed value of a key
# also: budget (of a new ledger), tables (further files), who, why, level; without spend, an error
# in every question

[questions.income]
title = "Mean income by region"
sql = "SELECT region, COUNT(*) AS n, AVG(income) AS income FROM people GROUP BY region"
weight = 2

[words]                 # makes a public record too, in the folder record/
data_curators = ["Statistics office of the region"]
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import fields
from decimal import Decimal
from pathlib import Path
from typing import Any

from ...connection import server_table
from ...engines.spark.session import is_address
from ...errors import InvalidArgument
from ...frozen import field, frozen
from ...plan.asked.terms import DEFAULT_LEVEL, read_terms
from ...privacy.budget_text import parse_budget
from ...privacy.measures import Measure
from ...record.words import Words, read_words


@frozen
class PublishedTable:
    """Table of a release: its question, its title, and its weight in the budget or its error."""

    sql: str
    title: str
    weight: str = "1"
    error: str | Mapping[str, str] | None = None


@frozen
class ReleaseFile:
    """Contents of a release file; `read_release` puts its folder before relative paths."""

    title: str
    # A URL may contain a password: it stays out of the repr.
    source: str = field(repr=False)
    schema: str
    ledger: str = field(repr=False)
    questions: Mapping[str, PublishedTable]
    spend: Measure | None = None
    budget: Measure | None = None
    tables: Mapping[str, str] = field(default_factory=dict)
    who: str = "steward"
    why: str = ""
    level: float = DEFAULT_LEVEL
    whole: bool = False
    other: str = ""
    """Name of the row for rows without a listed value of a key; "" adds none."""
    words: Words | None = None
    """The steward's words for the public record; None makes none."""


# The keys of a file and of each question are the fields of these classes.
_FIELDS = {part.name for part in fields(ReleaseFile)}
_QUESTION_FIELDS = {part.name for part in fields(PublishedTable)}


def read_release(path: str | Path) -> ReleaseFile:
    """Read a release file.

    Refuses: a missing file, other formats than TOML, unknown keys, no question, names that cannot
    name a file, invariants, and both of spend and errors or neither, by `InvalidArgument`.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
        # Decimals keep amounts exact: 0.1 is 1/10.
        data = tomllib.loads(text, parse_float=Decimal)
    except (OSError, UnicodeDecodeError):
        raise InvalidArgument(
            f"{path} cannot be read; give the path of a TOML file in UTF-8"
        ) from None
    except tomllib.TOMLDecodeError as error:
        raise InvalidArgument(f"{path} is no TOML: {error}") from None
    # Known from census releases, so refused with a reason rather than as unknown.
    if "invariants" in data:
        raise InvalidArgument(
            f"{path}: invariants would be exact totals, outside every promise made here, and "
            "whoever knows all but one person would learn that person; leave them out, "
            "or publish them beside, as what they are: not private"
        )
    _check_known(data, _FIELDS, str(path))
    folder = Path(path).parent
    questions = _questions(data.get("questions"), str(path))
    spend = _budget(data, "spend", path)
    _check_price(questions, spend, str(path))
    title = data.get("title", Path(path).stem)
    level = read_terms(level=data.get("level", DEFAULT_LEVEL)).level
    return ReleaseFile(
        title=_text(title, "title", path),
        source=_location(data.get("source"), "source", path, folder),
        schema=_location(data.get("schema"), "schema", path, folder),
        ledger=_location(data.get("ledger"), "ledger", path, folder),
        questions=questions,
        spend=spend,
        budget=_budget(data, "budget", path),
        tables=_tables(data, path, folder),
        who=_text(data.get("who", "steward"), "who", path),
        why=_text(data.get("why", title), "why", path),
        level=level,
        whole=read_terms(whole=data.get("whole", False)).whole,
        other=_text(data.get("other", ""), "other", path),
        words=_words(data),
    )


def _words(data: Mapping[str, Any]) -> Words | None:
    """Read the steward's words for the public record; None without a table [words]."""
    if "words" not in data:
        return None
    if not isinstance(data["words"], Mapping):
        raise InvalidArgument("words is a table: [words], with what only the steward knows")
    return read_words(data["words"])


def _tables(data: Mapping[str, Any], where: str | Path, folder: Path) -> dict[str, str]:
    tables = {}
    for name, location in dict(data.get("tables", {})).items():
        tables[name] = _location(location, f"tables.{name}", where, folder)
    return tables


def _budget(data: Mapping[str, object], name: str, where: str | Path) -> Measure | None:
    if name not in data:
        return None
    return parse_budget(data[name], f"{where}: {name}")


def _questions(data: object, where: str) -> dict[str, PublishedTable]:
    """Read the questions by name; refuse none, and names that cannot name a file."""
    if not isinstance(data, Mapping) or not data:
        raise InvalidArgument(
            f'{where} asks nothing; write a [questions.NAME] with sql = "SELECT …" for each table'
        )
    tables: dict[str, PublishedTable] = {}
    for name, question in data.items():
        # Names become file names of the release.
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,62}", name):
            raise InvalidArgument(
                f"{where}: {name!r} cannot name a file; use letters, digits, - and _"
            )
        if not isinstance(question, Mapping) or not isinstance(question.get("sql"), str):
            raise InvalidArgument(f'{where}: questions.{name} needs sql = "SELECT …"')
        _check_known(question, _QUESTION_FIELDS, f"{where}: questions.{name}")
        title = str(question.get("title", name))
        weight = str(question.get("weight", 1))
        tables[name] = PublishedTable(question["sql"], title, weight, _error(question))
    return tables


def _error(question: Mapping[str, object]) -> str | dict[str, str] | None:
    """Read the error of a question: one number, numbers by column, or None."""
    error = question.get("error")
    if error is None:
        return None
    if isinstance(error, Mapping):
        return {str(name): str(amount) for name, amount in error.items()}
    return str(error)


def _check_price(
    questions: Mapping[str, PublishedTable], spend: Measure | None, where: str
) -> None:
    """Refuse spend beside errors, and a question with neither."""
    for name, table in questions.items():
        if (spend is None) == (table.error is None):
            both = "an error for it beside spend" if spend else "neither spend nor an error"
            raise InvalidArgument(f"{where}: {name} has {both}; give one of the two")


def _check_known(data: Mapping[str, object], fields: set[str], where: str) -> None:
    """Refuse unknown fields."""
    unknown = sorted(set(data) - fields)
    if unknown:
        raise InvalidArgument(
            f"{where} has unknown {', '.join(unknown)}; it may have {', '.join(sorted(fields))}"
        )


def _text(value: object, name: str, where: str | Path) -> str:
    if not isinstance(value, str):
        raise InvalidArgument(f"{where}: {name} must be text, got {value!r}")
    return value


def _location(value: object, name: str, where: str | Path, folder: Path) -> str:
    """Read a path relative to the file's folder, or a URL of a database."""
    if value is None:
        raise InvalidArgument(
            f"{where} lacks {name}; give a path, or postgresql://… where a database may stand"
        )
    text = _text(value, name, where)
    if is_address(text) or server_table(text) is not None:
        return text
    return str(folder / text)
