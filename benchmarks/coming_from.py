"""Run what the pages "coming from …" show of other libraries, each in the environment that `make bench` makes for it.

    .venv-bench/bin/python benchmarks/coming_from.py

Prints for every page whether its snippet runs; exits with 1 if one does not. A library that is not installed is named.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
HOMES = {
    "opendp": ".venv-bench",
    "diffprivlib": ".venv-bench",
    "tumult": ".venv-bench-tumult",
    "smartnoise": ".venv-bench-smartnoise",
    "pipelinedp": ".venv-bench-pipelinedp",
}
BLOCK = re.compile(r"^```python peer\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def main(homes: dict[str, str]) -> int:
    failed = 0
    for page, home in homes.items():
        python = ROOT / home / "bin" / "python"
        (code,) = BLOCK.findall(
            (ROOT / "docs" / "coming-from" / f"{page}.md").read_text(encoding="utf-8")
        )
        if not python.exists():
            print(f"{page:12} not installed")
            continue
        done = subprocess.run(
            [python, "-W", "ignore", "-c", code], capture_output=True, text=True, check=False
        )
        print(
            f"{page:12} {'runs: ' + done.stdout.strip()[:80] if done.returncode == 0 else done.stderr.strip()[-400:]}"
        )
        failed |= done.returncode
    return int(failed != 0)


if __name__ == "__main__":
    sys.exit(main(HOMES))
