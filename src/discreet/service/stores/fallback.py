"""The store of a data set: its source as it is now or, where the steward keeps one, the last that could be read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import engines  # each store's driver is imported when its engine is touched
from ...data.schema import Schema
from ...errors import DiscreetError
from ...frozen import frozen
from ..config import DataSet


@frozen
class OpenedStore:
    """An engine, and what the steward must be told: "" if the source could be read.

    Whether it could may hang on one row, so nobody else is told.
    """

    engine: Any
    told: str = ""


def open_last_good(config: DataSet, schemas: Sequence[Schema]) -> OpenedStore:
    """Read the files of a data set into the store that is kept, or open it as it was if they cannot be read.

    Refuses files that cannot be read where no store is kept, or the one that is does not fit the schemas.
    """
    files: Any = config.source.tables
    declared = [schema for schema in schemas if schema.name in files]
    try:
        return OpenedStore(
            engines.prepare({one.name: files[one.name] for one in declared}, declared, config.keep)
        )
    except DiscreetError as problem:
        try:
            engine = engines.DuckDB(config.keep)
            for schema in declared:
                engine.check(schema)
        except DiscreetError:
            raise problem from None
        return OpenedStore(engine, str(problem))
