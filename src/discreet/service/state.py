"""State of one worker process: made once when it starts, read by every request, never rebound.

All of it may be used from several threads. Calls to the store, the ledger or an engine wait, so an
async route makes them in a thread pool (`run_in_threadpool`) or in the planning pool.
"""

from __future__ import annotations

from ..frozen import frozen
from .config import Config
from .http.audit_log import Log
from .http.concurrency_limit import ConcurrencyLimit
from .http.metrics import Metrics
from .http.openid import Provider, open_provider
from .http.rate_limit import Limits
from .http.session import Sessions
from .jobs.planning_pool import PlanningPool
from .jobs.scheduler import JobScheduler
from .jobs.stream_closer import StreamCloser
from .jobs.timing_grid import TimingGrid
from .stores.datasets import DataSets
from .stores.people import Members
from .stores.receipts import Receipts
from .stores.store import ServiceStore, open_store


@frozen
class State:
    """Components of a running worker process.

    `turns` limits the requests that one user has in progress. `grid` has the ticks at which answers
    are sent.
    """

    config: Config
    store: ServiceStore
    datasets: DataSets
    people: Members
    sessions: Sessions
    limits: Limits
    turns: ConcurrencyLimit
    log: Log
    grid: TimingGrid
    jobs: JobScheduler
    planning_pool: PlanningPool
    streams: StreamCloser
    receipts: Receipts
    metrics: Metrics
    provider: Provider | None

    def close(self) -> None:
        """Wait for running jobs for `drain_seconds`, release the others, and end planning workers.

        Data sets and store are closed only if all jobs have ended.
        """
        self.streams.stop()
        finished = self.jobs.stop(self.config.drain_seconds)
        self.planning_pool.close()
        # A job that outlives the drain still uses its engine, ledger and store until the process ends.
        if finished:
            self.datasets.close()
            self.store.close()


def open_state(config: Config) -> State:
    """Open store, ledgers, schemas and sources of a configuration; a new store or ledger is made.

    Refuses: a missing schema or source, and a store or ledger that cannot be opened, before the
    first request comes in.
    """
    provider = open_provider(config)
    datasets = DataSets(config)
    store = open_store(config.store)
    people = Members(store)
    log = Log(config.log)
    grid = TimingGrid(config.grid)
    receipts = Receipts(store)
    for name in datasets.names:
        if datasets.told(name):
            log.write("source unreadable, the last good store answers", dataset=name, status=500)
    metrics = Metrics()
    return State(
        config=config,
        store=store,
        datasets=datasets,
        people=people,
        sessions=Sessions(store, people, config.session_hours),
        limits=Limits(config.bounds),
        turns=ConcurrencyLimit(config.bounds.jobs_per_person),
        log=log,
        grid=grid,
        jobs=JobScheduler(
            store,
            config,
            datasets=datasets,
            grid=grid,
            log=log,
            receipts=receipts,
            metrics=metrics,
        ),
        planning_pool=PlanningPool(config, datasets, log),
        streams=StreamCloser(datasets, log, config.catch_up),
        receipts=receipts,
        metrics=metrics,
        provider=provider,
    )
