"""A progress bar for a long query, and its cancellation by Ctrl-C; the query runs in a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from rich.progress import Progress

T = TypeVar("T")


def watch(
    run: Callable[[], T],
    percent: Callable[[], float],
    stop: Callable[[], object],
    what: str = "adding up",
) -> T:
    """Run a query and show how far it is: `percent` is not above 0 while unknown; `stop` cancels.

    A spinner and the seconds move in any case: some plans do not let a store say how far it is.

    Ctrl-C cancels, and is raised when the query has ended, so that nothing of it still runs.

    >>> from discreet.engines.progress import watch
    >>> watch(lambda: 42, lambda: 50.0, lambda: None)
    42
    """
    found: list[T] = []
    raised: list[BaseException] = []
    stopping, ended = threading.Event(), threading.Event()

    def work() -> None:
        try:
            if not stopping.is_set():
                found.append(run())
        except BaseException as refusal:  # noqa: BLE001
            raised.append(refusal)
        finally:
            ended.set()

    thread = threading.Thread(target=work, daemon=True)
    with _bar() as bar:
        task = bar.add_task(what, total=None)
        try:
            thread.start()
            while not ended.wait(
                0.1
            ):  # not join: up to Python 3.12 an interrupted one takes the thread to have ended
                done = percent()
                bar.update(task, completed=max(0.0, done), total=None if done <= 0 else 100.0)
        except KeyboardInterrupt:
            stopping.set()
            stop()
            while thread.is_alive() and not ended.wait(0.1):
                stop()  # again: the query may not have begun when it was stopped
            raise
    if raised:
        raise raised[0]
    return found[0]


def _bar() -> Progress:
    """Return a bar for a terminal; where there is none nothing is drawn."""
    from rich import console, progress

    screen, words = console.Console(stderr=True), progress.TextColumn("{task.description}")
    columns = progress.SpinnerColumn(), words, progress.BarColumn(), progress.TaskProgressColumn()
    clock = progress.TimeElapsedColumn()
    return progress.Progress(
        *columns, clock, console=screen, transient=True, disable=not screen.is_terminal
    )
