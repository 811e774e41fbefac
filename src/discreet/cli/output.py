"""What a command writes: text as wide as the terminal, JSON, tables by the suffix of their file, pictures.

`-` stands for standard output. What cannot be written is refused before anything is spent.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ..errors import InvalidArgument
from ..optional import load
from ..wire.reply import answer_reply

if TYPE_CHECKING:
    from ..answer.answer import Answer

STANDARD = Path("-")
PICTURES = (".png", ".svg", ".pdf")
TABLES = (".csv", ".json", ".parquet", ".arrow", ".md", ".html")
_NARROWEST = 40


def echo(value: object, reply: object, *, as_json: bool) -> None:
    """Show a value as it shows itself, within the terminal's width if it can, or its JSON."""
    if as_json:
        typer.echo(_json(reply))
        return
    lay_out = getattr(value, "to_text", None)
    typer.echo(str(value) if lay_out is None else lay_out(terminal_width()))


def _json(reply: object) -> str:
    return json.dumps(reply, ensure_ascii=False, indent=2, default=str)


def terminal_width() -> int | None:
    """Return how wide a line may be: what COLUMNS says, else the terminal's width; None for a file or a pipe."""
    said = os.environ.get("COLUMNS", "")
    if said.isdecimal() and int(said) > 0:
        return max(_NARROWEST, int(said))
    return max(_NARROWEST, shutil.get_terminal_size().columns) if sys.stdout.isatty() else None


def read_text(words: str, what: str) -> str:
    """Return words; `-` stands for what standard input holds.

    Refuses standard input that is empty or no text.
    """
    if words != "-":
        return words
    try:
        found = sys.stdin.read()
    except (OSError, UnicodeDecodeError):
        found = ""
    if not found.strip():
        raise InvalidArgument(
            f"{what} was to come from standard input, which has none; pipe it in, or write it out"
        )
    return found


def write_text(path: Path, text: str) -> None:
    """Write a file, or to standard output; a place that cannot be written is refused."""
    if path == STANDARD:
        typer.echo(text, nl=not text.endswith("\n"))
        return
    try:
        path.write_text(text, encoding="utf-8")
    except OSError:
        raise _unwritable(path) from None


def _unwritable(path: Path) -> InvalidArgument:
    return InvalidArgument(
        f"{path} cannot be written; give a path in a folder that exists and is yours"
    )


def check_out(path: Path | None, *, as_json: bool) -> None:
    """Refuse a table that could not be written, before anything is spent."""
    if path is None:
        return
    if path == STANDARD:
        if as_json:
            raise InvalidArgument(
                "--json writes to standard output already; leave out --out -, or --json for CSV"
            )
        return
    if path.suffix.lower() not in TABLES:
        raise InvalidArgument(
            f"{path} is no table this writes; name it {', '.join(TABLES[:-1])} or {TABLES[-1]}"
        )
    if path.suffix.lower() in (".parquet", ".arrow"):
        load("pyarrow", "tables")
    _check_place(path)


def _check_place(path: Path) -> None:
    there = path if path.exists() else path.parent
    if path.is_dir() or not os.access(there, os.W_OK):
        raise _unwritable(path)


def write_answer(answer: Answer, path: Path, level: float) -> None:
    """Write a table with every digit and the ends of its intervals; Markdown and HTML are for people, so rounded."""
    suffix = ".csv" if path == STANDARD else path.suffix.lower()
    if suffix in (".parquet", ".arrow"):
        _write_columns(answer, path, level)
    elif suffix == ".csv":
        write_text(path, answer.to_csv(level=level))
    elif suffix == ".json":
        write_text(path, _json(answer_reply(answer, level)) + "\n")
    else:
        page = (
            f'<!doctype html>\n<meta charset="utf-8">\n<title>Answer</title>\n{answer.to_html()}\n'
        )
        write_text(path, page if suffix == ".html" else answer.to_markdown())


def _write_columns(answer: Answer, path: Path, level: float) -> None:
    table = answer.to_arrow(level)
    try:
        if path.suffix.lower() == ".parquet":
            load("pyarrow.parquet", "tables").write_table(table, path)
        else:
            load("pyarrow.feather", "tables").write_feather(table, path, compression="uncompressed")
    except OSError:
        raise _unwritable(path) from None


def can_draw() -> bool:
    """Return whether pictures can be drawn at all."""
    return find_spec("matplotlib") is not None


def check_picture(path: Path | None) -> None:
    """Refuse a picture that could not be drawn, before anything is spent."""
    if path is None:
        return
    if path.suffix.lower() not in PICTURES:
        raise InvalidArgument(f"{path} is no picture; name it .png, .svg or .pdf")
    if not can_draw():
        raise InvalidArgument("pictures need matplotlib: pip install 'discreet[plot]'")
    _check_place(path)


def write_picture(
    answer: Answer, path: Path, *, level: float = 0.95, title: str | None = None
) -> None:
    """Draw the first statistic of an answer with its error bars."""
    load("matplotlib", "plot").use("Agg")
    plt = load("matplotlib.pyplot", "plot")
    figure = answer.plot(level=level, title=title).get_figure()
    try:
        figure.savefig(path, bbox_inches="tight", dpi=150)  # type: ignore[union-attr]
    except OSError:
        raise _unwritable(path) from None
    finally:
        plt.close(figure)
