"""References run outside coverage: to trace thousands of calls of mpmath takes as long as they take, and proves nothing."""

from __future__ import annotations

import sys
from functools import wraps


def untraced(reference):
    """Return a reference that is not traced, wherever it is called from."""

    @wraps(reference)
    def run(*arguments, **named):
        tracer = sys.gettrace()
        sys.settrace(None)
        try:
            return reference(*arguments, **named)
        finally:
            sys.settrace(tracer)

    return run
