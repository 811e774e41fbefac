"""Fields about the promise: variant, parameters, unit, data domain, what is not protected, composition."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from ..arithmetic.rounding import shown
from ..data.display import column_rows, heading
from ..data.schema import Schema
from ..data.unit import People
from ..privacy.compose import compose
from ..privacy.events import Promise
from ..privacy.measures import (
    ADD_REMOVE,
    ZCDP,
    ApproxDP,
    GaussianDP,
    Measure,
    PureDP,
    RenyiDP,
    decimal_text,
)
from .deployment import DELTAS, ENDED, OPENED, Deployment, Sentence, schema_names, unit_names
from .fields import NOT_STATED
from .tables import truncated_share

_VARIANTS: Mapping[type, str] = {
    PureDP: "Pure DP",
    ApproxDP: "Approximate DP",
    ZCDP: "Zero-concentrated DP",
    RenyiDP: "Renyi DP",
    GaussianDP: "Custom",
}
_KINDS = {
    "pure": "The ε of all charges are added (basic composition).",
    "approximate": "The ε and the δ of all charges are added (basic composition).",
    "advanced": "Sums of ε² are bounded, by advanced composition with fixed terms.",
    "zcdp": "The ρ of all charges are added (zero-concentrated DP).",
    "renyi": "Rényi divergences at fixed orders are added.",
    "gdp": "The squares μ² of all charges are added (Gaussian DP).",
    "residue": "Each charge takes the least provable part of the μ² that remains.",
}
_NEIGHBOURS = {
    ADD_REMOVE: "Neighbouring data differ by adding or removing all rows of one unit.",
    "replace": "Neighbouring data differ by replacing all rows of one unit by others.",
}


def variant(deployment: Deployment) -> tuple[Any, ...]:
    """Return the registry's name of the variant of differential privacy, with its sentence."""
    promise = deployment.promise
    text = f"The budget is {decimal_text(promise)}."
    return _VARIANTS[type(promise)], Sentence(text, (OPENED,))


def parameters(deployment: Deployment) -> tuple[Any, ...]:
    """Return ε, ε and δ, or ρ of the promise, rounded up, with a sentence.

    Gaussian and Rényi promises are restated as (ε, δ) at δ = 10^-6.
    """
    promise = deployment.promise
    text = f"The promise is {decimal_text(promise)}{deployment.period}."
    sentence = Sentence(text, (OPENED,))
    match promise:
        case PureDP(epsilon=epsilon):
            return {"epsilon": up(epsilon)}, sentence
        case ApproxDP(epsilon=epsilon, delta=delta):
            return {"epsilon": up(epsilon), "delta": up(delta)}, sentence
        case ZCDP(rho=rho):
            return {"rho": up(rho)}, sentence
    # The registry has no parameter for these: they are restated.
    amount = compose(Promise(promise)).epsilon(DELTAS[0])
    return {"epsilon": up(amount), "delta": up(DELTAS[0])}, sentence


def up(amount: Fraction | float) -> float:
    """Return an amount as a float of at most 12 digits, rounded up."""
    text = shown(amount, 12)
    return float(text)


def parameter_details(deployment: Deployment) -> list[Sentence]:
    """Return the promise, what is spent and left, and the same as (ε, δ)."""
    promise = deployment.promise
    terms = deployment.proof.terms
    told = [Sentence(f"Promised is {decimal_text(promise)}{deployment.period}.", (OPENED,))]
    if isinstance(promise, GaussianDP):
        told.append(
            Sentence(
                "The relation: no test tells neighbours apart better than N(0, 1) from N(μ, 1).",
                ("docs: explanation/privacy.md",),
            )
        )
    if deployment.proof.spent is None:
        text = f"The budget begins anew each {terms.window}; charges of other windows do not add."
        told.append(Sentence(text, (OPENED,)))
    else:
        told.append(Sentence(f"Spent is {deployment.proof.spent}.", (ENDED,)))
        told.append(Sentence(f"Left is {deployment.proof.left}.", (ENDED,)))
    kept = terms.filter.terms.delta
    if kept:
        told.append(Sentence(f"For unknown keys δ = {shown(kept)} is kept.", (OPENED,)))
    if not isinstance(promise, PureDP | ApproxDP):
        told += restated(promise)
    return told


def restated(promise: Measure) -> list[Sentence]:
    """Restate a promise as (ε, δ) at two δ, with certified upper and lower bounds of ε."""
    curve = compose(Promise(promise))
    told = []
    for delta in DELTAS:
        upper = shown(curve.epsilon(delta), 6)
        lower = shown(curve.lower.epsilon(delta), 6, upward=False)
        text = f"At δ = {shown(delta)} it is ε = {upper} or less; no accountant gets below {lower}."
        told.append(Sentence(text, (OPENED, "docs: explanation/privacy.md")))
    return told


def privacy_unit(deployment: Deployment) -> tuple[Any, ...]:
    """Return the unit of privacy in a few words."""
    text = "; ".join(unit_names(deployment))
    rests_on = schema_names(deployment)
    if "unit" in deployment.words:
        rests_on = ("words.toml: unit", *rests_on)
    return text, Sentence(text, rests_on)


