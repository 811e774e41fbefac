"""Spark engine: a session of the caller, with tables of its catalogue, data frames or files.

It answers tallies by SQL on the session that the caller passes, and refuses views and frames on
which one row could make a query fail. It can also write prepared tables into the catalogue.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias
from uuid import uuid4

from ...data.schema import Schema
from ...errors import DiscreetError, InvalidArgument, SchemaMismatch
from ...query.algebra.tally import Tally, Totals
from ..base import PeopleTotals, cancelled, failure, schemas_in
from ..progress import watch
from ..sql.dialect import AnswerRows, StoredColumn, StoredTable
from ..sql.rows import prepared
from ..sql.store import SqlEngine, SqlStore, TextCache
from ..sql.table_name import read_table_name
from .dialect import SPARK, stored_class
from .log_filter import quiet
from .plan_safety import is_total
from .source import failing_setting, is_guessed, is_path, read_files, table_sql, view_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

RunText: TypeAlias = Callable[[str], AnswerRows]
_PROPERTY = "discreet_prepared"
"""Property of a table in the catalogue that holds the mark of a prepared one."""


class Spark(SqlEngine):
    """Answer from Spark: `Spark(session)` for tables of its catalogue, `Spark(session, {"people": frame})` for others.

    A table is a data frame, the name of a table such as "hr.staff", or the path of Parquet or CSV
    files. The session is one of this process or of Spark Connect. Its time zone, ANSI mode, escape
    settings and variables do not matter: the text is written so that they cannot change its
    meaning. `progress` shows a bar while a query runs, Ctrl-C cancels.

    `trusted` names tables for which the steward declares that no row can make them fail, and that
    no type in them was guessed. Without it, `check` refuses views with casts or arithmetic, and
    guessed partitions.

    Refuses: objects other than a session. Every message of Spark becomes one constant failure.

    Law: tests/engines/test_suite.py::test_every_engine_keeps_the_contract
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
        for method in ("sql", "table"):
            if not callable(getattr(session, method, None)):
                raise InvalidArgument(
                    "Spark takes a running session, such as SparkSession.builder.getOrCreate()"
                )
        self._session = session
        # Over Spark Connect there is no context in this process.
        self._context: Any = getattr(session, "_sc", None)
        self._trusted = frozenset(trusted)
        self._progress = progress
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._tag = f"discreet-{uuid4().hex}"
        self._files: set[str] = set()
        self._frames: dict[str, Any] = {}
        sources: dict[str, Any] = {}
        for name, source in (tables or {}).items():
            sources[name] = source
            if is_path(source):
                self._files.add(name)
                sources[name] = read_files(session, source, name)  # type: ignore[arg-type]
            if not isinstance(sources[name], str):
                self._frames[name] = sources[name]
        # Views are made only when all sources could be read.
        self._table_sql = {name: table_sql(name, source) for name, source in sources.items()}
        self._store = SqlStore(SPARK, self._table, self._fetch)
        self._shown_texts = TextCache()

    def tally(self, tally: Tally) -> Totals:
        """Return the exact totals of every key that occurs."""
        return self._store.tally(tally)

    def tally_people(self, tally: Tally) -> PeopleTotals:
        """Return the exact bounded totals of every person and key that occurs."""
        return self._store.tally_people(tally)

    def explain(self, tally: Tally) -> str:
        """Return the SQL text of a tally.

        Frames and files have the names of their schemas: the view that stands for them is not shown.
        """
        store = replace(self._store, table=self._shown_table, texts=self._shown_texts)
        return store.explain(tally)

    def check(self, schema: Schema) -> None:
        """Check that a schema fits its stored table.

        Refuses: a table or columns that are missing or cannot be read, a table not in `trusted`
        that could fail on some row, and values of a public table that repeat more than declared.
        """
        self._store.check(schema)
        if schema.name in self._trusted:
            return
        with quiet():
            setting = failing_setting(self._session)
            if setting:
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

    def prepare(self, schemas: Iterable[Schema], home: str) -> Spark:
        """Read tables once, for speed, into Parquet tables of the database `home`.

        Returns the engine over them. Every cell is read as its declaration says, and each person's
        rows are counted; ids stay as they are. Old tables are replaced when all new ones are
        written. Each table is read in a query of its own.

        Refuses: everything that `check` refuses, and to replace a table that was not prepared.

        Law: tests/engines/test_prepared.py::test_prepared_tables_answer_as_what_they_were_read_from
        """
        listed = schemas_in(schemas)
        database = ".".join(map(SPARK.quote, read_table_name(home, 2)))
        for schema in listed:
            self.check(schema)
        try:
            tables = [(schema, self._table(schema.name)) for schema in listed]
            _keep_tables(self._run, self._session, tables, database)
        except DiscreetError:
            raise
        except Exception:  # noqa: BLE001 whatever Spark and its bridges raise
            raise InvalidArgument(
                f"nothing could be prepared in {home}; is it a database of the catalogue that can be written?"
            ) from None
        named = {schema.name: f"{database}.{SPARK.quote(schema.name)}" for schema in listed}
        return Spark(self._session, named, progress=self._progress)

    def interrupt(self) -> None:
        """Cancel the queries of this engine that are running, from another thread."""
        self._stopped.set()
        if self._context is None:
            self._session.interruptTag(self._tag)
        else:
            # By the context: the session would stop only queries that this very thread began.
            self._context.cancelJobsWithTag(self._tag)

    def close(self) -> None:
        """Drop the views that were made for data frames; the session belongs to the caller."""
        # The session may have ended before.
        with quiet(), suppress(Exception):
            for name in self._frames:
                self._session.catalog.dropTempView(self._table_sql[name].strip("`"))

    def _sql_name(self, name: str) -> str:
        return self._table_sql.get(name, SPARK.quote(name))

    def _frame(self, name: str) -> Any:  # noqa: ANN401
        return self._session.table(self._sql_name(name))

    def _table(self, name: str) -> StoredTable:
        """Describe a table as it is now.

        Columns whose names Spark would take for variables get other names, in a view.
        """
        with quiet():
            try:
                frame = self._frame(name)
                types = frame.dtypes
                labels = [label for label, _ in types]
                names = _safe_names(labels)
                sql = self._sql_name(name)
                if names != labels:
                    view = f"{self._tag}_{name.encode().hex()}".replace("-", "_")
                    sql = view_of(frame.toDF(*names), view)
            except Exception:  # noqa: BLE001 whatever Spark and its bridges raise
                raise SchemaMismatch(f"the store has no table {name} that it can read") from None
        # A frame that begins with such a column is none that was prepared.
        if names[:1] == [prepared.FIRST] and name not in self._frames:
            mark = _find_mark(self._run, sql)
            if mark:
                return prepared.prepared_table(name, sql, mark, SPARK)
        columns = {}
        for own_name, (label, type_name) in zip(names, types, strict=True):
            quoted = SPARK.quote(own_name)
            columns[label] = StoredColumn(quoted, type_name, stored_class(type_name))
        return StoredTable(sql, columns, steady=name in self._files)

    def _shown_table(self, name: str) -> StoredTable:
        """Describe a table under the names that its user gave."""
        table = self._table(name)
        if name not in self._frames:
            return table
        columns = {}
        for label, column in table.columns.items():
            columns[label] = replace(column, sql=SPARK.quote(label))
        return replace(table, sql=SPARK.quote(name), columns=columns)

    def _fetch(self, sql: str) -> AnswerRows:
        """Run a query and return its rows; an error becomes Cancelled or the constant failure."""
        # One query at a time: the flag that tells a cancelled query belongs to it.
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

    def _run(self, sql: str) -> AnswerRows:
        """Run a query under this engine's tag, with PySpark's messages dropped; return its rows."""
        with quiet():
            # The tag lets `interrupt` find the jobs of this engine, and no others.
            add, remove = _tagging(self._context, self._session)
            add(self._tag)
            try:
                rows = self._session.sql(sql).collect()
                return list(map(tuple, rows))
            finally:
                remove(self._tag)

    def _percent(self) -> float:
        """Return the percentage of tasks of the active stages that have ended.

        It is −1 if no stage is active, and always over Spark Connect, which does not tell.
        """
        if self._context is None:
            return -1.0
        tracker = self._context.statusTracker()
        tasks = 0
        completed = 0
        for stage_id in tracker.getActiveStageIds():
            stage = tracker.getStageInfo(stage_id)
            # A stage may have ended since it was listed.
            if stage:
                tasks += stage.numTasks
                completed += stage.numCompletedTasks
        return 100 * completed / tasks if tasks else -1.0


