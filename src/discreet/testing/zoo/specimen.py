"""Specimen for tests of auditors: a mechanism, its claim, two inputs, and whether it is broken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...frozen import frozen
from ...privacy.measures import Measure, PureDP


@frozen
class Specimen:
    """Mechanism with a claim, and a pair of neighbouring inputs on which to audit it.

    `run(input, size=n)` gives n outputs (without `size` where outputs are exceptions). `samples`
    runs on each input are enough to refute a broken one, and a fair trial of a sound one. `assume`
    is the auditor's assumption where runs alone cannot refute the claim. `why` says why the
    mechanism is broken or sound, `neighbours` is the relation of the inputs.

    Law: `tests/audit/test_zoo.py::test_broken_ones_are_refuted`
    Law: `tests/audit/test_zoo.py::test_sound_ones_are_not`
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

    @classmethod
    def of(
        cls,
        run: Callable[..., object],
        inputs: tuple[object, object],
        why: str,
        *,
        name: str = "",
        claim: Measure = PureDP(1),  # noqa: B008 a frozen value
        broken: bool = False,
        **trial: Any,  # noqa: ANN401
    ) -> Specimen:
        """Make a specimen with the name of its function; `trial` are samples, neighbours, assume."""
        return cls(name or run.__name__, run, claim, inputs, broken, why, **trial)
