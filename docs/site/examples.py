"""Fence the examples of docstrings, so that the reference shows what is typed and what is printed as code."""

from __future__ import annotations

import griffe

__all__ = ["Examples", "fenced"]


def fenced(text: str) -> str:
    """Put every run of lines from `>>>` to the next empty one between fences."""
    lines: list[str] = []
    inside = False
    for line in text.splitlines():
        if line.startswith(">>>") and not inside:
            lines.append("```pycon")
            inside = True
        if inside and not line.strip():
            lines.append("```")
            inside = False
        lines.append(line)
    return "\n".join([*lines, "```"] if inside else lines)


class Examples(griffe.Extension):
    """Fences the docstring of every object that is read."""

    def on_object(self, *, obj: griffe.Object, **_: object) -> None:
        """Change the docstring of one object."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)
