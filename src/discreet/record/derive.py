"""Derivation of the registry entry (`fields`): sentences with one fact each, and its evidence.

A field comes from the ledger and the schemas, from the steward's words, or from a draft that the
words replace.

Guarantee: every sentence names its evidence. A fact that is not known is called "not stated" or
"not recorded"; it is never said that there is none.
Law: tests/record/test_record.py::test_every_sentence_has_evidence
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any

from ..data.unit import People
from ..frozen import field, frozen
from .deployment import (
    ENDED,
    OPENED,
    Deployment,
    Sentence,
    is_dynamic,
    is_interactive,
    is_many,
    line_names,
    schema_names,
    unit_names,
)
from .fields import FIELDS, NOT_STATED, STATED, RegistryField
from .noise_text import mechanisms
from .promise import (
    composition,
    data_domain,
    parameter_details,
    parameters,
    privacy_unit,
    unit_details,
    unprotected,
    variant,
)

_PRODUCTS = {
    "records": "Synthetic data",
    "model": "Machine learning model",
    "tables": "Summary statistics",
}


@frozen
class Derived:
    """Value of a field of the registry with its sentences; the value of an empty field is None."""

    about: RegistryField
    value: Any = field(hash=False)
    sentences: tuple[Sentence, ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether one of its sentences states that something is not known."""
        return any(sentence.open for sentence in self.sentences)


def derive(deployment: Deployment) -> dict[str, Derived]:
    """Return all fields of the registry by name, in its order."""
    fields = {}
    for one in FIELDS:
        fields[one.name] = _derived(deployment, one)
    return fields


def tier_of(fields: Mapping[str, Derived]) -> int:
    """Return the highest tier, from 1 to 3, up to which all fields are filled; at least 1.

    A field that only the steward could fill, and did not, counts as missing.
    """
    missing = [
        derived.about.tier
        for derived in fields.values()
        if derived.about.tier and (derived.value is None or _is_unstated(derived))
    ]
    return max(1, min(missing, default=4) - 1)


def _is_unstated(derived: Derived) -> bool:
    return derived.about.source == "words" and derived.is_open


def _derived(deployment: Deployment, one: RegistryField) -> Derived:
    """Return one field: as the steward states it, or not stated, or derived from the ledger."""
    stated = deployment.words.get(one.name)
    if one.source in STATED and stated is not None:
        source = (f"words.toml: {one.name}",)
        # A list of the words is a list of the registry, with a sentence for each text.
        if one.type == "list":
            return Derived(one, list(stated), tuple(Sentence(text, source) for text in stated))
        return Derived(one, stated, (Sentence(stated, source),))
    if one.source == "words":
        unstated = (Sentence(NOT_STATED, (f"words.toml: no {one.name}",), open=True),)
        if one.allowed:
            # An optional choice stays empty: the registry has no value for "not stated".
            return Derived(one, None, unstated)
        # Required texts say that they were not stated, so that the entry stays valid.
        value: object = NOT_STATED
        if one.type == "list":
            value = [NOT_STATED]
        return Derived(one, value, unstated)
    made = _MAKERS[one.name](deployment)
    # Names and numbers stand before their sentences; texts are made of them.
    if isinstance(made, tuple):
        return Derived(one, made[0], made[1:])
    return Derived(one, join(made), tuple(made))


def join(sentences: Sequence[Sentence]) -> str:
    """Write sentences as the registry's Markdown: one line, or a list."""
    if len(sentences) == 1:
        return sentences[0].text
    return "\n".join(f"- {sentence.text}" for sentence in sentences)


def _name(deployment: Deployment) -> list[Sentence]:
    # Tables are named in the schemas anyway; what they are for only the steward knows.
    names = ", ".join(map(attrgetter("name"), deployment.private))
    return [Sentence(f"Private answers about {names}", schema_names(deployment))]


