"""Statements beside the registry's fields: people's pages, checklist and label, each with evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..arithmetic.rounding import shown
from ..data.unit import People
from ..frozen import frozen
from ..privacy.compose import compose
from ..privacy.events import Promise
from ..privacy.measures import REPLACE, ApproxDP, PureDP, decimal_text
from .deployment import DELTAS, ENDED, OPENED, Deployment, Sentence, unit_names
from .derive import Derived
from .noise_text import exactness, noise_sentences, noises, timing
from .odds import odds_of
from .promise import looked_at, restated
from .sentences import (
    CHECKLIST,
    MAX_DELTA,
    MAX_EPSILON,
    MIN_DELTA,
    NOT_ANSWERED,
    OUTSIDE,
    USUAL,
    ChecklistPoint,
    sentences_in,
)

_MODEL = ("docs: explanation/meaning.md",)
_SHORT_PERIODS = ("hour", "day", "week")
"""Windows shorter than the month that experts call the least usual unit."""


@frozen
class LabelRow:
    """Row of the label: its name and its value as a sentence.

    `mark` says whether experts call the value usual; it is "" for values that are not judged.
    """

    name: str
    said: Sentence
    mark: str = ""

    def text(self) -> str:
        """Return the value with its mark."""
        if not self.mark:
            return self.said.text
        return f"{self.said.text} ({self.mark})"


@frozen
class Answered:
    """Point of the checklist with its answers; open if there are none, or one says "not known"."""

    point: ChecklistPoint
    said: tuple[Sentence, ...]

    @property
    def is_open(self) -> bool:
        """Whether something is not answered."""
        return not self.said or any(sentence.open for sentence in self.said)


def people_page(deployment: Deployment, language: str) -> list[tuple[str, list[Sentence]]]:
    """Return the page for data subjects: headings with their sentences."""
    sentences = sentences_in(language)

    def say(name: str, *rests_on: str, **values: object) -> Sentence:
        text = sentences[name].format(**values)
        return Sentence(text, rests_on or ("docs: explanation/privacy.md",))

    promised = [say("noise", "docs: explanation/architecture.md"), *_odds(deployment, say)]
    promised += _units(deployment, say)
    # The same four that `dp.meaning` names.
    missing = list(map(say, ("learned", "group", "right", "copies")))
    words = deployment.words
    asked = []
    if "data_curators" in words:
        curators = ", ".join(words["data_curators"])
        asked.append(say("curators", "words.toml: data_curators", curators=curators))
    # Nobody is named whom the words do not name.
    if "contact" in words:
        asked.append(say("contact", "words.toml: contact", contact=words["contact"]))
    else:
        asked.append(say("unstated", "words.toml: no contact"))
    return [
        (sentences["promised"], promised),
        (sentences["not_promised"], missing),
        (sentences["ask"], asked),
    ]


def _odds(deployment: Deployment, say: Any) -> list[Sentence]:  # noqa: ANN401 a function
    """Return the sentences on an attacker's odds, or one that the promise hides nothing."""
    odds = odds_of(deployment.promise)
    # Of a hundred guesses none need be wrong then, and numbers would only flatter.
    if not odds.hides:
        return [say("no_hiding", OPENED)]
    # Presence is public under replace: what is hidden there are the values.
    replaces = window = ""
    if deployment.neighbours == REPLACE:
        replaces = "_replace"
    if deployment.proof.terms.window:
        window = "_window"
    return [
        say(f"guess{replaces}{window}", OPENED),
        say("equally", OPENED),
        say(f"outside{replaces}", OPENED, outside=odds.outside),
        say(f"inside{replaces}", OPENED, inside=odds.inside),
    ]


def _units(deployment: Deployment, say: Any) -> list[Sentence]:  # noqa: ANN401 a function
    """Return the sentences on who is protected, each once."""
    told = []
    # The steward's word says what a row or an id stands for.
    if "unit" in deployment.words:
        told.append(say("unit_word", "words.toml: unit", unit=deployment.words["unit"]))
    for schema in deployment.private:
        source = f"schema: {schema.name}"
        if isinstance(schema.unit, People):
            if schema.unit.window is not None:
                told.append(say("unit_window", source, period=schema.unit.window[1]))
        elif "unit" not in deployment.words:
            told.append(say("unit_row", source))
    if deployment.proof.terms.blocks is not None:
        told.append(say("life", OPENED))
    return list(dict.fromkeys(told))


def checklist(deployment: Deployment, fields: Mapping[str, Derived]) -> list[Answered]:
    """Return all points of the checklist with the sentences that answer them."""
    stated: Mapping[str, str] = deployment.words.get("checklist", {})
    extra = _extra(deployment)
    answered = []
    for point in CHECKLIST:
        said: list[Sentence] = []
        for name in point.fields:
            # Some answers are no field of the registry; without charges they may be empty.
            if name in extra:
                said += extra[name]
            else:
                said += fields[name].sentences
        text = stated.get(str(point.number))
        source = f"words.toml: checklist.{point.number}"
        if text is not None:
            said.append(Sentence(text, (source,)))
        elif point.asks:
            said.append(Sentence(NOT_ANSWERED, (f"{source} is missing",), open=True))
        answered.append(Answered(point, tuple(said)))
    return answered


