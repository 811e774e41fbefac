"""What a check found: the laws that held, and the laws that could not be checked, with the reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from ..errors import ClaimRefuted
from ..frozen import frozen

Law: TypeAlias = Callable[[], str | None]
"""One law: raises ClaimRefuted if it fails, returns None if it held, or says why it was not checked."""


@frozen
class Findings:
    """Name the laws of one mechanism that held, and those not checked; a law that fails raises instead.

    >>> from discreet.testing import Findings
    >>> print(Findings("selection", ("price",), (("pickling", "it refuses to be copied"),)))
    selection: price held
    not checked: pickling (it refuses to be copied)
    """

    kind: str
    held: tuple[str, ...]
    unchecked: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        rows = [f"{self.kind}: {', '.join(self.held)} held"]
        return "\n".join(
            rows + [f"not checked: {law} ({reason})" for law, reason in self.unchecked]
        )


def find(kind: str, laws: Mapping[str, Law]) -> Findings:
    """Check laws in order; the first that fails raises ClaimRefuted.

    >>> from discreet.testing.findings import find
    >>> find("yours", {"price": lambda: None, "loss": lambda: "no law is told"}).unchecked
    (('loss', 'no law is told'),)
    """
    reasons = {name: law() for name, law in laws.items()}
    held = tuple(name for name, reason in reasons.items() if reason is None)
    return Findings(
        kind, held, tuple((name, reason) for name, reason in reasons.items() if reason is not None)
    )


def refute(holds: object, text: str) -> None:
    """Raise ClaimRefuted unless a law holds."""
    if not holds:
        raise ClaimRefuted(text)
