"""Adapter of Tumult Core: calls of measurements, priced by their own privacy function.

Their noise is drawn in Spark's workers, where no tape sees it. Interactive measurements are left alone.
"""

from __future__ import annotations

import sys
from typing import Any

from ..loss import Loss
from ..sources import Patches
from ..tape import MechanismCall, code_place, outermost, watched

VERSIONS = ("0.19.1",)


def attach(patches: Patches) -> None:
    """Replace the call of every measurement class."""
    base = sys.modules["tmlt.core.measurements.base"].Measurement
    waiting = [base]
    while waiting:
        known = waiting.pop()
        waiting += known.__subclasses__()
        method = vars(known).get("__call__")
        if method is not None and not getattr(method, "__isabstractmethod__", False):
            patches.set(known, "__call__", _watched(method))


def _watched(method: Any) -> Any:  # noqa: ANN401
    """Return the call of a measurement as a step of the tape."""

    def measure(self: Any, *data: Any, **named: Any) -> Any:  # noqa: ANN401
        if self.is_interactive or not outermost():
            return method(self, *data, **named)
        value = (*data, *named.values())[0]
        name = type(self).__name__
        call = MechanismCall(name, code_place(), (self, value), _priced, "privacy function")
        return watched(call, lambda: method(self, *data, **named))

    return measure


def _priced(before: tuple[Any, Any], after: tuple[Any, Any]) -> Any:  # noqa: ANN401
    """Return move, scale and loss, or the reason why there is no price."""
    measurement, first = before
    _, second = after
    try:
        distance = measurement.input_metric.distance(first, second, measurement.input_domain)
        price = measurement.privacy_function(distance)
    except NotImplementedError as error:
        return f"Tumult states no price: {error}"
    measure = type(measurement.output_measure).__name__
    move = float(distance.to_float(round_up=False))
    if measure == "PureDP":
        return move, "", Loss(laplace=(float(price.to_float(round_up=False)),))
    if measure == "RhoZCDP":
        return move, "", Loss(squared_mu=2 * float(price.to_float(round_up=False)))
    return f"no price is known for {measure}"
