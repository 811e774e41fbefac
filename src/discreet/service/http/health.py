"""Whether a worker is well: its threads go on, its store lets itself be read and written, its disks have room.

Asked without a token and answered without waiting for anything: what is told was found out by the keeper a moment ago.
It tells nothing about data or people, and does not say which disk.
"""

from __future__ import annotations

import os
from importlib.metadata import version
from pathlib import Path

from ...connection import is_server
from ..config import Config
from ..state import State

LEAST = 16 << 20
"""Bytes that must be free wherever the service writes."""


def health_of(state: State) -> tuple[dict[str, object], int]:
    """Return what is well and what is not, and the status: 200 only if all is."""
    parts = state.jobs.well() | {
        "desk": state.desk.well(),
        "disk": has_room(state.config),
        "log": state.log.well,
    }
    well = all(parts.values())
    words = {name: "ok" if good else "failing" for name, good in parts.items()}
    return {
        "status": "ok" if well else "failing",
        "version": version("discreet"),
        **words,
    }, 200 if well else 503


def has_room(config: Config) -> bool:
    """Return whether every folder that the service writes to can be written and has some megabytes left."""
    places = [config.store, config.log, *(one.ledger for one in config.datasets.values())]
    folders = {
        Path(place).parent
        for place in places
        if place and place != ":memory:" and not is_server(place)
    }
    return all(map(_writable, folders))


def _writable(folder: Path) -> bool:
    try:
        found = os.statvfs(folder)
    except OSError:
        return False
    return found.f_bavail * found.f_frsize >= LEAST and os.access(folder, os.W_OK)