def _product_type(deployment: Deployment) -> tuple[Any, ...]:
    if is_interactive(deployment):
        text = "Several people, or people with an allowance, ask the ledger."
        return "Interactive API", Sentence(text, (ENDED,))
    # The first of the table that was paid for names the product of a mixed ledger.
    for product, name in _PRODUCTS.items():
        charges = deployment.charges(product)
        if charges:
            text = f"Charges that paid for {product}: {len(charges)}."
            return name, Sentence(text, line_names(charges))
    return "Summary statistics", Sentence("No stored answer says otherwise.", (ENDED,))


def _date(deployment: Deployment) -> tuple[Any, ...]:
    day = deployment.proof.end["day"]
    text = f"The last entry that is named here, else the opening, is of {day}."
    return day, Sentence(text, (ENDED,))


def _model(deployment: Deployment) -> tuple[Any, ...]:
    del deployment
    return "Central", Sentence("A ledger charges a curator, who holds the rows.", (OPENED,))


def _model_details(deployment: Deployment) -> list[Sentence]:
    text = "The curator holds the rows, adds the noise and is trusted with both."
    told = [Sentence(text, ("docs: explanation/curator.md",))]
    stores = set(map(attrgetter("store"), deployment.proof.charges))
    # A ledger without charges has asked no store.
    if stores:
        text = f"Kinds of stores that were asked: {', '.join(sorted(stores))}."
        told.append(Sentence(text, line_names(deployment.proof.charges)))
    return told


def _actors(deployment: Deployment) -> list[Sentence]:
    """Say who holds the rows, who is protected, who reads the answers, and against whom."""
    curators = deployment.words.get("data_curators")
    # Said as missing rather than left out: somebody holds the rows in any case.
    who = ", ".join(curators or [NOT_STATED])
    units = "; ".join(unit_names(deployment))
    readers = "Analysts ask through the ledger, and see noisy answers only."
    if not is_interactive(deployment):
        readers = "Readers see what is published, and cannot ask."
    return [
        Sentence(f"Curator, trusted with the rows: {who}.", ("words.toml: data_curators",)),
        Sentence(f"Data subjects, protected at this level: {units}.", schema_names(deployment)),
        Sentence(readers, (ENDED,)),
        Sentence(
            "Adversary: anybody who sees everything released, and may know all other units.",
            ("docs: explanation/privacy.md",),
        ),
    ]


def _release_type(deployment: Deployment) -> tuple[Any, ...]:
    said = Sentence(f"Charges: {len(deployment.proof.charges)}.", (ENDED,))
    if is_many(deployment):
        return "Many releases", said
    return "One release", said


def _release_details(deployment: Deployment) -> list[Sentence]:
    """Return the sentences on the number of charges and streams, and on the budget's renewal."""
    terms = deployment.proof.terms
    charges = deployment.proof.charges
    told = [Sentence(f"The ledger has {len(charges)} charges.", line_names(charges) or (ENDED,))]
    # A ledger has a window or blocks, never both.
    if terms.window is not None:
        told.append(Sentence(f"The budget begins anew each {terms.window}, in UTC.", (OPENED,)))
    elif terms.blocks is not None:
        told.append(Sentence(f"Blocks of time share the budget: {terms.blocks}.", (OPENED,)))
    else:
        text = "The budget never begins anew: when it is spent, nothing more is answered."
        told.append(Sentence(text, (OPENED,)))
    streams = deployment.charges("stream")
    if streams:
        text = f"Standing reports, each paid for at its opening: {len(streams)}."
        told.append(Sentence(text, line_names(streams)))
    return told


def _source_type(deployment: Deployment) -> tuple[Any, ...]:
    versions = deployment.proof.end["versions"]
    text = f"The most versions of one table that were asked: {versions}."
    said = Sentence(text, (OPENED, ENDED))
    if is_dynamic(deployment):
        return "Dynamic", said
    return "Static", said


