"""Adapter of PipelineDP: additive mechanisms, whose noise is compiled in PyDP."""

from __future__ import annotations

import sys
from typing import Any

from ..loss import laplace_loss, normal_loss
from ..sources import Patches
from ..tape import MechanismCall, code_place, outermost, watched

VERSIONS = ("0.3.1",)


def attach(patches: Patches) -> None:
    """Replace `add_noise` of additive mechanisms."""
    mechanism = sys.modules["pipeline_dp.dp_computations"].AdditiveMechanism
    patches.set(mechanism, "add_noise", _watched(vars(mechanism)["add_noise"]))


def _watched(method: Any) -> Any:  # noqa: ANN401
    """Return `add_noise` as a step of the tape."""

    def add_noise(self: Any, value: Any) -> Any:  # noqa: ANN401
        if not outermost():
            return method(self, value)
        scale = float(self.noise_parameter)
        declared = f"Δ = {float(self.sensitivity):.6g}"
        kind = self.noise_kind.value
        call = MechanismCall(kind, code_place(), (kind, value, scale), _priced, declared)
        return watched(call, lambda: method(self, value))

    return add_noise


def _priced(before: tuple[str, Any, float], after: tuple[str, Any, float]) -> Any:  # noqa: ANN401
    """Return move, scale and loss of noise that is added to one number."""
    kind, first, scale = before
    _, second, other = after
    if scale != other:
        return f"its scale follows from the data: {scale:.6g} → {other:.6g}"
    move = abs(float(second) - float(first))
    price = laplace_loss if kind == "laplace" else normal_loss
    return move, f"{scale:.6g}", price(move, scale)
