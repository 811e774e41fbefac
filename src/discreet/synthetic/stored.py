"""JSON format of synthetic tables: the public cells of each column and the noisy integers.

Nothing in it is private. The format only grows, since ledgers hold it. Everything that is shown is
computed from it anew.
"""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

from ..errors import InvalidArgument
from .attribute import Attribute
from .measured import Measured, ungrouped, whole_numbers
from .synthetic import Synthetic

VERSION = 1


def measured_to_json(measured: Measured) -> dict[str, object]:
    """Return the released numbers as plain values."""
    blocks = []
    numbers = zip(measured.sets, measured.grids, measured.variances, measured.noisy, strict=True)
    for part, grid, variance, noisy in numbers:
        # The text of a float reads back to the same bits.
        block = {"of": list(part), "grid": grid, "variance": repr(variance)}
        blocks.append(block | {"noisy": noisy.tolist()})
    columns = []
    for attribute, groups in zip(measured.attributes, measured.groups, strict=True):
        column = _column_to_json(attribute)
        if int(groups.max()) + 1 < attribute.size:
            # The group of each cell; tables of earlier releases have none.
            column["groups"] = groups.tolist()
        columns.append(column)
    return {"synthetic": VERSION, "columns": columns, "blocks": blocks}


def measured_from_json(data: Any) -> Measured:  # noqa: ANN401 any value of JSON
    """Read the value that `measured_to_json` wrote.

    Refuses: other values, by `InvalidArgument`.
    Law: tests/synthetic/test_tables.py::TestJson
    """
    try:
        # Version 1 is the only one; another raises KeyError.
        blocks = {VERSION: data["blocks"]}[data["synthetic"]]
        attributes = tuple(_column_from_json(column) for column in data["columns"])
        columns = zip(data["columns"], ungrouped(attributes), strict=True)
        return Measured(
            attributes,
            tuple(tuple(block["of"]) for block in blocks),
            tuple(int(block["grid"]) for block in blocks),
            tuple(float(block["variance"]) for block in blocks),
            tuple(whole_numbers(block["noisy"]) for block in blocks),
            tuple(whole_numbers(column.get("groups", own)) for column, own in columns),
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InvalidArgument(
            "this is no synthetic table of discreet, or one of a newer release"
        ) from None


def _column_to_json(attribute: Attribute) -> dict[str, object]:
    """Return an attribute (a column and its cells) as plain values."""
    return {
        "name": attribute.name,
        "values": None if attribute.values is None else list(attribute.values),
        "edges": None if attribute.edges is None else list(attribute.edges),
        "step": str(attribute.step),
        "time": attribute.time,
        "null": attribute.null,
    }


def _column_from_json(data: dict[str, Any]) -> Attribute:
    """Read an attribute written by `_column_to_json`."""
    values = data["values"]
    edges = data["edges"]
    return Attribute(
        str(data["name"]),
        None if values is None else tuple(values),
        None if edges is None else tuple(map(int, edges)),
        Fraction(data["step"]),
        data["time"],
        bool(data["null"]),
    )


def synthetic_to_json(made: Synthetic) -> str:
    """Return a synthetic table as one line of JSON."""
    return json.dumps(measured_to_json(made.measured))


def synthetic_from_json(text: str) -> Synthetic:
    """Read a synthetic table that `synthetic_to_json` wrote.

    Refuses: other text, by `InvalidArgument`.
    """
    try:
        data = json.loads(text)
    except ValueError:
        # Refused below, with the text for every other value.
        data = None
    return Synthetic(measured_from_json(data))