def unit_details(deployment: Deployment) -> list[Sentence]:
    """Return what neighbours are, table by table."""
    told = []
    for schema in deployment.private:
        source = (f"schema: {schema.name}",)
        told.append(Sentence(f"In {schema.name} the protected unit is {schema.unit}.", source))
        told.append(Sentence(_NEIGHBOURS[schema.neighbours], source))
        if isinstance(schema.unit, People):
            text = f"What one unit has in {schema.name} beyond its caps counts in no number."
            told.append(Sentence(text, (*source, "docs: explanation/meaning.md")))
            told += _cut_off(deployment, schema)
            if schema.unit.window is not None:
                text = "Somebody present in k windows is protected as a group of k."
                told.append(Sentence(text, source))
    blocks = deployment.proof.terms.blocks
    if blocks is not None:
        told.append(Sentence(f"The promise is to a person for life: {blocks}.", (OPENED,)))
    told.append(
        Sentence(
            "The distance of neighbours is at most one unit.", ("docs: explanation/privacy.md",)
        )
    )
    return told


def _cut_off(deployment: Deployment, schema: Schema) -> list[Sentence]:
    """Return the share of rows that the caps of a table cut off, as shown estimates say."""
    told = []
    for table in deployment.tables:
        found = truncated_share(table, schema)
        # Intervals are empty where the noise hides whether there are any rows.
        if found is None or not found["share_low"] or not found["share_high"]:
            continue
        # Noise moves the ends past the shares that are possible.
        low = shown(max(0.0, float(found["share_low"])), 3, upward=False)
        high = shown(min(1.0, float(found["share_high"])), 3)
        text = f"Of the rows of {schema.name} the caps cut off a share of {low} to {high}, at 95 %."
        told.append(Sentence(text, (f"data/{table.name}.csv", f"schema: {schema.name}")))
    return told


def data_domain(deployment: Deployment) -> list[Sentence]:
    """Return sentences on the declared tables and columns: type, possible values, and NULL."""
    told = []
    for schema in deployment.schemas:
        source = (f"schema: {schema.name}",)
        told.append(Sentence(f"{heading(schema)}.", source))
        for name, kind, values, null in column_rows(schema):
            text = f"{schema.name}.{name}: {kind}, {values}, {null}."
            told.append(Sentence(text, (f"schema: {schema.name}.{name}",)))
    return told


def unprotected(deployment: Deployment) -> list[Sentence]:
    """Return sentences on what the promise does not protect: public facts, and that one asked."""
    sources = schema_names(deployment)
    told = [
        Sentence("Bounds, categories, caps and versions of the schema are public.", sources),
        Sentence(
            "That a question was asked, what it cost and when are outside the promise.",
            ("docs: explanation/curator.md",),
        ),
        Sentence(
            "No number from a private table is released without noise.",
            ("docs: explanation/architecture.md",),
        ),
    ]
    for schema in deployment.schemas:
        source = (f"schema: {schema.name}",)
        if schema.public:
            told.append(Sentence(f"The table {schema.name} is public.", source))
        if schema.size is not None:
            text = f"The number of units in {schema.name}, {schema.size}, is declared as public."
            told.append(Sentence(text, source))
        for path in schema.looked_at:
            text = f"Declared for {schema.name} after looking at the data: {path}."
            told.append(Sentence(text, source))
    return told + looked_at(deployment)


def looked_at(deployment: Deployment) -> list[Sentence]:
    """Return what was chosen by looking at data outside the ledger, as the steward states it."""
    chosen = deployment.words.get("looked_at_data")
    if chosen is None:
        text = f"Bounds or parameters chosen by looking at data outside the ledger: {NOT_STATED}."
        return [Sentence(text, ("words.toml: no looked_at_data",), open=True)]
    source = ("words.toml: looked_at_data",)
    if not chosen:
        text = "The steward states that nothing was chosen by looking at data outside the ledger."
        return [Sentence(text, source)]
    return [Sentence(f"Chosen by looking at data, without noise: {one}.", source) for one in chosen]


def composition(deployment: Deployment) -> list[Sentence]:
    """Return sentences on how charges add up under the ledger's filter."""
    terms = deployment.proof.terms
    docs = ("docs: explanation/filters.md",)
    told = [
        Sentence(_KINDS[terms.kind], (OPENED, *docs)),
        Sentence(
            "A privacy filter decides before each answer, so questions may follow from answers.",
            docs,
        ),
        Sentence("Amounts are exact fractions, and prices are rounded up.", docs),
    ]
    if terms.parts is not None:
        text = f"Parts of {terms.parts.table} by {terms.parts.column} are charged in parallel."
        told.append(Sentence(text, (OPENED,)))
    if terms.blocks is not None:
        told.append(Sentence(f"Blocks of time are charged apart: {terms.blocks}.", (OPENED,)))
    return told
