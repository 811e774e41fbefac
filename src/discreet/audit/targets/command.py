"""A program on the command line as something to audit: one run is one call, its output is what it prints."""

from __future__ import annotations

import csv
import json
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from ...errors import InvalidArgument
from ...frozen import frozen
from .runs import NotARun, Raised


@frozen(repr=False)
class TableFile:
    """A CSV file with a header as an input: its name goes into the command, its rows are checked to be neighbours."""

    path: str

    def __str__(self) -> str:
        return self.path

    def __repr__(self) -> str:
        return self.path

    def to_dicts(self) -> list[dict[str, str]]:
        """Read the rows.

        Refuses what is no file of text.
        """
        try:
            with Path(self.path).open(newline="", encoding="utf-8") as file:
                return list(csv.DictReader(file))
        except (OSError, UnicodeDecodeError, csv.Error):
            raise InvalidArgument(
                f"{self.path} cannot be read as a CSV file, so neighbours cannot be checked"
            ) from None


def command_run(template: str, *, timeout: float = 60.0) -> Callable[..., object]:
    """Make a runnable of a command with `{input}` in it; with `{size}` too, one call prints one output a line.

    No shell is involved. An output is read as JSON if it is JSON, else as text; a failing exit code and the last line
    of the error stream are an output too (they are seen, so they may leak).

    >>> from discreet.audit import command_run
    >>> command_run("echo {input}")(7), command_run("echo {input}")("north")
    (7, 'north')

    Refuses a command without `{input}`, and a program that does not exist.
    """
    words = _words(template)
    if not any("{input}" in word for word in words):
        raise InvalidArgument(
            'the command must contain {input}, where the input goes: "prog --value {input}"'
        )

    def call(value: object, size: int | None = None) -> subprocess.CompletedProcess[str]:
        filled = [w.replace("{input}", str(value)).replace("{size}", str(size)) for w in words]
        try:
            return subprocess.run(
                filled, capture_output=True, text=True, timeout=timeout, check=False
            )
        except OSError as error:
            raise NotARun(f"the command cannot be run: {error.strerror}") from None

    def once(value: object) -> object:
        try:
            return _output(call(value))
        except (
            subprocess.TimeoutExpired
        ):  # its words would tell the input, which the program did not
            return Raised("timeout", f"no answer in {timeout:g} seconds")

    def many(value: object, size: int) -> list[object]:
        done = call(value, size)
        if done.returncode:
            raise InvalidArgument(
                f"the command failed with exit code {done.returncode}: {_last(done.stderr)}"
            )
        return [_read(line) for line in done.stdout.splitlines()]

    return many if any("{size}" in word for word in words) else once


def _words(template: str) -> list[str]:
    try:
        words = shlex.split(template)
    except ValueError as error:
        raise InvalidArgument(f"the command cannot be read: {error}") from None
    if words and "{" not in words[0] and shutil.which(words[0]) is None:
        raise InvalidArgument(f"there is no program {words[0]!r} to run; give its path")
    return words


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
