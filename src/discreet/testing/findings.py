"""Findings of a check: the laws that held, and the laws not checked, with the reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from ..errors import ClaimRefuted
from ..frozen import frozen

Law: TypeAlias = Callable[[], str | None]
"""One law: raises ClaimRefuted if it fails, returns None if it held, or why it was not checked."""


@frozen
class Findings:
    """Laws of one mechanism that held, and those not checked; a law that fails raises instead.

    >>> from discreet.testing import Findings
    >>> print(Findings("selection", ("price",), (("pickling", "it refuses to be copied"),)))
    selection: price held
    not checked: pickling (it refuses to be copied)
    """

    kind: str
    held: tuple[str, ...]
    unchecked: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        lines = [f"{self.kind}: {', '.join(self.held)} held"]
        lines.extend(f"not checked: {law} ({reason})" for law, reason in self.unchecked)
        return "\n".join(lines)


def find(kind: str, laws: Mapping[str, Law]) -> Findings:
    """Check laws in order; the first that fails raises ClaimRefuted.

    >>> from discreet.testing.findings import find
    >>> find("yours", {"price": lambda: None, "loss": lambda: "no law is told"}).unchecked
    (('loss', 'no law is told'),)
    """
    held = []
    unchecked = []
    for name, law in laws.items():
        reason = law()
        if reason is None:
            held.append(name)
        else:
            unchecked.append((name, reason))
    return Findings(kind, tuple(held), tuple(unchecked))


def refute(holds: object, text: str) -> None:
    """Raise ClaimRefuted unless a law holds."""
    if not holds:
        raise ClaimRefuted(text)
