"""Answer as a Parquet file: the columns of the CSV, with types; DuckDB writes it, without another package."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb

from ..answer_view import answer_table

LONG = 2**63


def answer_parquet(reply: Mapping[str, Any]) -> bytes:
    """Write the table as Parquet, every noisy column followed by the ends of its interval.

    >>> from discreet.service.pages.downloads.parquet import answer_parquet
    >>> reply = {"columns": [{"name": "n", "noisy": True}], "rows": [[3.0]], "intervals": [[[1.0, 5.0]]]}
    >>> answer_parquet(reply)[:4]
    b'PAR1'
    """
    names, *rows = answer_table(reply, None)
    with TemporaryDirectory() as folder, duckdb.connect() as store:
        lines, made = Path(folder, "rows.json"), Path(folder, "answer.parquet")
        # by place, since two columns of an answer may have one name but for their case
        lines.write_text(
            "".join(json.dumps({f"c{k}": v for k, v in enumerate(row)}) + "\n" for row in rows)
        )
        types = {f"c{place}": _type([row[place] for row in rows]) for place in range(len(names))}
        shown = ", ".join(
            f'c{place} AS "{called}"' for place, called in enumerate(_distinct(names))
        )
        declared = ", ".join(f"{name}: '{kind}'" for name, kind in types.items())
        reader = f"read_json('{lines}', format = 'newline_delimited', columns = {{{declared}}})"
        store.execute(f"COPY (SELECT {shown} FROM {reader}) TO '{made}' (FORMAT PARQUET)")  # noqa: S608 - quoted above
        return made.read_bytes()


def _distinct(names: Sequence[object]) -> list[str]:
    """Quote names for SQL; one that was there before, whatever its case, gets a number."""
    found: list[str] = []
    for name in names:
        called, count = str(name), 2
        while called.lower() in (one.lower() for one in found):
            called, count = f"{name}_{count}", count + 1
        found.append(called)
    return [called.replace('"', '""') for called in found]


def _type(values: Sequence[object]) -> str:
    """Return the type that holds all values of a column."""
    kinds = {type(value) for value in values if value is not None}
    if kinds == {bool}:
        return "BOOLEAN"
    if kinds == {int} and all(-LONG <= value < LONG for value in values if isinstance(value, int)):
        return "BIGINT"
    return "DOUBLE" if kinds and kinds <= {int, float} else "VARCHAR"
