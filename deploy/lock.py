"""Write the lists of the image with their hashes: python deploy/lock.py, with any pip of the release.

For both processors that the image is built for, under Python 3.11. No address of an index is written.
"""

import json
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
PLATFORMS = ("manylinux_2_28_x86_64", "manylinux_2_28_aarch64")
EXTRAS = ("service", "postgres", "sign", "parquet")
LISTS = {"requirements.txt": None, "build-requirements.txt": ["hatchling>=1.27"]}


def resolve(wanted, platform):
    """Return names with versions and the hash of the wheel that pip would install."""
    with tempfile.TemporaryDirectory() as folder:
        older = platform.replace("2_28", "2_17"), platform.replace("_2_28_", "2014_")
        command = [
            sys.executable,
            "-m",
            "pip",
            "install",
            "--dry-run",
            "--quiet",
            "--ignore-installed",
        ]
        command += ["--only-binary=:all:", "--python-version=3.11", f"--target={folder}"]
        command += [f"--platform={name}" for name in (platform, *older)]
        command += [
            f"--report={folder}/report.json",
            f"--constraint={HERE.parent}/constraints.txt",
            *wanted,
        ]
        subprocess.run(command, check=True)
        found = json.loads(Path(folder, "report.json").read_text())
    for item in found["install"]:
        told = item["metadata"]
        yield (
            f"{told['name']}=={told['version']}",
            item["download_info"]["archive_info"]["hashes"]["sha256"],
        )


def main():
    """Read what the project needs and write both lists."""
    project = tomllib.loads((HERE.parent / "pyproject.toml").read_text())["project"]
    needed = list(project["dependencies"])
    for name in EXTRAS:
        needed += project["optional-dependencies"][name]
    for name, wanted in LISTS.items():
        hashes = {}
        for platform in PLATFORMS:
            for package, digest in resolve(wanted or needed, platform):
                hashes.setdefault(package, set()).add(digest)
        lines = ["# Made by deploy/lock.py; do not edit."]
        for package in sorted(hashes, key=str.lower):
            parts = [package, *(f"--hash=sha256:{digest}" for digest in sorted(hashes[package]))]
            lines.append(" \\\n    ".join(parts))
        (HERE / name).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
