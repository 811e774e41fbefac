"""Command-line program as a target: one run is one call, its output is the printed text."""

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
from .runs import NotARun, RaisedOutput


@frozen(repr=False)
class TableFile:
    """CSV file with a header as an input.

    Its name goes into the command, and its rows are checked to be neighbours.
    """

    path: str

    def __str__(self) -> str:
        return self.path

    def __repr__(self) -> str:
        return self.path

    def to_dicts(self) -> list[dict[str, str]]:
        """Read the rows.

        Refuses: `InvalidArgument` for anything but a text file.
        """
        try:
            with Path(self.path).open(newline="", encoding="utf-8") as file:
                return list(csv.DictReader(file))
        except (OSError, UnicodeDecodeError, csv.Error):
            raise InvalidArgument(
                f"{self.path} cannot be read as a CSV file, so neighbours cannot be checked"
            ) from None


def command_run(template: str, *, timeout: float = 60.0) -> Callable[..., object]:
    """Make a runnable of a command that contains `{input}`.

    With `{size}` too, one call prints one output a line. No shell is involved. An output is read as
    JSON if it is JSON, else as text. In single runs a failing exit code with the last line of the
    error stream, or a timeout (in seconds), is an output too: it is visible, so it may leak. With
    `{size}` a failing exit code or a timeout ends the audit by `InvalidArgument`.

    >>> from discreet.audit import command_run
    >>> command_run("echo {input}")(7), command_run("echo {input}")("north")
    (7, 'north')

    Refuses: `InvalidArgument` for a command without `{input}`, and a program that does not exist.
    Law: `tests/audit/test_command.py::test_refuses_a_command_without_input`
    """
    arguments = _arguments(template)
    if not any("{input}" in argument for argument in arguments):
        raise InvalidArgument(
            'the command must contain {input}, where the input goes: "prog --value {input}"'
        )

    def call(value: object, size: int | None = None) -> subprocess.CompletedProcess[str]:
        filled = []
        for argument in arguments:
            with_input = argument.replace("{input}", str(value))
            filled.append(with_input.replace("{size}", str(size)))
        try:
            return subprocess.run(  # noqa: S603
                filled, capture_output=True, text=True, timeout=timeout, check=False
            )
        except OSError as error:
            raise NotARun(f"the command cannot be run: {error.strerror}") from None

    def once(value: object) -> object:
        try:
            return _output(call(value))
        except subprocess.TimeoutExpired:
            # The exception's own text would contain the input, which the program did not show.
            return RaisedOutput("timeout", f"no answer in {timeout:g} seconds")

    def many(value: object, size: int) -> list[object]:
        done = call(value, size)
        if done.returncode:
            raise InvalidArgument(
                f"the command failed with exit code {done.returncode}: {_last_line(done.stderr)}"
            )
        return [_parse(line) for line in done.stdout.splitlines()]

    takes_size = any("{size}" in argument for argument in arguments)
    return many if takes_size else once


def _arguments(template: str) -> list[str]:
    """Split a command into its program and arguments; refuse a program that does not exist."""
    try:
        arguments = shlex.split(template)
    except ValueError as error:
        raise InvalidArgument(f"the command cannot be read: {error}") from None
    if arguments and "{" not in arguments[0] and shutil.which(arguments[0]) is None:
        raise InvalidArgument(f"there is no program {arguments[0]!r} to run; give its path")
    return arguments


def _output(done: subprocess.CompletedProcess[str]) -> object:
    if done.returncode:
        return RaisedOutput(f"exit {done.returncode}", _last_line(done.stderr))
    return _parse(done.stdout)


def _last_line(text: str) -> str:
    last = text.strip().rpartition("\n")[2]
    return last[:200]


def _parse(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text.strip()
