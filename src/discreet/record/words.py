"""Words of the steward: statements about a deployment that its ledger does not hold.

They come from a TOML file such as `words.toml`, or a mapping:

    data_curators = ["City of Example"]
    intended_use = "Planning of buses."
    unit = "Person"                      # what a row or an id stands for
    looked_at_data = []                  # bounds, caps, … chosen by looking at unprotected data
    checklist = { 14 = "Data are deleted after two years." }

Refuses: unknown keys and values of another type, by their key; nothing is filled in for a missing
one.
Law: tests/record/test_words.py
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias
from unicodedata import category

from ..errors import InvalidArgument
from ..json_shape import check_known
from .fields import FIELDS, STATED

Words: TypeAlias = Mapping[str, Any]
"""Words by key; a missing key was not stated."""

_LISTS = ("data_curators", "registry_authors", "looked_at_data")
KEYS: tuple[str, ...] = (
    *(one.name for one in FIELDS if one.source in STATED),
    "unit",
    "looked_at_data",
    "contact",
    "url",
    "doi",
    "version",
    "checklist",
)
"""Keys of the steward's words: fields of the registry, then what the other files ask for."""
POINTS = tuple(str(number) for number in range(1, 15))
"""Points of the checklist that words may answer."""


def read_words(words: str | os.PathLike[str] | Mapping[str, object]) -> Words:
    """Read the steward's words from a TOML file or a mapping.

    >>> from discreet.record.words import read_words
    >>> read_words({"intended_use": "Planning."})
    {'intended_use': 'Planning.'}
    """
    given: Mapping[str, Any]
    if isinstance(words, Mapping):
        given = words
    else:
        given = _read_file(words)
    # A misspelt key would be taken for a missing answer.
    check_known(given, KEYS, "words")
    read: dict[str, Any] = {}
    for name, value in given.items():
        if name == "checklist":
            read[name] = _read_checklist(value)
        elif name in _LISTS:
            read[name] = _read_list(name, value)
        else:
            read[name] = _read_text(name, value)
    return read


def entry_numbers(text: str) -> list[int]:
    """Read numbers of entries to show, between commas or spaces.

    >>> from discreet.record.words import entry_numbers
    >>> entry_numbers("12, 15")
    [12, 15]
    """
    numbers = text.replace(",", " ").split()
    if not all(number.isdecimal() for number in numbers):
        raise InvalidArgument(f"the entries to show are numbers, as 12,15; got {text[:40]!r}")
    return list(map(int, numbers))


def _read_file(path: str | os.PathLike[str]) -> Mapping[str, Any]:
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        raise InvalidArgument(f"{path} cannot be read; give a TOML file in UTF-8") from None
    except tomllib.TOMLDecodeError as problem:
        raise InvalidArgument(f"{path} is no TOML: {problem}") from None


def _read_text(name: str, value: object) -> str:
    """Read one text of the steward: not empty, without control characters, of allowed values."""
    if not isinstance(value, str) or not value.strip():
        raise InvalidArgument(
            f"words: {name} is text, got {value!r}; leave it out if it is not known"
        )
    # Line ends of other systems, and spaces before them, carry no meaning.
    text = "\n".join(map(str.rstrip, value.strip().splitlines()))
    # A line end is the only control character that pages and YAML can hold.
    for letter in text.replace("\n", ""):
        if not _is_written(letter):
            raise InvalidArgument(
                f"words: {name} holds a control character, U+{ord(letter):04X}; leave it out"
            )
    # Some fields take one of a few names of the registry.
    allowed = next((one.allowed for one in FIELDS if one.name == name), ())
    if allowed and text not in allowed:
        raise InvalidArgument(f"words: {name} is one of {', '.join(allowed)}; got {text!r}")
    return text


def _is_written(letter: str) -> bool:
    """Return whether a character is part of a script; not what reorders or hides text."""
    # Spaces that do not break, and the two joiners without which Persian or Hindi is misspelt.
    return letter.isprintable() or category(letter) == "Zs" or letter in "\u200c\u200d"


def _read_list(name: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or (not value and name != "looked_at_data"):
        raise InvalidArgument(f'words: {name} is a list of texts, such as ["…"]; got {value!r}')
    return tuple(_read_text(name, one) for one in value)


def _read_checklist(value: object) -> dict[str, str]:
    if not isinstance(value, Mapping) or set(map(str, value)) - set(POINTS):
        raise InvalidArgument('words: checklist has numbers from 1 to 14, as { 14 = "…" }')
    answers = {}
    for number, text in value.items():
        answers[str(number)] = _read_text("checklist", text)
    return answers
