"""Labels of tables, columns and values: words that people read instead of names and codes.

A label is shown on pages, in tables and in charts. It is no fact about the data: equality of
schemas, fingerprints of questions and keys of stored answers leave it out.

Law: tests/data/test_labels.py::TestLabelsChangeNothing
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from ...errors import InvalidArgument
from .keys import KeyValue

MAX_LENGTH = 100
Labels: TypeAlias = tuple[tuple[KeyValue, str], ...]


def check_label(label: object, of: str = "label") -> str | None:
    """Check a label: a short printable text, or None.

    >>> from discreet.data.columns.label import check_label
    >>> check_label("Years of school")
    'Years of school'

    Refuses: text that is empty, longer than 100 characters, not printable, or with blanks at its
    ends; InvalidArgument.
    """
    if label is None:
        return None
    is_text = isinstance(label, str) and label.isprintable() and label == label.strip()
    if not is_text or not 0 < len(str(label)) <= MAX_LENGTH:
        raise InvalidArgument(
            f"{of} must be a short text without blanks at its ends, such as 'Age in years', got {label!r}"
        )
    return str(label)


def check_labels(labels: object, keys: Sequence[KeyValue]) -> Labels | None:
    """Check the labels of values; return them in the order of the keys, None if there are none.

    Files name every value by a text, so `{"0": "woman"}` labels the key 0 too.

    >>> from discreet.data.columns.label import check_labels
    >>> check_labels({1: "man", "0": "woman"}, (0, 1)), check_labels({"true": "married"}, (False, True))
    (((0, 'woman'), (1, 'man')), ((True, 'married'),))

    Refuses: a value that is not declared, and two values that would look the same; InvalidArgument.
    """
    if labels is None:
        return None
    if not isinstance(labels, Mapping) or not labels:
        raise InvalidArgument(
            f"labels must name values, such as labels={{0: 'woman', 1: 'man'}}, got {labels!r}"
        )
    given = {
        key_text(key): check_label(label, f"the label of {key!r}") for key, label in labels.items()
    }
    known = {key_text(key): key for key in keys}
    for text in given:
        if text not in known:
            raise InvalidArgument(
                f"labels speaks of {text}, which is no value here; there are {', '.join(known)}"
            )
    shown = [given.get(text) or text for text in known]
    if len(set(shown)) < len(shown):
        raise InvalidArgument("two values would look the same; give each value a label of its own")
    return tuple((key, label) for text, key in known.items() if (label := given.get(text)))


def key_text(key: object) -> str:
    """Write a key as schema files and forms name it: true, 0, N."""
    return str(key).lower() if isinstance(key, bool) else str(key)
