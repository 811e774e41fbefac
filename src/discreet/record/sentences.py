"""Fixed texts of a record: the page for data subjects in every language, the checklist's points,
and the limits behind the label's marks.

To add a language, add a file in `languages/`; every sentence has at most 20 words.

Law: tests/record/test_sentences.py
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources

from ..frozen import frozen

LANGUAGES: Mapping[str, str] = {"en": "people.md", "de": "people.de.md"}
"""Languages with the name of their page; the sentences are in `languages/`, a file each."""


@cache
def sentences_in(language: str) -> Mapping[str, str]:
    """Return the sentences of the page for data subjects, by name; `{…}` are filled in."""
    file = resources.files(__package__).joinpath("languages", f"{language}.toml")
    return tomllib.loads(file.read_text(encoding="utf-8"))


@frozen
class ChecklistPoint:
    """Point of the checklist: its number, its title, and what answers it.

    `fields` names fields of the registry or groups of sentences (`statements`). `asks` says that
    the steward must add words, else the point stays open.
    """

    number: int
    title: str
    fields: tuple[str, ...]
    asks: bool = False


CHECKLIST: tuple[ChecklistPoint, ...] = (
    ChecklistPoint(1, "Size of ε, and privacy of groups", ("privacy_parameters_details", "group")),
    ChecklistPoint(
        2, "Variant of differential privacy, and its conversion", ("variant_name", "restated")
    ),
    ChecklistPoint(3, "δ", ("delta",)),
    ChecklistPoint(4, "Unit of privacy", ("privacy_unit", "privacy_unit_details")),
    ChecklistPoint(5, "Many rows of one person", ("caps",)),
    ChecklistPoint(6, "Composition over all releases", ("composition",)),
    ChecklistPoint(7, "Sensitivity and clipping", ("noise", "clipping")),
    ChecklistPoint(
        8, "Keys, bounds and parameters taken from data", ("unprotected_quantities",), asks=True
    ),
    ChecklistPoint(9, "Floating point and randomness", ("exact",)),
    ChecklistPoint(10, "Time and other side channels", ("timing",), asks=True),
    ChecklistPoint(11, "Accuracy, bias and small groups", ("errors", "post_processing"), asks=True),
    ChecklistPoint(12, "Models and synthetic data", ("products",), asks=True),
    ChecklistPoint(
        13, "Trust, access and audit", ("model_name_details", "access_type_details", "service")
    ),
    ChecklistPoint(14, "Collection, security, retention and deletion", (), asks=True),
)
"""Points after NIST SP 800-226, in our wording."""

NOT_ANSWERED = "not answered"
USUAL, OUTSIDE = "usual", "outside the experts' range"
"""Marks of a label's numbers."""
MAX_EPSILON = 20
MIN_DELTA, MAX_DELTA = 1e-8, 1e-5
"""Range of ε and δ that experts call usual (Dibia et al. 2025)."""
