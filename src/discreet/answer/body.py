"""Bodies of stored answers: the JSON text that a ledger keeps, with every fact that a receipt states.

The meaning of an answer is the version number of the rules by which rows were counted and weighted.

    version  content
    -------  -------------------------------------------------------------------------------
    1        price and answers alone: of release 0.1.0, suggested bounds, steps of synthetic tables
    2        with facts of the questions: answers of meaning 1, models and synthetic tables
    3        as 2, with the meaning: answers of a later meaning to one spelling of a question
    4        as 3, but measured tables (`answer.measured_table`), which do not tell the spelling

Bodies of every version may have the price as it was told, and since release 0.2.0 how they were `made`.

Guarantee: a text that was written once is read by every later release.
Law: tests/ledger/test_before_0_2_0.py, tests/ledger/test_0_1_0.py, tests/curator/test_stored.py
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.metadata import version

from ..arithmetic.canonical import canonical_json
from ..errors import DiscreetError, LedgerCorrupt
from ..frozen import field, frozen
from ..privacy.events.json import Json, measure_from_json, measure_to_json
from ..privacy.measures import Measure
from ..privacy.shown_price import Price, price_from_json
from ..query.text.measured_part import MeasuredPart
from .answer import Answer
from .measurements import known_covariances
from .stored import read_object

_SAID = {"text", "fingerprint", "plan", "shares"}
_FACTS = {"terms", "neighbours", "tables", "asked"}
_FIELDS_OF_ALL = {"body", "price", "answers"}
_FIELDS = {
    1: _FIELDS_OF_ALL,
    2: _FIELDS_OF_ALL | _FACTS,
    3: _FIELDS_OF_ALL | _FACTS | {"meaning"},
    4: _FIELDS_OF_ALL | _FACTS | {"meaning"},
}
MEASURED_VERSION = 4
"""Version of bodies that hold measured tables."""
_FIRST_MEANING = 1
"""Meaning of answers that do not state one."""


@frozen
class Said:
    """What is stored of one question: its SQL text and fingerprint, its plan and its bounds.

    `plan` is the plan as it was shown, `shares` the contribution bounds as text.
    """

    text: str
    fingerprint: str
    plan: str
    shares: tuple[str, ...]


@frozen
class BodyFacts:
    """Facts about the questions of a stored answer.

    `terms` are the terms under which it is found again, such as the spend. `tables` has the version
    of each table, and `asked` the questions by name.
    """

    terms: Json = field(hash=False)
    neighbours: str
    tables: Mapping[str, str] = field(hash=False)
    asked: Mapping[str, Said] = field(hash=False)


@frozen
class Body:
    """Answers by name, with the price that the ledger took and facts about the questions.

    A body of version 1 has no facts. `shown` is the price as it was told; None in bodies of
    releases that did not keep it. `meaning` is the version number of the rules by which rows were
    counted. `measured` says that the answers are measured tables, and that the facts are those of
    the measured parts of the questions: their totals, without names and post-processing
    (`query.text.measured_part`).
    """

    price: Measure
    answers: Mapping[str, object] = field(hash=False)
    facts: BodyFacts | None = None
    meaning: int = _FIRST_MEANING
    shown: Price | None = None
    measured: bool = False
    titles: tuple[str, ...] = ()
    """Names of the keys of a measured table; empty if there are several questions."""
    split: str = ""
    """The key that says whether a condition holds, where both sides of it were measured."""
    made: Json | None = field(default=None, hash=False)
    """How the answers were made (`made_by`); None in bodies of earlier releases."""

    @property
    def versions(self) -> Mapping[str, str]:
        """The versions of the tables; none are known of a body without facts."""
        if self.facts is None:
            return {}
        return self.facts.tables


def made_by(
    engine: object,
    answers: Mapping[str, Answer] | None = None,
    parts: Mapping[str, MeasuredPart] | None = None,
) -> Json:
    """Return how answers were made: release of discreet, kind of store, covariance of workloads.

    Nothing of it depends on rows or on who asked. `parts` are the measured parts of the answers.
    """
    made: Json = {"release": version("discreet"), "store": type(engine).__name__}
    if answers and parts:
        known = known_covariances(answers, parts)
        # Most answers are no workloads and have none.
        if known:
            made["covariance"] = known
    return made


def write_body(body: Body) -> str:
    """Write the text that a ledger stores."""
    data: Json = {"body": 1, "price": measure_to_json(body.price), "answers": dict(body.answers)}
    if body.shown is not None:
        data["shown"] = body.shown.to_json()
    if body.made is not None:
        data["made"] = body.made
    facts = body.facts
    if facts is None:
        return canonical_json(data)
    asked = {}
    for name, said in facts.asked.items():
        asked[name] = {
            "text": said.text,
            "fingerprint": said.fingerprint,
            "plan": said.plan,
            "shares": list(said.shares),
        }
    data["body"] = 2
    data["terms"] = facts.terms
    data["neighbours"] = facts.neighbours
    data["tables"] = dict(facts.tables)
    data["asked"] = asked
    if body.meaning != _FIRST_MEANING:
        data["body"] = 3
        if body.measured:
            data["body"] = MEASURED_VERSION
        data["meaning"] = body.meaning
    if body.titles:
        measured: Json = {"keys": list(body.titles)}
        if body.split:
            measured["split"] = body.split
        data["measured"] = measured
    return canonical_json(data)


def read_body(text: str) -> Body:
    """Read a text that `write_body` or release 0.1.0 wrote.

    Refuses: any other text (`LedgerCorrupt`).
    """
    try:
        data = json.loads(text)
        fields = _FIELDS[data["body"]]
        if data["body"] >= 3 and "measured" in data:
            fields = fields | {"measured"}
        # Bodies of every version may have these, since they were added later.
        fields = fields | (data.keys() & {"shown", "made"})
        given = read_object(data, fields, "a stored answer")
        facts = None
        if data["body"] != 1:
            facts = _facts(given)
        shown = price_from_json(given["shown"]) if "shown" in given else None
        price = measure_from_json(given["price"])
        meaning = _read_meaning(given)
        measured = data["body"] == MEASURED_VERSION
        titles, split = _read_titles(given) if measured else ((), "")
        answers: dict[str, object] = dict(given["answers"])  # type: ignore[call-overload]
        made = _read_made(given)
        return Body(price, answers, facts, meaning, shown, measured, titles, split, made)
    except (DiscreetError, ValueError, TypeError, KeyError, AttributeError):
        raise LedgerCorrupt(
            "a stored answer is in a form that this release does not know; use a newer one"
        ) from None


def _read_made(given: Json) -> Json | None:
    made = given.get("made")
    if made is not None and not isinstance(made, dict):
        raise TypeError
    return made


def _read_meaning(given: Json) -> int:
    meaning = given.get("meaning", _FIRST_MEANING)
    # type() and not isinstance: true is no number.
    if type(meaning) is not int:
        raise TypeError
    return meaning


def _read_titles(given: Json) -> tuple[tuple[str, ...], str]:
    """Read the names of the keys of a measured table, and which of them says if a condition holds."""
    measured = given.get("measured", {})
    # Later releases may write more facts of a measured table; these are left alone.
    if not isinstance(measured, dict):
        measured = {}
    keys = measured.get("keys", [])
    if not isinstance(keys, list):
        raise TypeError
    return tuple(map(str, keys)), str(measured.get("split", ""))


def _facts(given: Json) -> BodyFacts:
    """Read the facts about the questions of a stored answer."""
    asked = given["asked"]
    tables = given["tables"]
    terms = given["terms"]
    if not isinstance(asked, dict) or not isinstance(tables, dict) or not isinstance(terms, dict):
        raise TypeError
    said = {}
    for name, one in asked.items():
        said[name] = _read_said(read_object(one, _SAID, "a question"))
    versions = {str(name): str(version) for name, version in tables.items()}
    return BodyFacts(terms, str(given["neighbours"]), versions, said)


def _read_said(one: Json) -> Said:
    shares = one["shares"]
    if not isinstance(shares, list):
        raise TypeError
    share_texts = tuple(map(str, shares))
    return Said(str(one["text"]), str(one["fingerprint"]), str(one["plan"]), share_texts)
