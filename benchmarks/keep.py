"""Run a benchmark and keep what it prints under `results/`, from which the site makes its page: `keep.py noise [options]`.

`keep.py --more reuse ranges` adds the lines of this run to those that are kept: for benchmarks that are run in parts.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

HERE = Path(__file__).parent
RESULTS = HERE / "results"


def heading() -> str:
    """Say when and on what it ran; the load is what else the machine had to do."""
    load = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
    day = datetime.now(UTC).date().isoformat()
    return f"{day}, Python {platform.python_version()}, {os.cpu_count()} processors, load {load} before it began"


def main(name: str, options: list[str], mode: str = "w") -> int:
    """Print a benchmark's lines as they come; keep them only if it ended well."""
    lines = [heading() + "\n", "\n"]
    command = [sys.executable, str(HERE / f"{name}.py"), *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8") as running:
        for line in running.stdout or ():
            sys.stdout.write(line)
            sys.stdout.flush()
            lines.append(line)
    if running.returncode == 0:
        RESULTS.mkdir(exist_ok=True)
        with (RESULTS / f"{name}.txt").open(mode, encoding="utf-8") as kept:
            if kept.tell():
                kept.write("\n")
            kept.writelines(lines)
    return running.returncode


if __name__ == "__main__":
    words = sys.argv[1:]
    if words[0] == "--more":
        sys.exit(main(words[1], words[2:], "a"))
    sys.exit(main(words[0], words[1:]))
