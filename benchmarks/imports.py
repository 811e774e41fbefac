"""What `import discreet` costs, as a multiple of `import numpy`: fresh interpreters in turn, median CPU time."""

from __future__ import annotations

import statistics
import subprocess
import sys

PROBE = "import time; t = time.process_time(); import {0}; print(time.process_time() - t)"
MODULES = ("numpy", "discreet", "discreet.noise", "discreet.privacy", "discreet.mechanisms")


def cost(module: str) -> float:
    return float(
        subprocess.run(
            [sys.executable, "-c", PROBE.format(module)], capture_output=True, check=True
        ).stdout
    )


def main(repeats: int = 15) -> None:
    times: dict[str, list[float]] = {module: [] for module in MODULES}
    for _ in range(repeats):
        for module in MODULES:
            times[module].append(cost(module))
    numpy = statistics.median(times["numpy"])
    print("import cost (median of fresh interpreters)\n")
    for module in MODULES:
        seconds = statistics.median(times[module])
        print(f"  {module:22} {1000 * seconds:7.1f} ms   {seconds / numpy:5.2f} x numpy")


if __name__ == "__main__":
    main()