def _safe_names(labels: Sequence[str]) -> list[str]:
    """Rename columns whose names Spark would take for variables."""
    names = []
    for number, label in enumerate(labels):
        names.append(f"discreet_{number}" if "${" in label else label)
    return names


def _tagging(context: Any, session: Any) -> tuple[Callable[[str], None], Callable[[str], None]]:  # noqa: ANN401
    """Return the functions that add a tag to the jobs of this thread and remove it.

    `context` is the Spark context; None over Spark Connect, where the session has them.
    """
    if context is None:
        return session.addTag, session.removeTag
    return context.addJobTag, context.removeJobTag


def _keep_tables(
    run: RunText,
    session: Any,  # noqa: ANN401
    tables: Sequence[tuple[Schema, StoredTable]],
    database: str,
) -> None:
    """Write each table into a database of the catalogue, by its declared name.

    Tables that were prepared there before are dropped at the end.

    Refuses: to replace a table that was not prepared.
    """
    targets = {}
    fresh = {}
    for schema, _ in tables:
        targets[schema.name] = f"{database}.{SPARK.quote(schema.name)}"
        fresh[schema.name] = f"{database}.{SPARK.quote(f'{schema.name}__new')}"
    for target in targets.values():
        if session.catalog.tableExists(target) and not _find_mark(run, target):
            raise InvalidArgument(
                f"{target} is there, and was not prepared: give another place for it"
            )
    try:
        for schema, table in tables:
            new = fresh[schema.name]
            run(f"DROP TABLE IF EXISTS {new}")
            mark = f"TBLPROPERTIES ('{_PROPERTY}' = '{prepared.mark_of(schema, table)}')"
            rows = prepared.prepared_sql(schema, table, SPARK)
            run(f"CREATE TABLE {new} USING parquet {mark} AS {rows}")
        # Only when all new tables are written: a failure before leaves the old ones.
        for name, target in targets.items():
            run(f"DROP TABLE IF EXISTS {target}")
            run(f"ALTER TABLE {fresh[name]} RENAME TO {target}")
    finally:
        for new in fresh.values():
            run(f"DROP TABLE IF EXISTS {new}")


def _find_mark(run: RunText, table: str) -> str:
    """Return the mark of a prepared table in the catalogue, "" for all others."""
    try:
        rows = run(f"SHOW TBLPROPERTIES {table} ('{_PROPERTY}')")
    except Exception:  # noqa: BLE001 a view has no properties
        return ""
    mark = str(rows[0][-1]) if rows else ""
    return mark if mark.startswith(prepared.MARK) else ""
