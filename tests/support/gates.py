"""After a run: how many branches of the rooms that promise were taken; a room below its floor is shown and fails.

python tests/support/gates.py
"""

from __future__ import annotations

import sys
from io import StringIO

import coverage

FLOORS = {
    "arithmetic": 99.9,
    "noise": 100.0,
    "privacy": 99.8,
    "mechanisms": 99.7,
    "query": 99.0,
    "statistics": 92.0,
}
"""Per cent of lines and branches, by room."""


def main() -> int:
    """Print a line a room, the lines that were missed in those below their floor, and give the exit code."""
    measured = coverage.Coverage()
    measured.load()
    low = False
    for room, floor in FLOORS.items():
        told = StringIO()
        found = measured.report(include=f"src/discreet/{room}/*", file=told)
        missed = round(found, 1) < floor or (floor == 100 and found < 100)
        sys.stdout.write(f"coverage of {room}: {found:.2f} %, at least {floor} %\n")
        sys.stdout.write(told.getvalue() if missed else "")
        low |= missed
    return int(low)


if __name__ == "__main__":
    sys.exit(main())
