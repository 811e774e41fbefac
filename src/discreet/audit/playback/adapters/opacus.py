"""Adapter of Opacus: the sum of clipped gradients, its noise, and the divisor that follows.

The divisor of `loss_reduction="mean"` is public only if it does not follow from the data. A divisor
that moves is priced by a one-dimensional law: normal noise on one number, moved by the distance of
the two gradients, with both scales. That this is the price of the whole vector is not derived.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ..loss import moved_scale, normal_loss
from ..sources import Patches
from ..tape import MechanismCall, code_place, outermost, watched

VERSIONS = ("1.5.2", "1.6.0")


def attach(patches: Patches) -> None:
    """Replace `add_noise` of the optimizer."""
    optimizer = sys.modules["opacus.optimizers.optimizer"].DPOptimizer
    patches.set(optimizer, "add_noise", _watched(vars(optimizer)["add_noise"]))


def _watched(method: Any) -> Any:  # noqa: ANN401
    """Return `add_noise` as a step of the tape, with the sum of gradients as its input."""

    def add_noise(self: Any) -> None:  # noqa: ANN401
        if not outermost():
            method(self)
            return
        torch = sys.modules["torch"]
        parts = [np.ravel(p.summed_grad.detach().numpy()) for p in self.params]
        total = np.concatenate(parts).astype(float)
        sigma = float(self.noise_multiplier) * float(self.max_grad_norm)
        place = code_place()
        call = MechanismCall(
            "DPOptimizer", place, (total, sigma, _divisor(self)), _priced, _declared(self)
        )
        # The state is put back: noise of a mechanism is no draw of the program.
        state = torch.get_rng_state()

        def noisy() -> list[Any]:
            method(self)
            return [p.grad.clone() for p in self.params]

        gradients = watched(call, noisy)
        torch.set_rng_state(state)
        for parameter, gradient in zip(self.params, gradients, strict=True):
            parameter.grad = gradient.clone()

    return add_noise


def _divisor(optimizer: Any) -> float:  # noqa: ANN401
    if optimizer.loss_reduction != "mean":
        return 1.0
    return float(optimizer.expected_batch_size) * float(optimizer.accumulated_iterations)


def _declared(optimizer: Any) -> str:  # noqa: ANN401
    return f"divisor {_divisor(optimizer):g}, clip {float(optimizer.max_grad_norm):g}"


def _priced(before: tuple[Any, float, float], after: tuple[Any, float, float]) -> Any:  # noqa: ANN401
    """Return move, scale and loss; a divisor that moves is a scale that moves."""
    first, sigma, divisor = before
    second, other_sigma, other_divisor = after
    move = float(np.linalg.norm(second / other_divisor - first / divisor))
    scale = sigma / divisor
    other = other_sigma / other_divisor
    if scale == other:
        return move, f"{scale:.6g}", normal_loss(move, scale)
    return move, f"{scale:.6g} → {other:.6g}", moved_scale("normal", move, scale, other)
