"""Adapter of OpenDP: calls of measurements, priced by their own privacy map at the distance of the inputs."""

from __future__ import annotations

import copy
import sys
from collections import Counter
from typing import Any

import numpy as np

from ..loss import Loss
from ..sources import Patches
from ..tape import MechanismCall, code_place, outermost, watched

VERSIONS = ("0.16.0",)


def attach(patches: Patches) -> None:
    """Replace the two ways to call a measurement."""
    measurement = sys.modules["opendp.mod"].Measurement
    for name in ("__call__", "invoke"):
        patches.set(measurement, name, _watched(vars(measurement)[name]))


def _watched(method: Any) -> Any:  # noqa: ANN401
    """Return a call of a measurement as a step of the tape."""

    def invoke(self: Any, arg: Any) -> Any:  # noqa: ANN401
        if not outermost():
            return method(self, arg)
        name = f"{self.input_metric}, {self.output_measure}"
        call = MechanismCall(name, code_place(), (self, copy.deepcopy(arg)), _priced, "privacy map")
        return watched(call, lambda: method(self, arg))

    return invoke


def _priced(before: tuple[Any, Any], after: tuple[Any, Any]) -> Any:  # noqa: ANN401
    """Return move, scale and loss, or the reason why there is no price."""
    measurement, first = before
    _, second = after
    distance = _distance(str(measurement.input_metric), first, second)
    if distance is None:
        return f"no distance is known for {measurement.input_metric}"
    price = measurement.map(distance)
    measure = str(measurement.output_measure)
    # A stated ε is that of Laplace noise, a stated ρ that of normal noise of μ² = 2ρ.
    if measure == "MaxDivergence":
        return distance, "", Loss(laplace=(float(price),))
    if measure == "ZeroConcentratedDivergence":
        return distance, "", Loss(squared_mu=2 * float(price))
    if measure.startswith("Approximate(MaxDivergence") and isinstance(price, tuple):
        return distance, "", Loss(laplace=(float(price[0]),), stated=float(price[1]))
    return f"no price is known for {measure}"


def _distance(metric: str, first: Any, second: Any) -> Any:  # noqa: ANN401
    """Return the distance of two inputs in the units of a metric; None for other metrics."""
    if metric.startswith("AbsoluteDistance"):
        return abs(second - first)
    if metric.startswith(("L1Distance", "L2Distance")):
        moves = np.asarray(second, dtype=object) - np.asarray(first, dtype=object)
        if metric.startswith("L1"):
            return sum(abs(move) for move in moves.tolist())
        return float(np.sqrt(float(np.sum(moves * moves))))
    if metric in ("SymmetricDistance", "SymmetricDistance()", "InsertDeleteDistance"):
        gone = Counter(map(repr, first)) - Counter(map(repr, second))
        come = Counter(map(repr, second)) - Counter(map(repr, first))
        return gone.total() + come.total()
    return None
