"""Spark SQL: a session that somebody else started, with tables of its catalogue, data frames or files."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self
from uuid import uuid4

from ...data.schema import Schema
from ...errors import DiscreetError, InvalidArgument, SchemaMismatch
from ...query.algebra.tally import Tally, Totals
from ..base import PublicKeys, cancelled, failure
from ..progress import watch
from ..sql.dialect import StoredColumn, StoredTable
from ..sql.rows.prepared import FIRST, prepared_table
from ..sql.store import SqlStore
from ..sql.table_name import read_table_name
from .dialect import SPARK, stored_class
from .log_filter import quiet
from .plan_safety import is_total
from .prepare import find_mark, keep_tables
from .source import failing_setting, is_guessed, is_path, place_of, read_files, view_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class Spark:
    """Answer from Spark: `Spark(session)` for tables of its catalogue, `Spark(session, {"people": frame})` for others.

    A table is a data frame, the name of a table such as "hr.staff", or the path of Parquet or CSV files. The session is
    one of this process or of Spark Connect; its time zone, ANSI mode, escape settings and variables do not matter: the
    text is written so that they cannot change its meaning. `progress` shows a bar while a query runs, Ctrl-C cancels.

    `trusted` names tables for which the steward gives his word that no row can make them fail, and that no type in them
    was guessed; `check` refuses views with casts or arithmetic, and guessed partitions, without it.

    Refuses what is no session; whatever Spark says becomes one constant failure.
    """

    rows_public: ClassVar[bool] = False
    """A table of a catalogue may be a view that leaves records out."""

    def __init__(
        self,
        session: SparkSession,
        tables: Mapping[str, DataFrame | Path | str] | None = None,
        *,
        trusted: Collection[str] = (),
        progress: bool = False,
    ) -> None:
        if not callable(getattr(session, "sql", None)) or not callable(
            getattr(session, "table", None)
        ):
            raise InvalidArgument(
                "Spark takes a running session, such as SparkSession.builder.getOrCreate()"
            )
        self._session = session
        self._context: Any = getattr(session, "_sc", None)  # over Spark Connect there is none
        self._trusted = frozenset(trusted)
        self._progress = progress
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._tag = f"discreet-{uuid4().hex}"
        self._files = {name for name, source in (tables or {}).items() if is_path(source)}
        read = {
            n: read_files(session, s, n) if n in self._files else s
            for n, s in (tables or {}).items()
        }  # type: ignore[arg-type]
        self._frames = {
            name: source for name, source in read.items() if not isinstance(source, str)
        }
        self._places = {name: place_of(name, source) for name, source in read.items()}
        self._store = SqlStore(SPARK, self._table, self._fetch)

    def tally(self, tally: Tally) -> Totals:
        """Return the exact totals of every key that occurs."""
        return self._store.tally(tally)

    def explain(self, tally: Tally) -> str:
        """Return the SQL text of a tally."""
        return self._store.explain(tally)

    def check(self, schema: Schema) -> None:
        """Refuse a schema whose table or columns are not there, cannot be read, could fail, or repeat too often."""
        self._store.check(schema)
        if schema.name in self._trusted:
            return
        with quiet():
            if setting := failing_setting(self._session):
                raise SchemaMismatch(
                    f"by {setting} one day before 1582 fails every question; set it to CORRECTED"
                )
            frame = self._frame(schema.name)
            if not is_total(frame):
                raise SchemaMismatch(
                    f"the view or frame {schema.name} may fail on some row (a cast, a division, a function), or cannot "
                    "be looked into: whether a question fails would tell about that row. Use try_cast and the like, "
                    f"write it to a table, or give your word by trusted={[schema.name]!r}"
                )
            if schema.name in self._frames and is_guessed(frame):
                raise SchemaMismatch(
                    f"Spark may have guessed the type of a partition column of {schema.name} from all folders: give a "
                    f"path instead of the frame, or declare its schema and give your word by trusted={[schema.name]!r}"
                )

    def public_values(self, table: Schema, *columns: str) -> PublicKeys:
        """List the distinct values of a column of a public table, or tuples of several, in order, NULL left out."""
        return self._store.public_values(table, *columns)

    def columns(self, table: str) -> dict[str, str]:
        """List the columns of a table with their stored types."""
        return {name: column.type for name, column in self._table(table).columns.items()}

    def prepare(self, schemas: Iterable[Schema], home: str) -> Spark:
        """Read tables once, for speed, into Parquet tables of the database `home`; return the engine over them.

        Every cell is read as its declaration says, and each person's rows are counted; ids stay as they are. Old tables
        are replaced when all new ones are written. Each table is read in a query of its own.

        Refuses what `check` refuses, and to replace a table that was not prepared.
        """
        listed = [schemas] if isinstance(schemas, Schema) else list(schemas)
        place = ".".join(map(SPARK.quote, read_table_name(home, 2)))
        for schema in listed:
            self.check(schema)
        try:
            tables = [(schema, self._table(schema.name)) for schema in listed]
            keep_tables(self._run, self._session, tables, place)
        except DiscreetError:
            raise
        except Exception:  # noqa: BLE001 whatever Spark and its bridges raise
            raise InvalidArgument(
                f"nothing could be prepared in {home}; is it a database of the catalogue that can be written?"
            ) from None
        named = {one.name: f"{place}.{SPARK.quote(one.name)}" for one in listed}
        return Spark(self._session, named, progress=self._progress)

    def interrupt(self) -> None:
        """Cancel the queries of this engine that are running, from another thread."""
        self._stopped.set()
        if self._context is None:
            self._session.interruptTag(self._tag)
        else:  # its session would stop only what this very thread began
            self._context.cancelJobsWithTag(self._tag)

    def close(self) -> None:
        """Forget the views that were made for data frames; the session is somebody else's and goes on."""
        with quiet(), suppress(Exception):  # the session may have ended
            for name in self._frames:
                self._session.catalog.dropTempView(self._places[name].strip("`"))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def _frame(self, name: str) -> Any:  # noqa: ANN401
        return self._session.table(self._places.get(name, SPARK.quote(name)))

    def _table(self, name: str) -> StoredTable:
        """Describe a table as it is now; columns whose names Spark would take for variables get others, in a view."""
        with quiet():
            try:
                frame = self._frame(name)
                types = frame.dtypes
                names = [
                    f"discreet_{n}" if "${" in label else label
                    for n, (label, _) in enumerate(types)
                ]
                place = self._places.get(name, SPARK.quote(name))
                if names != [label for label, _ in types]:
                    place = view_of(
                        frame.toDF(*names), f"{self._tag}_{name.encode().hex()}".replace("-", "_")
                    )
            except Exception:  # noqa: BLE001 whatever Spark and its bridges raise
                raise SchemaMismatch(f"the store has no table {name} that it can read") from None
        if (
            names[:1] == [FIRST]
            and name not in self._frames
            and (mark := find_mark(self._run, place))
        ):
            return prepared_table(name, place, mark, SPARK)
        columns = {
            label: StoredColumn(SPARK.quote(own), kind, stored_class(kind))
            for own, (label, kind) in zip(names, types, strict=True)
        }
        return StoredTable(place, columns, steady=name in self._files)

    def _fetch(self, sql: str) -> Sequence[Sequence[object]]:
        with self._lock:
            self._stopped.clear()
            try:
                if not self._progress:
                    return self._run(sql)
                return watch(lambda: self._run(sql), self._percent, self.interrupt)
            except KeyboardInterrupt:
                self.interrupt()
                raise
            except Exception:  # noqa: BLE001 whatever it was may tell about the data
                raise (cancelled() if self._stopped.is_set() else failure()) from None

    def _run(self, sql: str) -> Sequence[Sequence[object]]:
        with quiet():
            add, remove = _tagging(self._context, self._session)
            add(self._tag)
            try:
                return [tuple(row) for row in self._session.sql(sql).collect()]
            finally:
                remove(self._tag)

    def _percent(self) -> float:
        """Return how many of the tasks that are known have ended, below 0 where nobody tells (Spark Connect)."""
        if self._context is None:
            return -1.0
        tracker = self._context.statusTracker()
        stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
        tasks = sum(stage.numTasks for stage in stages if stage)
        return (
            100 * sum(stage.numCompletedTasks for stage in stages if stage) / tasks
            if tasks
            else -1.0
        )


def _tagging(context: Any, session: Any) -> tuple[Callable[[str], None], Callable[[str], None]]:  # noqa: ANN401
    """Return how the jobs of this thread are tagged, and how that ends."""
    if context is None:
        return session.addTag, session.removeTag
    return context.addJobTag, context.removeJobTag
