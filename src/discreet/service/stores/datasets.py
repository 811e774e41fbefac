"""The data sets of a worker: schemas and ledgers opened once, an engine for each thread that runs questions."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from ... import engines  # each store's driver is imported when its engine is touched
from ...curator import Curator
from ...curator.curator import stoppable
from ...curator.signing import Signer
from ...data.files.schema_file import read_schemas
from ...data.schema import Schema
from ...engines.base import keeps_all_rows
from ...errors import NotAllowed
from ...frozen import frozen
from ...ledger import Ledger, open_ledger
from ...optional import load
from ..config import Config, DataSet, DataSource
from ..jobs.messages import Setup
from ..jobs.paced_engine import pace
from .fallback import OpenedStore, open_last_good
from .people import Member

WAIT = 10
"""Seconds that a charge waits for another before it says so; the job then tries again."""


@frozen
class Hired:
    """A curator for one thread, with its own engine, so that stopping one question stops no other."""

    curator: Curator
    engine: Any
    touched: threading.Event
    stopped: threading.Event

    def begin(self) -> None:
        """Make ready for the next question: nothing was asked for it yet, and nobody has stopped it."""
        self.touched.clear()
        self.stopped.clear()

    def interrupt(self) -> None:
        """Stop the question that runs: what the engine does now, if it can, and whatever would come after it."""
        self.stopped.set()
        self.engine.interrupt()

    def hang_up(self) -> None:
        """Give up a store that cannot be told to stop, if there is a line to cut."""
        if hasattr(self.engine, "hang_up"):
            self.engine.hang_up()


@frozen
class _Opened:
    config: DataSet
    schemas: tuple[Schema, ...]
    ledger: Ledger
    shared: Hired
    told: str


class DataSets:
    """Everything that can be asked about, by name."""

    def __init__(self, config: Config) -> None:
        self._signer = _signer(config.signing_key)
        self._grid = config.grid
        self._local = threading.local()
        self._engines: list[Any] = []
        self._lock = threading.Lock()
        self._opened = {name: self._open(one) for name, one in config.datasets.items()}

    @property
    def names(self) -> tuple[str, ...]:
        """All data sets of the service."""
        return tuple(self._opened)

    def allowed(self, person: Member) -> tuple[str, ...]:
        """The data sets that a person may ask about."""
        return tuple(name for name in self._opened if person.may(name))

    def check(self, person: Member, name: str) -> None:
        """Refuse a data set that is not the person's; whether it exists is not told."""
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
        """Return what the steward must be told of a source that could not be read; "" if nothing."""
        return self._opened[name].told

    def curator(self, name: str, who: str) -> Curator:
        """Return the curator for what is free: one engine for all, since no private row is touched."""
        return self._opened[name].shared.curator.named(who)

    def engine(self, name: str) -> Any:  # noqa: ANN401
        """Return the engine for what is free."""
        return self._opened[name].shared.engine

    @property
    def setups(self) -> dict[str, Setup]:
        """What clerks must know of all data sets."""
        return {name: _setup(one) for name, one in self._opened.items()}

    def hire(self, name: str) -> Hired:
        """Return the curator of the calling thread for what is charged."""
        mine: dict[str, Hired] = getattr(self._local, "hired", None) or {}
        if name not in mine:
            opened = self._opened[name]
            engine = _another(opened.shared.engine, opened.config.source)
            mine[name] = self._employ(
                engine, opened.config, opened.schemas, opened.ledger, self._grid
            )
            self._local.hired = mine
        return mine[name]

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
        schemas = read_schemas(config.schema)
        terms: dict[str, Any] = dict(config.terms)
        budget = terms.pop("budget", None)
        ledger = open_ledger(config.ledger, budget, name=config.name, wait=WAIT, **terms)
        found = (
            open_last_good(config, schemas)
            if config.keep
            else OpenedStore(open_engine(config.source))
        )
        return _Opened(
            config, schemas, ledger, self._employ(found.engine, config, schemas, ledger), found.told
        )

    def _employ(
        self,
        engine: Any,  # noqa: ANN401
        config: DataSet,
        schemas: tuple[Schema, ...],
        ledger: Ledger,
        grid: float = 0.0,
    ) -> Hired:
        """Put a curator before an engine; one that runs questions answers on the grid."""
        with self._lock:
            self._engines.append(engine)
        paced, share = pace(engine, grid or 1.0), config.share_questions
        held = paced if grid else engine
        curator = Curator(held, schemas, ledger, signer=self._signer, share_questions=share)
        if grid:  # stopping is heard by what draws and waits, not only by the store
            curator = stoppable(curator, paced.control)
        return Hired(curator, engine, paced.touched, paced.stopped)


def _setup(opened: _Opened) -> Setup:
    place = "" if opened.config.ledger == ":memory:" else opened.config.ledger
    whole = keeps_all_rows(opened.shared.engine)
    return Setup(
        opened.config.name, opened.schemas, place, WAIT, opened.config.share_questions, whole
    )


def _another(engine: Any, source: DataSource) -> Any:  # noqa: ANN401
    """Return an engine for one more thread: DuckDB's shares what was read, others connect anew."""
    return engine.twin() if isinstance(engine, engines.DuckDB) else open_engine(source)


def open_engine(source: DataSource) -> Any:  # noqa: ANN401
    """Open the store of a data set."""
    if source.engine == "duckdb":
        return engines.DuckDB(source.tables, trusted=source.trusted)
    if source.engine == "postgres":
        return engines.Postgres(str(source.tables), tables=source.places, trusted=source.trusted)
    session = load("pyspark.sql", "spark").SparkSession.builder.getOrCreate()
    named = {} if isinstance(source.tables, str) else source.tables
    tables = {name: _place(place) for name, place in named.items()}
    return engines.Spark(session, tables, trusted=source.trusted)


def _place(place: str) -> str:
    """Return the path of files as it is; any other word is a table of the catalogue."""
    return place if place.endswith((".parquet", ".csv")) else Path(place).name


def _signer(path: str) -> Any:  # noqa: ANN401
    """Read the key that signs receipts, if one is configured."""
    return Signer.load(path) if path else None
