"""Export of answers to CSV, Polars, pandas and Arrow.

Days and seconds become dates and times, exact fractions become floats.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from ..optional import load
from ..query.domains.calendar import EPOCH
from ..query.domains.type_of import ValueType
from ..show.spreadsheet import safe_csv

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped]
    import polars as pl
    import pyarrow as pa  # type: ignore[import-untyped]

    from .answer import Answer

_START = datetime(1970, 1, 1)
"""Seconds of a timestamp count from here, without a time zone."""


def plain(value: object, sort: ValueType | None) -> object:
    """Convert a value to the Python type that other tools expect.

    >>> from discreet.answer.export import plain
    >>> from fractions import Fraction
    >>> plain(19724, "day"), plain(60, "second"), plain(Fraction(1, 2), "number"), plain(None, "day")
    (datetime.date(2024, 1, 2), datetime.datetime(1970, 1, 1, 0, 1), 0.5, None)
    """
    # A bool is an int in Python, but never a day or a second.
    if isinstance(value, int | Fraction) and not isinstance(value, bool):
        if sort == "day":
            return EPOCH + timedelta(days=int(value))
        if sort == "second":
            return _START + timedelta(seconds=int(value))
    if isinstance(value, Fraction):
        return float(value)
    return value


def to_dict(answer: Answer, level: float | None = None) -> dict[str, list[object]]:
    """Return the columns by name; with a level, also the ends of the intervals."""
    columns: dict[str, list[object]] = {}
    if level is None:
        for name in answer.columns:
            columns[name] = answer.column(name)
        return columns
    intervals = answer.interval(level, of=answer.target)
    for name, sort in zip(answer.columns, answer.sorts, strict=True):
        columns[name] = answer.column(name)
        if name not in answer.noisy:
            continue
        lows: list[object] = []
        highs: list[object] = []
        for row in intervals:
            # A value without a known bound has empty ends.
            low, high = row[name] or (None, None)
            lows.append(plain(low, sort))
            highs.append(plain(high, sort))
        columns[f"{name}_low"] = lows
        columns[f"{name}_high"] = highs
    return columns


def to_csv(answer: Answer, path: str | Path | None = None, level: float | None = None) -> str:
    """Write CSV with a header; NULL is empty, times are in ISO form.

    Texts are escaped, so that no spreadsheet reads one as a formula (CSV injection).
    """
    columns = to_dict(answer, level)
    text = safe_csv([columns, *zip(*columns.values(), strict=True)])
    if path is not None:
        Path(path).write_text(text, encoding="utf-8")
    return text


def to_polars(answer: Answer, level: float | None = None) -> pl.DataFrame:
    """Return a Polars data frame."""
    frame: pl.DataFrame = load("polars", "tables").DataFrame(to_dict(answer, level), strict=False)
    return frame


def to_pandas(answer: Answer, level: float | None = None) -> pd.DataFrame:
    """Return a pandas data frame."""
    return load("pandas", "tables").DataFrame(to_dict(answer, level))


def to_arrow(answer: Answer, level: float | None = None) -> pa.Table:
    """Return an Arrow table."""
    return load("pyarrow", "tables").table(to_dict(answer, level))
