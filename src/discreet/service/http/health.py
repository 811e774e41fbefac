"""Health check of a worker: threads, store, ledgers, planning pool, audit log and free disk space.

Needs no token and waits for no server: other threads have probed store and ledgers a moment ago.
The reply tells nothing about data or users, and does not name a disk.
"""

from __future__ import annotations

import os
from importlib.metadata import version
from pathlib import Path

from ...connection import is_server
from ...json_shape import JsonObject
from ..config import Config
from ..state import State

MIN_FREE_BYTES = 16 << 20
"""Bytes that must be free in the folders of store, audit log and ledgers."""


def health_of(state: State) -> tuple[JsonObject, int]:
    """Return the state of each component, and the HTTP status: 200 if all work, else 503."""
    components = state.jobs.well()
    components["desk"] = state.planning_pool.well()
    components["disk"] = _disks_have_space(state.config)
    components["log"] = state.log.well
    well = all(components.values())
    reply: JsonObject = {"status": _status_text(well), "version": version("discreet")}
    for name, works in components.items():
        reply[name] = _status_text(works)
    return reply, 200 if well else 503


def _status_text(works: bool) -> str:
    return "ok" if works else "failing"


def _disks_have_space(config: Config) -> bool:
    """Return whether the folders of store, audit log and ledgers can be written and have space."""
    files = [config.store, config.log]
    files += [dataset.ledger for dataset in config.datasets.values()]
    folders = set()
    for file in files:
        on_disk = file and file != ":memory:" and not is_server(file)
        if on_disk:
            folders.add(Path(file).parent)
    return all(_has_space(folder) for folder in folders)


def _has_space(folder: Path) -> bool:
    """Return whether a folder can be written and its disk has MIN_FREE_BYTES free."""
    try:
        disk = os.statvfs(folder)
    except OSError:
        return False
    # f_bavail and not f_bfree: the blocks that only root may use do not count.
    free = disk.f_bavail * disk.f_frsize
    return free >= MIN_FREE_BYTES and os.access(folder, os.W_OK)
