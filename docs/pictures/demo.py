"""Draw docs/pictures/demo.svg: what `make demo` shows, as a picture of the terminal."""

from __future__ import annotations

import io
import re
import tempfile
from pathlib import Path

from rich.console import Console

from discreet.cli.commands.demo import show

console = Console(record=True, width=104, file=io.StringIO())
with tempfile.TemporaryDirectory() as folder:
    show("2", console, Path(folder))
drawn = console.export_svg(title="make demo")
drawn = re.sub(r"@font-face \{.*?\}", "", drawn, flags=re.DOTALL)  # no font from outside
Path(__file__).with_suffix(".svg").write_text(drawn, encoding="utf-8")