def _source_details(deployment: Deployment) -> list[Sentence]:
    told = list(_source_type(deployment)[1:])
    for schema in deployment.private:
        unit = schema.unit
        if isinstance(unit, People) and unit.window is not None:
            text = f"Data of {schema.name} come by the {unit.window[1]}: each is a unit of its own."
            told.append(Sentence(text, (f"schema: {schema.name}",)))
    return told


def _access_type(deployment: Deployment) -> tuple[Any, ...]:
    if is_interactive(deployment):
        text = "Allowances were given, or more than one name asked."
        return "Interactive", Sentence(text, (ENDED,))
    return "Non-interactive", Sentence("One name asked; no allowance was given.", (ENDED,))


def _access_details(deployment: Deployment) -> list[Sentence]:
    """Return the sentences on allowances, collusion, and who sees whose questions."""
    access: Any = deployment.proof.end["access"]
    allowances = "No allowance limits a single person."
    if access["allowances"]:
        allowances = "Allowances limit single people."
    told = [
        Sentence(allowances, (ENDED,)),
        Sentence(
            "The promise is the whole budget's, whoever talks to whom: collusion changes nothing.",
            ("docs: explanation/ledger.md",),
        ),
    ]
    service: Any = deployment.proof.end["service"]
    if service is not None:
        shares = "may not"
        if service["share_questions"]:
            shares = "may"
        told.append(Sentence(f"Analysts {shares} see each other's questions.", (ENDED,)))
    return told


def _post_processing(deployment: Deployment) -> list[Sentence]:
    """Say what was done to the shown tables after the noise."""
    told = []
    for table in deployment.tables:
        for step in table.steps:
            told.append(Sentence(f"In {table.name}, {step}.", (f"data/{table.name}.csv",)))
    # Views of hidden answers are their askers' own: the ledger keeps measured parts alone.
    hidden = [charge for charge in deployment.proof.charges if charge.entry is None]
    if hidden:
        text = "Post-processing of answers that are not shown here is not stated."
        told.append(Sentence(text, line_names(hidden)))
    if not told:
        told.append(Sentence("Nothing that is shown was post-processed.", (ENDED,)))
    told.append(
        Sentence("Post-processing does not weaken the promise.", ("docs: explanation/privacy.md",))
    )
    return told


def _preprocessing(deployment: Deployment) -> list[Sentence]:
    bounds = deployment.charges("bounds")
    text = f"Charges in this budget for suggested bounds or caps: {len(bounds)}."
    told = [Sentence(text, line_names(bounds) or (ENDED,))]
    text = f"Cleaning and exploration before the ledger was opened: {NOT_STATED}."
    told.append(Sentence(text, ("words.toml: no preprocessing_and_hyperparameter_tuning",)))
    return told


def _sources(deployment: Deployment) -> list[Sentence]:
    url = deployment.words.get("url")
    # No address is made up: without one the files themselves are the source.
    if url is not None:
        return [Sentence(url, ("words.toml: url",))]
    text = "The files of this record: index.html, data/, evidence.json and proof.lines."
    return [Sentence(text, ("manifest.json",))]


_MAKERS: Mapping[str, Any] = {
    "name": _name,
    "data_product_type": _product_type,
    "publication_date": _date,
    "variant_name": variant,
    "data_domain": data_domain,
    "unprotected_quantities": unprotected,
    "privacy_unit": privacy_unit,
    "privacy_unit_details": unit_details,
    "privacy_parameters": parameters,
    "privacy_parameters_details": parameter_details,
    "model_name": _model,
    "model_name_details": _model_details,
    "actors": _actors,
    "release_type": _release_type,
    "release_type_details": _release_details,
    "data_source_type": _source_type,
    "data_source_type_details": _source_details,
    "access_type": _access_type,
    "access_type_details": _access_details,
    "post_processing": _post_processing,
    "composition": composition,
    "preprocessing_and_hyperparameter_tuning": _preprocessing,
    "mechanisms": mechanisms,
    "sources": _sources,
}
"""Functions that derive or draft a field: its sentences, or its value before them."""
