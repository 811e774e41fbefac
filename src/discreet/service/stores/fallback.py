"""Fallback for unreadable source files: the data set answers from the rows that were last read well."""

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
    """Engine of a data set, and a message for the steward; "" if the source could be read.

    Only the steward sees the message: a single private row may make the source unreadable.
    """

    engine: Any
    told: str = ""


def open_last_good(config: DataSet, schemas: Sequence[Schema]) -> OpenedStore:
    """Read the files of a data set into its kept store; if that fails, open the kept store unchanged.

    Refuses: unreadable files without a kept store, or with one that does not fit the schemas.
    """
    files: Any = config.source.tables
    declared = [schema for schema in schemas if schema.name in files]
    declared_files = {schema.name: files[schema.name] for schema in declared}
    try:
        return OpenedStore(engines.prepare(declared_files, declared, config.keep))
    except DiscreetError as problem:
        try:
            engine = engines.DuckDB(config.keep)
            # The schema may have changed since the store was kept.
            for schema in declared:
                engine.check(schema)
        except DiscreetError:
            # The steward can mend the files, so their problem is the one to report.
            raise problem from None
        return OpenedStore(engine, str(problem))
