"""Base of all classifiers: scores, probabilities and a class for each row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...data.schema import Schema
from ...errors import InvalidArgument
from ...privacy.measures import Measure
from ...query.domains.domain import Domain
from ..coding.column_cells import read_cells
from ..coding.label import Classes, classes_of
from ..frame import target_cells
from ..task import Floats


class Classifier:
    """Turns a model's scores into classes; one column of scores is the log-odds of the second of two."""

    _estimator_type = "classifier"

    def __init__(
        self,
        schema: Schema | None = None,
        target: str | None = None,
        spend: Measure | None = None,
        *,
        features: Sequence[str] | None = None,
    ) -> None:
        self.schema, self.target, self.spend, self.features = schema, target, spend, features

    def label(self: Any, domains: Mapping[str, Domain]) -> Classes:
        """Return the classes that are predicted."""
        return classes_of(*self.goal(domains))

    @property
    def classes_(self: Any) -> NDArray[Any]:
        """The classes, as declared."""
        label: Classes = self.fitted("task_").label
        return np.array(label.values)

    def decision_function(self: Any, X: Any) -> Floats:  # noqa: ANN401
        """Return the log-odds of the second class, or a score for each of several."""
        found: Floats = self.scores(X)
        if found.shape[1] == 2:
            return np.asarray(found[:, 1] - found[:, 0])
        return found[:, 0] if found.shape[1] == 1 else found

    def predict_proba(self: Any, X: Any) -> Floats:  # noqa: ANN401
        """Return the chance of each class."""
        return chances_of(self.scores(X))

    def predict(self: Any, X: Any) -> NDArray[Any]:  # noqa: ANN401
        """Return the likeliest class of each row."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])

    def score(self: Any, X: Any, y: Any) -> float:  # noqa: ANN401
        """Return the share of rows, yours to look at, whose class is found."""
        label: Classes = self.fitted("task_").label
        found = self.predict_proba(X).argmax(axis=1)
        wanted = label.code(read_cells(self.known_[label.name], target_cells(y, label.name)))
        if len(found) != len(wanted):
            raise InvalidArgument(
                "X and y have different lengths; they need one row each for every unit"
            )
        return float(np.mean(found == wanted))


def chances_of(scores: Floats) -> Floats:
    """Return the chance of each class from scores.

    >>> import numpy as np
    >>> from discreet.learn.models.classifier import chances_of
    >>> chances_of(np.array([[0.0]])).tolist()
    [[0.5, 0.5]]
    """
    wide = (
        np.column_stack([np.zeros(len(scores)), scores[:, 0]]) if scores.shape[1] == 1 else scores
    )
    powers = np.exp(wide - wide.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))
