"""Data sets of a worker: schemas and ledgers are opened once, engines once for each job thread.

                     free requests (explain, plan)          charged requests (answer, release)
engine               one for all threads                    one for each thread
pacing               none: no private row is touched        results come on the timing grid

Closing a day of a standing report opens an engine of its own, which reads the source anew.

A data set with `keep` has a fallback for unreadable source files: it answers from the rows that
were last read without an error.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ... import engines  # each store's driver is imported when its engine is touched
from ...curator import Curator
from ...curator.curator import served
from ...curator.signing import Signer
from ...data.files.schema_file import read_schemas
from ...data.schema import Schema
from ...engines.base import keeps_all_rows
from ...errors import DiscreetError, NotAllowed
from ...frozen import frozen
from ...ledger import Ledger, open_ledger
from ...optional import load
from ...streams.seal import Seal
from ..config import Config, DataSet, DataSource
from ..jobs.messages import Setup
from ..jobs.paced_engine import pace
from .people import Member


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


LEDGER_WAIT_SECONDS = 10
"""Seconds for which a charge waits for another one in the ledger; then the job tries again."""


@frozen
class ThreadCurator:
    """Curator for one thread, with an engine of its own: stopping one question stops no other.

    `touched` and `stopped` are the flags of its paced engine.
    """

    curator: Curator
    engine: Any
    touched: threading.Event
    stopped: threading.Event

    def begin(self) -> None:
        """Reset the flags for the next question: not yet queried, not stopped."""
        self.touched.clear()
        self.stopped.clear()

    def interrupt(self) -> None:
        """Stop the running question: its query, and every step that would follow."""
        # The flag first: a query that is interrupted must not be followed by the next one.
        self.stopped.set()
        self.engine.interrupt()

    def hang_up(self) -> None:
        """Cut the connection of an engine that does not stop, if it has a connection."""
        if hasattr(self.engine, "hang_up"):
            self.engine.hang_up()


@frozen
class _Opened:
    """Open data set; `told` is the message for its steward about an unreadable source."""

    config: DataSet
    schemas: tuple[Schema, ...]
    ledger: Ledger
    shared: ThreadCurator
    told: str
    seal: Seal | None = None


class DataSets:
    """Open data sets of a worker by name."""

    def __init__(self, config: Config) -> None:
        self._signer = _signer(config.signing_key)
        self._grid = config.grid
        self._local = threading.local()
        self._engines: list[Any] = []
        self._lock = threading.Lock()
        self._opened: dict[str, _Opened] = {}
        for name, dataset in config.datasets.items():
            self._opened[name] = self._open(dataset)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all data sets of the service."""
        return tuple(self._opened)

    def allowed(self, person: Member) -> tuple[str, ...]:
        """Return the names of the data sets that a user may ask about."""
        return tuple(name for name in self._opened if person.may(name))

    def check(self, person: Member, name: str) -> None:
        """Refuse a data set that the user may not ask about, in the same way as one that does not exist."""
        if name not in self._opened or not person.may(name):
            yours = ", ".join(self.allowed(person)) or "none"
            raise NotAllowed(f"{name[:63]!r} is not among your data sets; yours: {yours}")

    def schemas(self, name: str) -> tuple[Schema, ...]:
        """Return the public facts of a data set."""
        return self._opened[name].schemas

    def ledger(self, name: str) -> Ledger:
        """Return the ledger of a data set."""
        return self._opened[name].ledger

    def told(self, name: str) -> str:
        """Return the message for the steward about a source that could not be read; "" if it could."""
        return self._opened[name].told

    def curator(self, name: str, who: str) -> Curator:
        """Return the curator for free requests, which touch no private row and share one engine."""
        return self._opened[name].shared.curator.named(who)

    def engine(self, name: str) -> Any:  # noqa: ANN401
        """Return the engine for free requests."""
        return self._opened[name].shared.engine

    @property
    def setups(self) -> dict[str, Setup]:
        """Facts of all data sets for the planning workers."""
        return {name: _setup(opened) for name, opened in self._opened.items()}

    def thread_curator(self, name: str) -> ThreadCurator:
        """Return the curator of the calling thread for charged requests."""
        mine: dict[str, ThreadCurator] = getattr(self._local, "curators", None) or {}
        if name in mine:
            return mine[name]
        opened = self._opened[name]
        engine = _another(opened.shared.engine, opened.config.source)
        mine[name] = self._employ(
            engine,
            opened.config,
            opened.schemas,
            opened.ledger,
            seal=opened.seal,
            grid=self._grid,
        )
        self._local.curators = mine
        return mine[name]

    @property
    def with_streams(self) -> tuple[str, ...]:
        """Names of the data sets with a key file, whose streams the service opens and closes."""
        return tuple(name for name, opened in self._opened.items() if opened.seal is not None)

    @contextmanager
    def reading_anew(self, name: str) -> Iterator[Curator]:
        """Return a curator whose engine reads the source as it is now: files are read once otherwise.

        A day is closed by the rows that are there, never by those of a kept store.
        """
        opened = self._opened[name]
        engine = open_engine(opened.config.source)
        try:
            thread = self._employ(
                engine,
                opened.config,
                opened.schemas,
                opened.ledger,
                seal=opened.seal,
                grid=self._grid,
            )
            yield thread.curator
        finally:
            with self._lock:
                self._engines.remove(engine)
            if hasattr(engine, "close"):
                engine.close()

    def close(self) -> None:
        """Close the engines and the ledgers."""
        with self._lock:
            for engine in self._engines:
                if hasattr(engine, "close"):
                    engine.close()
            self._engines.clear()
        for opened in self._opened.values():
            opened.ledger.close()

    def _open(self, config: DataSet) -> _Opened:
        """Open schema, ledger, rows and key file of a data set."""
        schemas = read_schemas(config.schema)
        terms: dict[str, Any] = dict(config.terms)
        budget = terms.pop("budget", None)
        ledger = open_ledger(
            config.ledger, budget, name=config.name, wait=LEDGER_WAIT_SECONDS, **terms
        )
        if config.keep:
            opened = open_last_good(config, schemas)
        else:
            opened = OpenedStore(open_engine(config.source))
        seal = Seal.open(config.seal) if config.seal else None
        shared = self._employ(opened.engine, config, schemas, ledger)
        return _Opened(config, schemas, ledger, shared, opened.told, seal)

    def _employ(
        self,
        engine: Any,  # noqa: ANN401
        config: DataSet,
        schemas: tuple[Schema, ...],
        ledger: Ledger,
        *,
        seal: Seal | None = None,
        grid: float = 0.0,
    ) -> ThreadCurator:
        """Make a curator of an engine; with a grid it is paced and can be stopped, for charged requests."""
        with self._lock:
            self._engines.append(engine)
        paced = pace(engine, grid or 1.0)
        curator = Curator(
            paced if grid else engine,
            schemas,
            ledger,
            signer=self._signer,
            share_questions=config.share_questions,
            siblings=config.siblings,
            seal=seal,
        )
        control = None
        if grid:
            # Sampling and waiting must notice a stop too, not only the engine's query.
            control = paced.control
        curator = served(curator, control)
        return ThreadCurator(curator, engine, paced.touched, paced.stopped)


