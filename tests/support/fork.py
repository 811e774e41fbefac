"""A child of a test's process that runs what no thread of its parent is needed for."""

from __future__ import annotations

import gc
import os


def fork() -> int:
    """Fork as `os.fork` does; the child collects no garbage.

    What it would free there are connections of other tests, which wait for threads that only the parent has.
    """
    child = os.fork()
    if child == 0:
        gc.disable()
    return child
