"""What a release publishes, as a TOML file: where the data lies, what may be spent, and a question for each table.

title = "Incomes of the region"
source = "people.csv"
schema = "people.toml"
ledger = "people.ledger"
spend = { epsilon = "1" }
whole = false                     # true: counts of cubes, rollups and running totals are whole numbers that add up

[questions.income]
title = "Mean income by region"
sql = "SELECT region, COUNT(*) AS n, AVG(income) AS income FROM people GROUP BY region"
weight = 2
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path

from ...connection import server_table
from ...engines.spark.session import is_address
from ...errors import InvalidArgument
from ...frozen import field, frozen
from ...plan.asked.terms import read_terms
from ...privacy.budget_text import budget_from_words
from ...privacy.measures import Measure

_FIELDS = {
    "title",
    "source",
    "schema",
    "ledger",
    "tables",
    "budget",
    "spend",
    "who",
    "why",
    "level",
    "whole",
    "questions",
}
_QUESTION = {"title", "sql", "weight", "error"}


@frozen
class PublishedTable:
    """One table of a release: its question, its title, and its part of the budget or the error it may have."""

    sql: str
    title: str
    weight: str = "1"
    error: str | Mapping[str, str] | None = None


@frozen
class ReleaseFile:
    """A release as it is written down; paths are relative to the file's folder."""

    title: str
    source: str = field(repr=False)  # an address may hold a password
    schema: str
    ledger: str = field(repr=False)
    questions: Mapping[str, PublishedTable]
    spend: Measure | None = None
    budget: Measure | None = None
    tables: Mapping[str, str] = field(default_factory=dict)
    who: str = "steward"
    why: str = ""
    level: float = 0.95
    whole: bool = False


def read_release(path: str | Path) -> ReleaseFile:
    """Read a release file.

    Refuses a file that is not there or no TOML, keys it does not know, a release that says neither what may be spent
    nor how wrong every table may be, or both.
    """
    try:
        data = tomllib.loads(Path(path).read_text(encoding="utf-8"), parse_float=Decimal)
    except (OSError, UnicodeDecodeError):
        raise InvalidArgument(
            f"{path} cannot be read; give the path of a TOML file in UTF-8"
        ) from None
    except tomllib.TOMLDecodeError as error:
        raise InvalidArgument(f"{path} is no TOML: {error}") from None
    if "invariants" in data:
        raise InvalidArgument(
            f"{path}: invariants would be exact totals, outside every promise made here, and whoever knows all but one "
            "person would learn that person; leave them out, or publish them beside, as what they are: not private"
        )
    _check_known(data, _FIELDS, str(path))
    home, questions = Path(path).parent, _questions(data.get("questions"), str(path))
    spend = budget_from_words(data["spend"], f"{path}: spend") if "spend" in data else None
    _check_price(questions, spend, str(path))
    title, level = (
        data.get("title", Path(path).stem),
        read_terms(level=data.get("level", 0.95)).level,
    )
    return ReleaseFile(
        title=_text(title, "title", path),
        source=_place(data.get("source"), "source", path, home),
        schema=_place(data.get("schema"), "schema", path, home),
        ledger=_place(data.get("ledger"), "ledger", path, home),
        questions=questions,
        spend=spend,
        budget=budget_from_words(data["budget"], f"{path}: budget") if "budget" in data else None,
        tables={
            name: _place(at, f"tables.{name}", path, home)
            for name, at in dict(data.get("tables", {})).items()
        },
        who=_text(data.get("who", "steward"), "who", path),
        why=_text(data.get("why", title), "why", path),
        level=level,
        whole=read_terms(whole=data.get("whole", False)).whole,
    )


def _questions(data: object, where: str) -> dict[str, PublishedTable]:
    if not isinstance(data, Mapping) or not data:
        raise InvalidArgument(
            f'{where} asks nothing; write a [questions.NAME] with sql = "SELECT …" for each table'
        )
    found: dict[str, PublishedTable] = {}
    for name, one in data.items():
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,62}", name):
            raise InvalidArgument(
                f"{where}: {name!r} cannot name a file; use letters, digits, - and _"
            )
        if not isinstance(one, Mapping) or not isinstance(one.get("sql"), str):
            raise InvalidArgument(f'{where}: questions.{name} needs sql = "SELECT …"')
        _check_known(one, _QUESTION, f"{where}: questions.{name}")
        found[name] = PublishedTable(
            one["sql"], str(one.get("title", name)), str(one.get("weight", 1)), _error(one)
        )
    return found


def _error(question: Mapping[str, object]) -> str | dict[str, str] | None:
    said = question.get("error")
    if isinstance(said, Mapping):
        return {str(name): str(amount) for name, amount in said.items()}
    return None if said is None else str(said)


def _check_price(
    questions: Mapping[str, PublishedTable], spend: Measure | None, where: str
) -> None:
    erring = [name for name, one in questions.items() if one.error is not None]
    if spend is not None and erring:
        raise InvalidArgument(
            f"{where} gives spend, and an error for {', '.join(erring)}; give one of the two"
        )
    if spend is None and len(erring) < len(questions):
        rest = ", ".join(name for name in questions if name not in erring)
        raise InvalidArgument(
            f"{where} says neither spend nor an error for {rest}; give one of the two"
        )


def _check_known(data: Mapping[str, object], fields: set[str], where: str) -> None:
    unknown = sorted(set(data) - fields)
    if unknown:
        raise InvalidArgument(
            f"{where} has unknown {', '.join(unknown)}; it may have {', '.join(sorted(fields))}"
        )


def _text(value: object, name: str, where: str | Path) -> str:
    if not isinstance(value, str):
        raise InvalidArgument(f"{where}: {name} must be text, got {value!r}")
    return value


def _place(value: object, name: str, where: str | Path, home: Path) -> str:
    """Read a path relative to the file, or an address of a database."""
    if value is None:
        raise InvalidArgument(
            f"{where} lacks {name}; give a path, or postgresql://… where a database may stand"
        )
    text = _text(value, name, where)
    return text if is_address(text) or server_table(text) is not None else str(home / text)
