"""What every mechanism is: it does something, it costs something, it misses by something."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from ..privacy.events import Event


@runtime_checkable
class Mechanism(Protocol):
    """Name the three faces that stand together in one file.

    `release` adds the noise (`bits=None` means secure bits), `event` says what was done so that it can be priced,
    `error` bounds how far off one release is, with probability 1 − β. `discreet.testing.check_mechanism` checks that
    the three belong together, for the mechanisms here and for your own.

    >>> from discreet.mechanisms import Mechanism
    >>> from discreet.mechanisms.additive.laplace import Laplace
    >>> isinstance(Laplace(scale=2, sensitivity=1), Mechanism)
    True
    """

    @property
    def event(self) -> Event:
        """What one release does, to be priced."""
        ...

    def release(self, value: Any, /) -> Any:  # noqa: ANN401 - each mechanism says what it takes
        """Return the private answer."""
        ...

    def error(self, beta: float = 0.05, /) -> float:
        """Bound the miss of one release, with probability 1 − β."""
        ...
