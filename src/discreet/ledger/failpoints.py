"""Where a durable step begins and ends: a test replaces `passed` to stop the process exactly there.

| step | where |
|---|---|
| `charge:before`, `finish:before`, … | nothing has been written |
| `charge:written`, `finish:written`, … | written, not yet durable |
| `charge:after`, `finish:after`, … | durable, not yet told to the caller |
| `run:before`, `run:after` | around the question itself, by the curator |
"""

from __future__ import annotations


def passed(step: str) -> None:
    """Do nothing; a test in a child process puts something deadly here.

    >>> from discreet.ledger.failpoints import passed
    >>> passed("charge:before")
    """
