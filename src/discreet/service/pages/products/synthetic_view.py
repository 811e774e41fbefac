"""View of synthetic tables and records sampled from them, in a planning worker; post-processing is free."""

from __future__ import annotations

import json
from typing import Any

from ....curator import Curator
from ....show.spreadsheet import safe_csv
from ....synthetic.stored import measured_from_json
from ....synthetic.synthetic import Synthetic
from ..charts.grouping_tables import AnswerPart

MAX_SHOWN = 6
MAX_RECORDS = 200_000
LEVEL = 0.95


def _synthetic(released: object) -> Synthetic:
    return Synthetic(measured_from_json(released))


def count_tables(_curator: Curator, released: object) -> tuple[AnswerPart, ...]:
    """Return the tables of single columns with their error bars, the first six, as parts of an answer are."""
    made = _synthetic(released)
    return tuple(_part(made, name) for name in made.columns[:MAX_SHOWN])


def _part(made: Synthetic, name: str) -> AnswerPart:
    """Lay out one table: the best estimates, with error bars where they were measured."""
    table = made.table(name)
    ends = table.interval(LEVEL)
    bars = (
        [None] * len(table.labels[0])
        if ends is None
        else [[float(a), float(b)] for a, b in zip(*ends, strict=True)]
    )
    boxes = [[None, bar] for bar in bars]
    rows: list[list[Any]] = [
        [key, float(n)] for key, n in zip(table.labels[0], table.values, strict=True)
    ]
    columns = [{"name": name, "noisy": False}, {"name": "n", "noisy": True}]
    reply = {"columns": columns, "rows": rows, "intervals": boxes, "level": str(LEVEL)}
    return AnswerPart(f"By {name}", reply)


def records_csv(_curator: Curator, released: object) -> str:
    """Make records and write them as CSV: as many as there are rows, by the noisy count, at most 200 000."""
    made = _synthetic(released)
    columns = made.records(min(made.rows, MAX_RECORDS))
    return safe_csv([list(columns), *zip(*columns.values(), strict=True)])


def tables_json(_curator: Curator, released: object) -> str:
    """Write every table of one column with its error bars, and all that was released, from which more can be made."""
    made = _synthetic(released)
    tables = [
        {"by": [name], "level": str(LEVEL), "table": made.table(name).to_dict(LEVEL)}
        for name in made.columns
    ]
    return json.dumps({"rows": made.rows, "tables": tables, "released": released}, default=str)
