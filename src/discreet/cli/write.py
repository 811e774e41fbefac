"""What a command writes: JSON to the terminal, text and pictures to files."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ..errors import InvalidArgument
from ..optional import load

if TYPE_CHECKING:
    from ..answer.answer import Answer

__all__ = ["can_draw", "check_picture", "echo", "write_picture", "write_text"]

PICTURES = (".png", ".svg", ".pdf")


def echo(value: object, reply: object, *, as_json: bool) -> None:
    """Show a value as it shows itself, or its JSON."""
    typer.echo(json.dumps(reply, ensure_ascii=False, indent=2, default=str) if as_json else str(value))


def write_text(path: Path, text: str) -> None:
    """Write a file; a place that cannot be written is refused."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError:
        raise InvalidArgument(f"{path} cannot be written; give a path in a folder that exists and is yours") from None


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


def write_picture(answer: Answer, path: Path, *, level: float = 0.95, title: str | None = None) -> None:
    """Draw the first statistic of an answer with its error bars."""
    load("matplotlib", "plot").use("Agg")
    plt = load("matplotlib.pyplot", "plot")
    axes = answer.plot(level=level)
    if title is not None:
        axes.set_title(title, loc="left")
    figure = axes.get_figure()
    try:
        figure.savefig(path, bbox_inches="tight", dpi=150)  # type: ignore[union-attr]
    except OSError:
        raise InvalidArgument(f"{path} cannot be written; give a path in a folder that exists and is yours") from None
    finally:
        plt.close(figure)
