"""Failpoints for fault injection: named points before, within and after every durable step.

The program calls `passed` with the name of the point; normally that does nothing. Tests replace
`passed` to kill the process, or to stop one thread, exactly at such a point.

| failpoint | state of the ledger |
|---|---|
| `charge:before`, `finish:before`, … | nothing has been written |
| `charge:written`, `finish:written`, … | written, not yet durable |
| `charge:after`, `finish:after`, … | durable, not yet told to the caller |
| `run:before`, `run:after` | charge durable; the curator is about to run, or has run, the query |

Law:
tests/ledger/test_kill.py::test_a_death_at_any_point_never_lets_an_answer_out_without_its_charge
"""

from __future__ import annotations


def passed(step: str) -> None:
    """Do nothing; a test in a child process replaces this function by one that kills the process.

    >>> from discreet.ledger.failpoints import passed
    >>> passed("charge:before")
    """
