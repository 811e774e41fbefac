"""What every linear classifier says of a row: scores, chances, a class."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..coding.label import Classes
from ..estimator import Estimator
from ..task import Floats

__all__ = ["accuracy", "chances_of", "class_array", "class_of"]


def class_array(model: Estimator) -> NDArray[Any]:
    """Return the classes of a fitted model, from its schema."""
    label: Classes = model.task_.label
    return np.array(label.values)


def chances_of(scores: Floats) -> Floats:
    """Return the chance of each class from scores: one column is the log-odds of the second class."""
    wide = np.column_stack([np.zeros(len(scores)), scores[:, 0]]) if scores.shape[1] == 1 else scores
    powers = np.exp(wide - wide.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def class_of(model: Estimator, scores: Floats) -> NDArray[Any]:
    """Return the class with the highest score."""
    return class_array(model)[chances_of(scores).argmax(axis=1)]


def accuracy(predicted: NDArray[Any], given: Any) -> float:  # noqa: ANN401
    """Return the share of rows whose class was found."""
    return float(np.mean(predicted == np.asarray(given).ravel()))
