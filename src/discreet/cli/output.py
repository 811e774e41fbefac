"""Output of commands: text as wide as the terminal, JSON, table files by suffix, pictures.

`-` stands for standard output. `check_out`, `check_file` and `check_picture` refuse a path that
cannot be written, for commands to call before they spend.
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
from ..plan.asked.terms import DEFAULT_LEVEL
from ..wire.reply import answer_reply

if TYPE_CHECKING:
    from ..answer.answer import Answer

STANDARD = Path("-")
PICTURES = (".png", ".svg", ".pdf")
TABLES = (".csv", ".json", ".parquet", ".arrow", ".md", ".html")
# Tables are unreadable in fewer columns: long lines wrap instead.
_MIN_WIDTH = 40


def echo(value: object, reply: object, *, as_json: bool) -> None:
    """Print a value as text, within the terminal's width where it can wrap, or `reply` as JSON."""
    if as_json:
        typer.echo(_json(reply))
        return
    to_text = getattr(value, "to_text", None)
    if to_text is None:
        typer.echo(str(value))
    else:
        typer.echo(to_text(terminal_width()))


def _json(reply: object) -> str:
    return json.dumps(reply, ensure_ascii=False, indent=2, default=str)


def terminal_width() -> int | None:
    """Return the width of a line: COLUMNS, else the terminal's width; None for a file or a pipe."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) > 0:
        return max(_MIN_WIDTH, int(columns))
    if sys.stdout.isatty():
        return max(_MIN_WIDTH, shutil.get_terminal_size().columns)
    return None


def read_text(argument: str, what: str) -> str:
    """Return an argument, or the contents of standard input for `-`.

    Refuses: standard input that is empty or no text, by `InvalidArgument`.
    """
    if argument != "-":
        return argument
    try:
        text = sys.stdin.read()
    except (OSError, UnicodeDecodeError):
        text = ""
    if not text.strip():
        raise InvalidArgument(
            f"{what} was to come from standard input, which has none; pipe it in, or write it out"
        )
    return text


def write_text(path: Path, text: str) -> None:
    """Write text to a file or to standard output; refuse a path that cannot be written."""
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
    _check_writable(path)


def check_file(path: Path | None) -> None:
    """Refuse a file of any kind that could not be written, before anything is spent."""
    if path is not None and path != STANDARD:
        _check_writable(path)


def _check_writable(path: Path) -> None:
    # A new file needs a folder that can be written.
    target = path if path.exists() else path.parent
    if path.is_dir() or not os.access(target, os.W_OK):
        raise _unwritable(path)


def write_answer(answer: Answer, path: Path, level: float) -> None:
    """Write the table of an answer in the format of the path's suffix; `-` is CSV.

    CSV, JSON, Parquet and Arrow have every digit and the ends of intervals. In Markdown and HTML
    numbers are rounded to their error. Refuses: a path that cannot be written.
    """
    suffix = ".csv" if path == STANDARD else path.suffix.lower()
    if suffix in (".parquet", ".arrow"):
        _write_columns(answer, path, level)
    elif suffix == ".csv":
        write_text(path, answer.to_csv(level=level))
    elif suffix == ".json":
        write_text(path, _json(answer_reply(answer, level)) + "\n")
    elif suffix == ".html":
        head = '<!doctype html>\n<meta charset="utf-8">\n<title>Answer</title>\n'
        write_text(path, f"{head}{answer.to_html()}\n")
    else:
        write_text(path, answer.to_markdown())


def _write_columns(answer: Answer, path: Path, level: float) -> None:
    """Write the table of an answer as Parquet or Arrow, by the suffix of the path."""
    table = answer.to_arrow(level)
    try:
        if path.suffix.lower() == ".parquet":
            load("pyarrow.parquet", "tables").write_table(table, path)
        else:
            feather = load("pyarrow.feather", "tables")
            # Uncompressed, so that every reader of Arrow opens it.
            feather.write_feather(table, path, compression="uncompressed")
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
    _check_writable(path)


def write_picture(
    answer: Answer, path: Path, *, level: float = DEFAULT_LEVEL, title: str | None = None
) -> None:
    """Draw the first statistic of an answer with its error bars."""
    # A backend without a display: commands run on servers too.
    load("matplotlib", "plot").use("Agg")
    plt = load("matplotlib.pyplot", "plot")
    figure = answer.plot(level=level, title=title).get_figure()
    try:
        figure.savefig(path, bbox_inches="tight", dpi=150)  # type: ignore[union-attr]
    except OSError:
        raise _unwritable(path) from None
    finally:
        plt.close(figure)
