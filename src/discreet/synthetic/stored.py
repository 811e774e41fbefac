"""Synthetic tables as JSON: the public cells of each column and the noisy whole numbers; nothing in it is private.

The format only grows: ledgers hold it. All that is shown is made anew from it, by the rules of the day.
"""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np

from ..errors import InvalidArgument
from .attribute import Attribute
from .synthetic import Measured, Synthetic

VERSION = 1


def measured_to_json(measured: Measured) -> dict[str, object]:
    """Return what was released as plain values."""
    blocks = zip(measured.sets, measured.grids, measured.variances, measured.noisy, strict=True)
    return {
        "synthetic": VERSION,
        "columns": [_column_to_json(one) for one in measured.attributes],
        "blocks": [
            {"of": list(part), "grid": grid, "variance": repr(variance), "noisy": noisy.tolist()}
            for part, grid, variance, noisy in blocks
        ],
    }


def measured_from_json(data: Any) -> Measured:  # noqa: ANN401 whatever JSON holds
    """Read what `measured_to_json` wrote.

    Refuses other values.
    """
    try:
        blocks = {VERSION: data["blocks"]}[data["synthetic"]]
        return Measured(
            tuple(_column_from_json(one) for one in data["columns"]),
            tuple(tuple(block["of"]) for block in blocks),
            tuple(int(block["grid"]) for block in blocks),
            tuple(float(block["variance"]) for block in blocks),
            tuple(_whole(block["noisy"]) for block in blocks),
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InvalidArgument(
            "this is no synthetic table of discreet, or one of a newer release"
        ) from None


def _whole(values: list[int]) -> Any:  # noqa: ANN401 64 bits, or Python's own integers
    wide = max(map(abs, values), default=0) >= 2**62
    return np.array(values, dtype=object if wide else np.int64)


def _column_to_json(one: Attribute) -> dict[str, object]:
    return {
        "name": one.name,
        "values": None if one.values is None else list(one.values),
        "edges": None if one.edges is None else list(one.edges),
        "step": str(one.step),
        "time": one.time,
        "null": one.null,
    }


def _column_from_json(data: dict[str, Any]) -> Attribute:
    values, edges = data["values"], data["edges"]
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

    Refuses other text.
    """
    try:
        data = json.loads(text)
    except ValueError:
        data = None
    return Synthetic(measured_from_json(data))
