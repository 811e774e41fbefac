"""What may be asked over the line: strict shapes, the library's own words, unknown fields refused."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from ..arithmetic.numeral import read_number
from ..errors import InvalidArgument
from ..plan.terms import ExactErrors, Terms
from ..privacy.budget_words import budget_from_words, budget_to_words

__all__ = ["Ask", "Planned", "Release", "read_ask", "read_planned", "read_release", "terms_to_json"]

LONGEST_SQL = 20_000
LONGEST_WHY = 500
LONGEST_NAME = 100
MOST_NAMES = 64
MOST_QUERIES = 10**9
MOST_ROWS = 100_000


@dataclass(frozen=True, slots=True)
class Ask:
    """One question in SQL, with its terms and the reason given for it."""

    sql: str
    terms: Terms = field(default_factory=Terms)
    why: str = ""
    rows: int = 1000

    def to_json(self) -> dict[str, object]:
        """Give the request as plain JSON; `read_ask` reads it back."""
        rows = {} if self.rows == 1000 else {"rows": self.rows}
        return {"sql": self.sql, **terms_to_json(self.terms), "why": self.why, **rows}


@dataclass(frozen=True, slots=True)
class Release:
    """Several named questions under one charge."""

    questions: Mapping[str, str]
    terms: Terms = field(default_factory=Terms)
    why: str = ""

    def to_json(self) -> dict[str, object]:
        """Give the request as plain JSON; `read_release` reads it back."""
        return {"questions": dict(self.questions), **terms_to_json(self.terms), "why": self.why}


@dataclass(frozen=True, slots=True)
class Planned:
    """A question, or several, and two of spend, error and queries."""

    questions: str | Mapping[str, str]
    terms: Terms = field(default_factory=Terms)
    queries: int | None = None

    def to_json(self) -> dict[str, object]:
        """Give the request as plain JSON; `read_planned` reads it back."""
        asked = {"sql": self.questions} if isinstance(self.questions, str) else {"questions": dict(self.questions)}
        queries = {} if self.queries is None else {"queries": self.queries}
        return {**asked, **terms_to_json(self.terms), **queries}


def terms_to_json(terms: Terms) -> dict[str, object]:
    """Return the terms that are said, as the readers below read them."""
    said: dict[str, object] = {}
    if terms.spend is not None:
        said["spend"] = budget_to_words(terms.spend)
    if terms.error is not None:
        said["error"] = _number_words(terms.error)
    if terms.weights is not None:
        said["weights"] = _number_words(terms.weights)
    if terms.size is not None:
        said["size"] = terms.size
    return said | {"level": repr(terms.level), "nonnegative": terms.nonnegative}


_TERMS = ("spend", "error", "weights", "size", "level", "nonnegative")


def read_ask(body: object, *, rehearsal: bool = False) -> Ask:
    """Read one question from JSON.

    >>> ask = read_ask({"sql": "SELECT COUNT(*) AS n FROM people", "spend": {"epsilon": "1/2"}})
    >>> ask.terms.spend, ask.terms.level
    (PureDP(0.5), 0.95)

    Refuses unknown fields, wrong types, both of spend and error or neither, texts that are too long.
    """
    fields = _object(body, ("sql", *_TERMS, "why", *(("rows",) if rehearsal else ())))
    rows = _whole(fields.get("rows", 1000), "rows", most=MOST_ROWS)
    return Ask(_sql(fields.get("sql"), "sql"), _terms(fields), _text(fields.get("why", ""), "why", LONGEST_WHY), rows)


def read_release(body: object) -> Release:
    """Read several named questions under one charge from JSON."""
    fields = _object(body, ("questions", *_TERMS, "why"))
    why = _text(fields.get("why", ""), "why", LONGEST_WHY)
    return Release(_questions(fields.get("questions")), _terms(fields), why)


def read_planned(body: object) -> Planned:
    """Read a question to plan from JSON: `sql` or `questions`, with spend or error, or two of spend, error and queries.

    >>> read_planned({"sql": "SELECT COUNT(*) AS n FROM people", "error": 5, "queries": 10}).queries
    10
    """
    fields = _object(body, ("sql", "questions", *_TERMS, "queries"))
    if ("sql" in fields) == ("questions" in fields):
        raise InvalidArgument("give sql for one question, or questions for several by name, one of the two")
    asked = _sql(fields["sql"], "sql") if "sql" in fields else _questions(fields["questions"])
    queries = None if fields.get("queries") is None else _whole(fields["queries"], "queries", most=MOST_QUERIES)
    return Planned(asked, _terms(fields, both=queries is None), queries)


def _object(body: object, known: Iterable[str]) -> dict[str, object]:
    if not isinstance(body, dict):
        raise InvalidArgument('a request is a JSON object, such as {"sql": "SELECT …", "spend": {"epsilon": "1"}}')
    for name in body:
        if name not in known:
            raise InvalidArgument(f"{str(name)[:40]!r} is not known here; what may stand here: {', '.join(known)}")
    return body


def _terms(fields: Mapping[str, object], *, both: bool = True) -> Terms:
    spend = None if fields.get("spend") is None else budget_from_words(fields["spend"])
    error = None if fields.get("error") is None else _errors(fields["error"])
    if both and (spend is None) == (error is None):
        raise InvalidArgument("give spend or error, one of the two: the planner finds the other")
    weights = None if fields.get("weights") is None else _numbers(fields["weights"], "weights")
    size = None if fields.get("size") is None else _whole(fields["size"], "size", most=10**12)
    level = float(read_number(fields.get("level", "0.95"), "level"))
    if not 0 < level < 1:
        raise InvalidArgument(f"level must lie between 0 and 1, got {level}; try 0.95")
    return Terms(spend, error, weights, size, level, _flag(fields.get("nonnegative", False), "nonnegative"))


def _errors(value: object) -> ExactErrors:
    """Read one error for all, errors by name, or, of several questions, errors by question and name."""
    if not isinstance(value, dict):
        return read_number(value, "error")
    if len(value) > MOST_NAMES:
        raise InvalidArgument(f"error must map 1 to {MOST_NAMES} columns to numbers")
    deep = {name: one for name, one in value.items() if isinstance(one, dict)}
    flat = {name: one for name, one in value.items() if name not in deep}
    read = _numbers(flat, "error") if flat or not deep else {}
    return read | {
        _text(name, "error", LONGEST_NAME): _numbers(one, f"error.{name[:40]}") for name, one in deep.items()
    }


def _numbers(value: object, name: str) -> dict[str, Fraction]:
    if not isinstance(value, dict) or not 0 < len(value) <= MOST_NAMES:
        raise InvalidArgument(f"{name} must map 1 to {MOST_NAMES} columns to numbers")
    return {
        _text(label, name, LONGEST_NAME): read_number(amount, f"{name}.{label[:40]}") for label, amount in value.items()
    }


def _number_words(value: ExactErrors) -> object:
    return {name: _number_words(one) for name, one in value.items()} if isinstance(value, Mapping) else str(value)


def _questions(value: object) -> dict[str, str]:
    if not isinstance(value, dict) or not 0 < len(value) <= MOST_NAMES:
        raise InvalidArgument(f"questions must map 1 to {MOST_NAMES} names to SQL")
    return {
        _text(name, "a question's name", LONGEST_NAME): _sql(sql, f"questions.{name[:40]}")
        for name, sql in value.items()
    }


def _sql(value: object, name: str) -> str:
    text = _text(value, name, LONGEST_SQL)
    if not text.strip():
        raise InvalidArgument(f"{name} is empty; write a question in SQL")
    return text


def _text(value: object, name: str, longest: int) -> str:
    if not isinstance(value, str):
        raise InvalidArgument(f"{name} must be text")
    if len(value) > longest:
        raise InvalidArgument(f"{name} has {len(value)} characters; at most {longest} are read")
    if "\x00" in value or any("\ud800" <= letter <= "\udfff" for letter in value):
        raise InvalidArgument(f"{name} must be plain text: no NUL, no halves of characters")
    return value


def _flag(value: object, name: str) -> bool:
    if not isinstance(value, bool):
        raise InvalidArgument(f"{name} must be true or false")
    return value


def _whole(value: object, name: str, *, most: int) -> int:
    exact = read_number(value, name)
    if exact.denominator != 1 or not 1 <= exact <= most:
        raise InvalidArgument(f"{name} must be a whole number from 1 to {most}")
    return int(exact)
