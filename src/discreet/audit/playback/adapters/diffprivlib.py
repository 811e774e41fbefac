"""Adapter of diffprivlib: every mechanism's `randomise`, with its input, ε, δ and declared sensitivity.

| mechanisms | price of a move |
|---|---|
| Laplace and Geometric, also folded or truncated, LaplaceBoundedDomain, Snapping, Staircase | ε · move / sensitivity |
| Gaussian and analytic Gaussian | move / scale of the noise really drawn |
| discrete Gaussian | two discrete laws: the price of normal noise would be too high |
| Laplace, Geometric, if the scale moves | two laws, one of each scale |
| Exponential, PermuteAndFlip | ε · largest move of a utility / sensitivity, for equal candidates |
| all others | none: the black box judges |
"""

from __future__ import annotations

import copy
import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from ..loss import Loss, laplace_loss, moved_scale, normal_loss
from ..sources import Patches
from ..tape import MechanismCall, code_place, outermost, watched

VERSIONS = ("0.6.6",)

_ADDITIVE = (
    "Geometric",
    "GeometricFolded",
    "GeometricTruncated",
    "Laplace",
    "LaplaceBoundedDomain",
    "LaplaceFolded",
    "LaplaceTruncated",
    "Snapping",
    "Staircase",
)
_GAUSSIAN = ("Gaussian", "GaussianAnalytic")
# Half the numbers of a law on the integers that is written out.
_WIDEST = 1_000_000
_CHOICES = ("Exponential", "PermuteAndFlip")


def attach(patches: Patches) -> None:
    """Replace `randomise` of every mechanism class by one that the tape sees."""
    base = sys.modules["diffprivlib.mechanisms.base"].DPMechanism
    for mechanism in _subclasses(base):
        method = vars(mechanism).get("randomise")
        if method is not None and not getattr(method, "__isabstractmethod__", False):
            patches.set(mechanism, "randomise", _watched(method))


def _subclasses(base: type) -> list[type]:
    """Return all subclasses of a class, direct or not."""
    found: list[type] = []
    known: type
    for known in base.__subclasses__():
        found += [known, *_subclasses(known)]
    return found


def _watched(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return `randomise`, seen by the tape; only the outermost mechanism counts."""

    def randomise(self: Any, value: Any = None) -> Any:  # noqa: ANN401
        arguments = () if value is None else (value,)
        if not outermost():
            return method(self, *arguments)
        call = MechanismCall(
            type(self).__name__, code_place(), _input(self, value), _priced, _declared(self)
        )
        return copy.deepcopy(watched(call, lambda: method(self, *arguments)))

    return randomise


def _declared(mechanism: Any) -> str:  # noqa: ANN401
    """Return ε, δ and sensitivity of a mechanism as text."""
    epsilon = float(mechanism.epsilon)
    text = f"ε = {epsilon:.6g}"
    if mechanism.delta:
        text += f", δ = {float(mechanism.delta):.6g}"
    sensitivity = getattr(mechanism, "sensitivity", None)
    if isinstance(sensitivity, int | float):
        text += f", Δ = {sensitivity:.6g}"
    return text


def _input(mechanism: Any, value: Any) -> tuple[Any, Any]:  # noqa: ANN401
    """Return the mechanism's settings as they are now, and a copy of its input."""
    return copy.copy(mechanism), copy.deepcopy(value)


def _priced(before: tuple[Any, Any], after: tuple[Any, Any]) -> Any:  # noqa: ANN401
    """Return move, scale and loss of a release, or the reason why there is none."""
    mechanism, first = before
    _, second = after
    name = type(mechanism).__name__
    if name in _CHOICES:
        return _choice(mechanism, after[0])
    if name not in (*_ADDITIVE, *_GAUSSIAN, "GaussianDiscrete"):
        return "diffprivlib states no law for it"
    move = abs(float(second) - float(first))
    if math.isnan(float(second)) and math.isnan(float(first)):
        move = 0.0
    if math.isnan(move):
        move = math.inf
    if name == "GaussianDiscrete":
        return _discrete_gaussian(mechanism, move)
    if name in _GAUSSIAN:
        return _gaussian(mechanism, move)
    scale = _scale(mechanism)
    other = _scale(after[0])
    if scale != other:
        return _moved_scale(name, float(second) - float(first), scale, other)
    return move, f"{scale:.6g}", laplace_loss(move, scale)


def _scale(mechanism: Any) -> float:  # noqa: ANN401
    return float(mechanism.sensitivity) / float(mechanism.epsilon)


def _moved_scale(name: str, move: float, scale: float, other: float) -> Any:  # noqa: ANN401
    """Price a scale that follows from the data; outputs within bounds have no unbounded ratio."""
    if name not in ("Laplace", "Geometric"):
        return f"its scale follows from the data: {scale:.6g} → {other:.6g}"
    return abs(move), f"{scale:.6g} → {other:.6g}", moved_scale("laplace", move, scale, other)


def _gaussian(mechanism: Any, move: float) -> tuple[float, str, Loss]:  # noqa: ANN401
    scale = float(mechanism._scale)  # noqa: SLF001 - the scale really drawn has no public name
    return move, f"{scale:.6g}", normal_loss(move, scale)


def _discrete_gaussian(mechanism: Any, move: float) -> Any:  # noqa: ANN401
    """Price integer noise by its law on the integers, up to where a double tells no mass from 0."""
    scale = float(mechanism._scale)  # noqa: SLF001 - as above
    reach = 30 * scale + move
    if not reach <= _WIDEST:
        return f"its law has more than {2 * _WIDEST} numbers"
    whole = np.arange(-math.ceil(reach), math.ceil(reach) + 1.0)
    first = np.exp(-((whole / scale) ** 2) / 2)
    second = np.exp(-(((whole - move) / scale) ** 2) / 2)
    laws = (first / first.sum(), second / second.sum())
    loss = Loss(laws=(laws,), unbounded=True) if move else Loss()
    return move, f"{scale:.6g}", loss


def _choice(first: Any, second: Any) -> Any:  # noqa: ANN401
    """Price a choice among equal candidates; candidates that follow the data have no price here."""
    if first.measure is not None or repr(first.candidates) != repr(second.candidates):
        return "its candidates follow from the data"
    before = np.asarray(first.utility, dtype=float)
    after = np.asarray(second.utility, dtype=float)
    if before.shape != after.shape:
        return "its candidates follow from the data"
    move = float(np.max(np.abs(after - before), initial=0.0))
    scale = float(first.sensitivity) / float(first.epsilon)
    return move, f"{scale:.6g}", laplace_loss(move, scale)
