"""One animal of the zoo: a mechanism, what it claims, where to look, and whether it lies."""

from __future__ import annotations

from collections.abc import Callable

from ...frozen import frozen
from ...privacy.measures import Measure


@frozen
class Specimen:
    """A mechanism with a claim. `run(input, size=n)` gives n outputs (without `size` where outputs are exceptions).

    `samples` runs on each input are enough to refute it if it is broken, and a fair trial if it is sound. `assume` is
    what the auditor must be told where no black box can see far enough.
    """

    name: str
    run: Callable[..., object]
    claim: Measure
    inputs: tuple[object, object]
    broken: bool
    why: str
    samples: int = 20_000
    neighbours: str | None = None
    assume: str | None = None