def _setup(opened: _Opened) -> Setup:
    """Return the facts of a data set that a planning worker needs."""
    config = opened.config
    # A ledger in memory cannot be opened by another process.
    ledger = "" if config.ledger == ":memory:" else config.ledger
    all_rows = keeps_all_rows(opened.shared.engine)
    return Setup(
        config.name,
        opened.schemas,
        ledger,
        LEDGER_WAIT_SECONDS,
        config.share_questions,
        all_rows,
        config.siblings,
    )


def _another(engine: Any, source: DataSource) -> Any:  # noqa: ANN401
    """Return an engine for one more thread: DuckDB shares the rows read, others connect anew."""
    if isinstance(engine, engines.DuckDB):
        return engine.twin()
    return open_engine(source)


def open_engine(source: DataSource) -> Any:  # noqa: ANN401
    """Open the engine of a data set."""
    if source.engine == "duckdb":
        return engines.DuckDB(source.tables, trusted=source.trusted)
    if source.engine == "postgres":
        return engines.Postgres(str(source.tables), tables=source.places, trusted=source.trusted)
    session = load("pyspark.sql", "spark").SparkSession.builder.getOrCreate()
    tables = {}
    if not isinstance(source.tables, str):
        tables = {name: _spark_table(path) for name, path in source.tables.items()}
    return engines.Spark(session, tables, trusted=source.trusted)


def _spark_table(path: str) -> str:
    """Return the path of a CSV or Parquet file unchanged; of others the last component.

    That is the name of a table in Spark's catalogue.
    """
    # The configuration has made a path of every name, so the folder is removed again.
    if path.endswith((".parquet", ".csv")):
        return path
    return Path(path).name


def _signer(path: str) -> Any:  # noqa: ANN401
    """Read the key that signs receipts, if one is configured."""
    return Signer.load(path) if path else None
