"""A program on the command line as something to audit: one run is one call, its output is what it prints."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Callable

from ..errors import InvalidArgument
from .runs import Raised

__all__ = ["command_run"]


def command_run(template: str, *, timeout: float = 60.0) -> Callable[..., object]:
    """Make a runnable of a command with `{input}` in it; with `{size}` too, one call prints one output a line.

    No shell is involved. An output is read as JSON if it is JSON, else as text; a failing exit code and the last line
    of the error stream are an output too (they are seen, so they may leak).

    >>> command_run("echo {input}")(7), command_run("echo {input}")("north")
    (7, 'north')

    Refuses a command without `{input}`.
    """
    words = shlex.split(template)
    if not any("{input}" in word for word in words):
        raise InvalidArgument('the command must contain {input}, where the input goes: "prog --value {input}"')

    def call(value: object, size: int | None = None) -> subprocess.CompletedProcess[str]:
        filled = [w.replace("{input}", str(value)).replace("{size}", str(size)) for w in words]
        return subprocess.run(filled, capture_output=True, text=True, timeout=timeout, check=False)  # noqa: S603

    def once(value: object) -> object:
        return _output(call(value))

    def many(value: object, size: int) -> list[object]:
        done = call(value, size)
        if done.returncode:
            raise InvalidArgument(f"the command failed with exit code {done.returncode}: {_last(done.stderr)}")
        return [_read(line) for line in done.stdout.splitlines()]

    return many if any("{size}" in word for word in words) else once


def _output(done: subprocess.CompletedProcess[str]) -> object:
    if done.returncode:
        return Raised(f"exit {done.returncode}", _last(done.stderr))
    return _read(done.stdout)


def _last(text: str) -> str:
    return text.strip().rpartition("\n")[2][:200]


def _read(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text.strip()
