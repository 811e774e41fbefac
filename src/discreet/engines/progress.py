"""Progress bar of a long query, and its cancellation by Ctrl-C.

The query runs in a thread of its own, so that the main thread can draw and be interrupted.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from rich.progress import Progress

T = TypeVar("T")
_TICK_SECONDS = 0.1
"""Time between two drawings of the bar."""


def watch(
    run: Callable[[], T],
    percent: Callable[[], float],
    stop: Callable[[], object],
    what: str = "adding up",
) -> T:
    """Run a query and show its progress.

    `percent` is not above 0 while it is unknown; `stop` cancels the query. A spinner and the
    seconds move in any case, since some plans do not let a store tell its progress.

    Ctrl-C cancels, and is raised when the query has ended, so that nothing of it still runs.

    >>> from discreet.engines.progress import watch
    >>> watch(lambda: 42, lambda: 50.0, lambda: None)
    42
    """
    results: list[T] = []
    raised: list[BaseException] = []
    stopping = threading.Event()
    ended = threading.Event()

    def work() -> None:
        try:
            if not stopping.is_set():
                results.append(run())
        except BaseException as refusal:  # noqa: BLE001
            raised.append(refusal)
        finally:
            ended.set()

    thread = threading.Thread(target=work, daemon=True)
    with _bar() as bar:
        task = bar.add_task(what, total=None)
        try:
            thread.start()
            # Not join(): up to Python 3.12 an interrupted join takes the thread to have ended.
            while not ended.wait(_TICK_SECONDS):
                done = percent()
                total = None if done <= 0 else 100.0
                bar.update(task, completed=max(0.0, done), total=total)
        except KeyboardInterrupt:
            # The flag first: a thread that has not begun yet then never begins.
            stopping.set()
            stop()
            while thread.is_alive() and not ended.wait(_TICK_SECONDS):
                # Again, since the query may not have begun when it was stopped.
                stop()
            raise
    if raised:
        raise raised[0]
    return results[0]


def _bar() -> Progress:
    """Return a bar for a terminal; without a terminal nothing is drawn."""
    from rich import console, progress

    screen = console.Console(stderr=True)
    return progress.Progress(
        progress.SpinnerColumn(),
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.TaskProgressColumn(),
        progress.TimeElapsedColumn(),
        console=screen,
        transient=True,
        disable=not screen.is_terminal,
    )