def _extra(deployment: Deployment) -> dict[str, Sequence[Sentence]]:
    """Return the sentences that answer points of the checklist but belong to no field, by name."""
    promise = deployment.promise
    kept = deployment.proof.terms.filter.terms.delta
    delta = "The promise has no δ."
    if isinstance(promise, ApproxDP):
        delta = f"δ = {shown(promise.delta)}, of which {shown(kept)} is kept for unknown keys."
    elif not isinstance(promise, PureDP):
        delta = "The promise has a whole curve, restated at two δ."
    caps = []
    for schema in deployment.private:
        text = f"In {schema.name}: {schema.unit}; caps are enforced, not believed."
        caps.append(Sentence(text, (f"schema: {schema.name}", *_MODEL)))
    counted: dict[str, int] = {}
    for charge in deployment.proof.charges:
        counted[charge.product] = counted.get(charge.product, 0) + 1
    products = [
        Sentence(f"Charges that paid for {product}: {count}.", (ENDED,))
        for product, count in sorted(counted.items())
    ]
    return {
        "group": [
            Sentence(
                "A group of k units has a weaker promise: under pure ε it is k times ε.",
                ("docs: explanation/privacy.md",),
            )
        ],
        "restated": restated(promise),
        "delta": [Sentence(delta, (OPENED,))],
        "caps": caps,
        "clipping": [Sentence("Values beyond declared bounds are clipped.", _MODEL)],
        "exact": exactness(),
        "noise": noise_sentences(deployment),
        "timing": timing(deployment),
        "errors": error_sentences(deployment),
        "products": products or [Sentence("The ledger has no charges.", (ENDED,))],
        "service": _service(deployment),
    }


def _service(deployment: Deployment) -> list[Sentence]:
    if deployment.proof.end["service"] is not None:
        return [Sentence("Access is by the service, which keeps an audit log.", (ENDED,))]
    text = "Whether a service controls access is not stated: no service file was given."
    return [Sentence(text, ("proof.lines: no service",), open=True)]


def error_sentences(deployment: Deployment) -> list[Sentence]:
    """Return the typical errors of the shown tables."""
    told = []
    for table in deployment.tables:
        if table.errors:
            text = f"Typical error at 95 %, in {table.name}: {', '.join(table.errors)}."
            told.append(Sentence(text, (f"data/{table.name}.csv",)))
    return told or [Sentence("No table with an interval is shown.", ("data/",))]


def label(deployment: Deployment, fields: Mapping[str, Derived]) -> list[LabelRow]:
    """Return the rows of the label: differential privacy facts."""
    promise = deployment.promise
    terms = deployment.proof.terms
    # An (ε, δ) promise is read at its own δ, every other one at a small one.
    delta = DELTAS[0]
    if isinstance(promise, ApproxDP):
        delta = promise.delta
    epsilon = compose(Promise(promise)).epsilon(delta)
    mark = OUTSIDE
    if epsilon <= MAX_EPSILON and MIN_DELTA <= delta <= MAX_DELTA:
        mark = USUAL
    stated = Sentence(f"{decimal_text(promise)}{deployment.period}", (OPENED,))
    equal = Sentence(f"ε = {shown(epsilon, 6)} at δ = {shown(delta)}", (OPENED,))
    rows = [LabelRow("Promise", stated, mark), LabelRow("Equal (ε, δ)", equal, mark)]
    if deployment.proof.spent is not None:
        spent = Sentence(str(deployment.proof.spent), (ENDED,))
        left = Sentence(str(deployment.proof.left), (ENDED,))
        rows += [LabelRow("Spent", spent), LabelRow("Left", left)]
    units = "; ".join(unit_names(deployment))
    unit = Sentence(units, fields["privacy_unit"].sentences[0].rests_on)
    kinds: list[str] = []
    # Kinds alone: their scales are in the registry's entry.
    for text in sorted(noises(deployment.proof.charges)):
        kind = text.partition(" of ")[0]
        if kind not in kinds:
            kinds.append(kind)
    renewal = "never renewed"
    if terms.window:
        renewal = f"renewed each {terms.window}"
    text = f"{len(deployment.proof.charges)} charges, {renewal}"
    curators = deployment.words.get("data_curators")
    vouched = ", ".join(fields["data_curators"].value)
    return [
        *rows,
        LabelRow("Unit", unit, _unit_mark(deployment)),
        LabelRow("Neighbours", Sentence(deployment.neighbours, ("schema",))),
        LabelRow("Trust", Sentence("central: the curator sees the rows", _MODEL)),
        LabelRow("Mechanisms", Sentence(", ".join(kinds) or "none used yet", (ENDED,))),
        LabelRow("Releases", Sentence(text, (OPENED, ENDED))),
        LabelRow("Typical error", error_sentences(deployment)[0]),
        LabelRow("Not protected", looked_at(deployment)[0]),
        LabelRow(
            "Vouched for by",
            Sentence(vouched, ("words.toml: data_curators",), open=not curators),
        ),
    ]


def _unit_mark(deployment: Deployment) -> str:
    """Return the mark of the unit: unusual if it is smaller than a person in a month."""
    for schema in deployment.private:
        unit = schema.unit
        if not isinstance(unit, People):
            if deployment.words.get("unit", "").lower() != "person":
                return OUTSIDE
        elif unit.window is not None and unit.window[1] in _SHORT_PERIODS:
            return OUTSIDE
    return USUAL
