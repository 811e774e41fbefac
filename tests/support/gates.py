"""Coverage gates: lines and branches covered in each gated package; a package below its floor fails the run.

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
"""Least per cent of lines and branches, by package."""


def main() -> int:
    """Print one line a package and the missed lines of those below their floor; return the exit code."""
    measured = coverage.Coverage()
    measured.load()
    low = False
    for package, floor in FLOORS.items():
        told = StringIO()
        found = measured.report(include=f"src/discreet/{package}/*", file=told)
        missed = round(found, 1) < floor or (floor == 100 and found < 100)
        sys.stdout.write(f"coverage of {package}: {found:.2f} %, at least {floor} %\n")
        sys.stdout.write(told.getvalue() if missed else "")
        low |= missed
    return int(low)


if __name__ == "__main__":
    sys.exit(main())
