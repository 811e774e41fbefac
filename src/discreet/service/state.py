"""What one worker holds: made once when it starts, read by every request, never changed.

Everything here is safe to use from several threads, and everything that asks the store, the ledger or an engine blocks:
an async route calls it by `starlette.concurrency.run_in_threadpool`.
"""

from __future__ import annotations

from ..frozen import frozen
from .config import Config
from .http.audit_log import Log
from .http.concurrency_limit import ConcurrencyLimit
from .http.metrics import Metrics
from .http.rate_limit import Limits
from .http.session import Sessions
from .jobs.planning_pool import PlanningPool
from .jobs.scheduler import JobScheduler
from .jobs.timing_grid import TimingGrid
from .stores.datasets import DataSets
from .stores.people import Members
from .stores.receipts import Receipts
from .stores.store import ServiceStore, open_store


@frozen
class State:
    """The parts of a running worker."""

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
    desk: PlanningPool
    receipts: Receipts
    metrics: Metrics

    def close(self) -> None:
        """Finish or release the running jobs, then close what is open, unless a job goes on with it to the end."""
        finished = self.jobs.stop(self.config.drain_seconds)
        self.desk.close()
        if finished:
            self.datasets.close()
            self.store.close()


def open_state(config: Config) -> State:
    """Open everything a configuration names; refuses what is missing before the first request comes in."""
    datasets = DataSets(config)
    store = open_store(config.store)
    people, log, grid, receipts = (
        Members(store),
        Log(config.log),
        TimingGrid(config.grid),
        Receipts(store),
    )
    for name in filter(datasets.told, datasets.names):
        log.write("source unreadable, the last good store answers", dataset=name, status=500)
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
        jobs=JobScheduler(store, config, datasets=datasets, grid=grid, log=log, receipts=receipts),
        desk=PlanningPool(config, datasets, log),
        receipts=receipts,
        metrics=Metrics(),
    )
