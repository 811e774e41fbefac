"""Put a built site beside those of earlier releases: `versions.py site folder 0.2.0`. Every one keeps its own."""

from __future__ import annotations

import json
import re
import shutil
import sys
from html import escape
from pathlib import Path

HEAD = '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>discreet by release</title></head><body>'


def publish(built: Path, folder: Path, version: str) -> None:
    """Copy a built site to its version's folder, and list all versions, the newest first."""
    if not re.fullmatch(r"\d+(\.\d+)*[a-z0-9.]*", version):
        raise SystemExit(f"{version!r} is no version; give one such as 0.2.0")
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copytree(built, folder / version, dirs_exist_ok=True)
    found = sorted(
        (path.parent.name for path in folder.glob("*/index.html")), key=_order, reverse=True
    )
    listed = [
        {"version": name, "title": name, "aliases": ["latest"] if name == found[0] else []}
        for name in found
    ]
    (folder / "versions.json").write_text(json.dumps(listed, indent=2) + "\n", encoding="utf-8")
    links = "".join(
        f'<li><a href="{escape(name)}/index.html">{escape(name)}</a></li>' for name in found
    )
    page = f"{HEAD}<h1>Documents by release</h1><ul>{links}</ul></body></html>\n"
    (folder / "index.html").write_text(page, encoding="utf-8")


def _order(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)]


if __name__ == "__main__":
    publish(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
