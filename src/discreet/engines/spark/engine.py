"""Spark SQL: a session that somebody else started, with tables of its catalogue or data frames."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from ...data.schema import Schema
from ...errors import InvalidArgument, SchemaMismatch
from ...optional import load
from ...query.algebra.tally import Tally, Totals
from ...query.domains.domain import Scalar
from ..base import cancelled, failure
from ..sql.dialect import StoredColumn, StoredTable
from ..sql.store import SqlStore
from .dialect import SPARK, stored_class

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Spark"]


class Spark:
    """Answer from Spark: `Spark(session)` for tables of its catalogue, `Spark(session, {"people": frame})` for others.

    A table is a data frame, or the name of a table such as "hr.staff". The session's time zone, ANSI mode, escape
    settings and variables do not matter: the text is written so that they cannot change its meaning.

    Refuses what is no session; whatever Spark says becomes one constant failure.
    """

    def __init__(self, session: SparkSession, tables: Mapping[str, DataFrame | str] | None = None) -> None:
        if not callable(getattr(session, "sql", None)) or not callable(getattr(session, "table", None)):
            raise InvalidArgument("Spark takes a running session, such as SparkSession.builder.getOrCreate()")
        self._session = session
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._held: dict[str, StoredTable] = {}
        self._tag = f"discreet-{uuid4().hex}"
        self._places = {name: _placed(name, source) for name, source in (tables or {}).items()}
        self._store = SqlStore(SPARK, self._table, self._fetch)

    def tally(self, tally: Tally) -> Totals:
        """Return the exact totals of every key that occurs."""
        return self._store.tally(tally)

    def explain(self, tally: Tally) -> str:
        """Return the SQL text of a tally."""
        return self._store.explain(tally)

    def check(self, schema: Schema) -> None:
        """Refuse a schema whose table or columns are not in the store, or whose values repeat more than it states."""
        self._store.check(schema)

    def public_values(self, table: Schema, column: str) -> tuple[Scalar, ...]:
        """List the distinct values of a column of a public table, in order, NULL left out."""
        return self._store.public_values(table, column)

    def columns(self, table: str) -> dict[str, str]:
        """List the columns of a table with their stored types."""
        return {name: column.type for name, column in self._table(table).columns.items()}

    def interrupt(self) -> None:
        """Cancel the queries of this engine that are running, from another thread."""
        self._stopped.set()
        self._session.sparkContext.cancelJobsWithTag(self._tag)

    def _table(self, name: str) -> StoredTable:
        if name not in self._held:
            place = self._places.get(name, SPARK.quote(name))
            try:
                self._held[name] = _described(self._session.table(place), place)
            except _errors():
                raise SchemaMismatch(f"the store has no table {name} that it can read") from None
        return self._held[name]

    def _fetch(self, sql: str) -> Sequence[Sequence[object]]:
        context = self._session.sparkContext
        with self._lock:
            self._stopped.clear()
            context.addJobTag(self._tag)
            try:
                return [tuple(row) for row in self._session.sql(sql).collect()]
            except _errors():
                raise (cancelled() if self._stopped.is_set() else failure()) from None
            finally:
                context.removeJobTag(self._tag)


def _errors() -> tuple[type[Exception], ...]:
    """Return what Spark raises: its own errors, and those of the bridge to Java."""
    return load("pyspark.errors", "spark").PySparkException, load("py4j.protocol", "spark").Py4JError


def _described(frame: DataFrame, place: str) -> StoredTable:
    """Describe a table; columns whose names Spark would take for variables get others, in a view."""
    types = frame.dtypes
    names = [label if "${" not in label else f"discreet_{number}" for number, (label, _) in enumerate(types)]
    if names != [label for label, _ in types]:
        place = _view(frame.toDF(*names))
    columns = {
        label: StoredColumn(SPARK.quote(name), kind, stored_class(kind))
        for name, (label, kind) in zip(names, types, strict=True)
    }
    return StoredTable(place, columns)


def _placed(name: str, source: Any) -> str:  # noqa: ANN401
    """Return what stands after FROM for a source."""
    if isinstance(source, str) and "${" not in source:
        return ".".join(map(SPARK.quote, source.split(".")))
    if not callable(getattr(source, "createOrReplaceTempView", None)):
        raise InvalidArgument(f"{name} is no table of Spark; give a data frame, or the name of a table without ${{")
    return _view(source)


def _view(source: Any) -> str:  # noqa: ANN401
    """Make a data frame a view with a name of its own."""
    view = f"discreet_{uuid4().hex}"
    source.createOrReplaceTempView(view)
    return SPARK.quote(view)
