"""Many processes at one ledger: forked from a warm parent, each reports through a pipe and ends without clean-up."""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback

from support.fork import fork


def forked(work):
    """Run `work(say)` in a child, where say(word) reports; give its process and what it will have said."""
    out, into = os.pipe()
    child = fork()
    if child:
        os.close(into)
        return child, out
    os.close(out)

    def say(word):
        os.write(into, (json.dumps(word) + "\n").encode())

    code = 1
    try:
        work(say)
        code = 0
    except BaseException:  # noqa: BLE001 a child must not return into the parent's tests
        traceback.print_exc(file=sys.stderr)
    finally:
        os._exit(code)


def heard(child, out):
    """Wait for a child; give what it said, and how it ended: 0, or minus the signal."""
    with os.fdopen(out) as pipe:
        words = [json.loads(line) for line in pipe if line.endswith("\n")]
    _, status = os.waitpid(child, 0)
    return words, os.waitstatus_to_exitcode(status)


def die(*_):
    """End at once, as if the power was cut."""
    os.kill(os.getpid(), signal.SIGKILL)
