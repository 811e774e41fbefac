"""Protocol of a mechanism: its private answer, the event that prices it, and its error bound."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from ..privacy.events import Event


@runtime_checkable
class Mechanism(Protocol):
    """Protocol of a mechanism; a class implements its members in one file.

    | member | meaning |
    |---|---|
    | `release` | the private answer; `bits=None` means secure random bits |
    | `event` | the law that was drawn, to be priced by an accountant |
    | `error` | a bound on the error of one release, with probability 1 − β |

    Where the error depends on more, `error` asks for it: the number of candidates, of queries or of
    people. `SmoothQuantile` and `SmoothTrimmedMean` have none but `error_on(values)`.

    `discreet.testing.check_mechanism` tests that the three agree, also for mechanisms of your own.

    >>> from discreet.mechanisms import Mechanism
    >>> from discreet.mechanisms.additive.laplace import Laplace
    >>> isinstance(Laplace(scale=2, sensitivity=1), Mechanism)
    True

    Guarantee: one release costs at most the price of `event`, and misses by more than `error(beta)`
    with probability at most β.
    Law: tests/mechanisms/test_check_mechanism.py::test_the_mechanisms_of_this_room_pass
    """

    @property
    def event(self) -> Event:
        """The event to be priced: the law of one release."""
        ...

    def release(self, value: Any, /) -> Any:  # noqa: ANN401 - each mechanism says what it takes
        """Return the private answer."""
        ...

    def error(self, beta: float = 0.05, /) -> float:
        """Bound the error of one release, with probability 1 − β."""
        ...
