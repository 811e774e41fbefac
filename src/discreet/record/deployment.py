"""Deployment that a record describes, and the form of a sentence with its evidence.

A deployment is the public proof of a ledger, the schemas, the steward's words (`words`) and the
tables that are shown.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from ..data.schema import Schema
from ..data.unit import People
from ..frozen import field, frozen
from ..privacy.measures import ApproxDP, Measure, PureDP
from .proof import Charge, PublicProof
from .tables import RecordTable
from .words import Words

DELTAS = (Fraction(1, 10**6), Fraction(1, 10**9))
"""The δ at which every promise is restated as (ε, δ)."""
OPENED = "proof.lines: line 1"
"""Evidence for a fact that holds since the opening of the ledger."""
ENDED = "proof.lines: last line"
"""Evidence for a fact about all entries of the ledger."""


@frozen
class Sentence:
    """One sentence with its evidence: files, lines, schemas or keys of the steward's words.

    `open` says that the sentence states that something is not known.
    """

    text: str
    rests_on: tuple[str, ...]
    open: bool = False


@frozen
class Deployment:
    """All that a record is made from: proof, schemas, the steward's words and shown tables."""

    proof: PublicProof
    schemas: tuple[Schema, ...]
    words: Words = field(hash=False)
    tables: tuple[RecordTable, ...]

    @property
    def promise(self) -> Measure:
        """The promise of the ledger; (ε, 0) is given as pure ε."""
        promise = self.proof.terms.budget
        if isinstance(promise, ApproxDP) and not promise.delta:
            return PureDP(promise.epsilon)
        return promise

    @property
    def private(self) -> list[Schema]:
        """The schemas of private tables."""
        return [schema for schema in self.schemas if not schema.public]

    @property
    def neighbours(self) -> str:
        """The neighbour relations of the private tables; the tables of one curator share one."""
        relations = {schema.neighbours for schema in self.private}
        return ", ".join(sorted(relations))

    @property
    def period(self) -> str:
        """Text behind a promise if the budget begins anew, such as " in one month"; else ""."""
        window = self.proof.terms.window
        if window is None:
            return ""
        # A windowed budget promises nothing about several windows together.
        return f" in one {window}"

    def charges(self, product: str) -> list[Charge]:
        """Return the charges that paid for one kind of product, such as "tables" or "model"."""
        return [charge for charge in self.proof.charges if charge.product == product]


def line_names(charges: Iterable[Charge]) -> tuple[str, ...]:
    """Name the lines of charges as evidence: up to three one by one, else their number."""
    numbers = [charge.line for charge in charges]
    # A long list of lines would hide the sentence that it supports.
    if len(numbers) <= 3:
        return tuple(map("proof.lines: line {}".format, numbers))
    return (f"proof.lines: {len(numbers)} lines from {numbers[0]} to {numbers[-1]}",)


def schema_names(deployment: Deployment) -> tuple[str, ...]:
    """Return the schemas as evidence."""
    return tuple(f"schema: {schema.name}" for schema in deployment.schemas)


def is_many(deployment: Deployment) -> bool:
    """Return whether the ledger has more than one charge, or new data come in over time."""
    return len(deployment.proof.charges) > 1 or is_dynamic(deployment)


def is_dynamic(deployment: Deployment) -> bool:
    """Return whether new data come in over time.

    That is so for a budget with windows or blocks, several versions of a table, and streams.
    """
    terms = deployment.proof.terms
    versions: Any = deployment.proof.end["versions"]
    return bool(terms.window or terms.blocks or versions > 1 or deployment.charges("stream"))


def is_interactive(deployment: Deployment) -> bool:
    """Return whether more than one person asked, or people have allowances."""
    access: Any = deployment.proof.end["access"]
    return bool(access["allowances"] or not access["one"])


def unit_names(deployment: Deployment) -> list[str]:
    """Return the units of all private tables, such as "Person-month-level", each once."""
    names = []
    for schema in deployment.private:
        unit = schema.unit
        name = "Record"
        parts: list[str] = []
        if isinstance(unit, People):
            name = "Person"
            # An id that names no kind of person stands for people.
            if unit.who != unit.id:
                name = unit.who.capitalize()
            if unit.window is not None:
                parts = [unit.window[1]]
        names.append("-".join([deployment.words.get("unit", name), *parts, "level"]))
    return list(dict.fromkeys(names))
