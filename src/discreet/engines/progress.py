"""A progress bar for a long query, and its cancellation by Ctrl-C; the query runs in a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

__all__ = ["watched"]

T = TypeVar("T")


def watched(run: Callable[[], T], share: Callable[[], float], stop: Callable[[], object]) -> T:
    """Run a query and show how far it is: `share` gives percent, below 0 while unknown; `stop` cancels.

    >>> watched(lambda: 42, lambda: 50.0, lambda: None)
    42
    """
    from rich.console import Console
    from rich.progress import Progress

    found: list[T] = []
    raised: list[BaseException] = []

    def work() -> None:
        try:
            found.append(run())
        except BaseException as refusal:  # noqa: BLE001
            raised.append(refusal)

    thread = threading.Thread(target=work, daemon=True)
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("adding up", total=100.0)
        thread.start()
        try:
            while thread.is_alive():
                thread.join(0.1)
                bar.update(task, completed=max(0.0, share()))
        except KeyboardInterrupt:
            stop()
            thread.join()
            raise
    if raised:
        raise raised[0]
    return found[0]
