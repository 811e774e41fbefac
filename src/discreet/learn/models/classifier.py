"""Base of all classifiers: scores, probabilities and a class for each row.

A model only has to compute scores of coded rows. This base turns them into class probabilities by
softmax, into the likeliest class, and into the accuracy on rows that may be looked at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from ...arithmetic.arrays import AnyArray, Floats
from ...data.schema import Schema
from ...errors import InvalidArgument
from ...privacy.measures import Measure
from ...query.domains.domain import Domain
from ..coding.column_cells import read_cells
from ..coding.label import Classes, classes_of
from ..frame import target_cells


# Each model has its own `__repr__` and is compared by identity, as in scikit-learn.
@dataclass(eq=False, repr=False)
class Classifier:
    """Mixin of models that predict a class: turns scores into probabilities and classes.

    One column of scores holds the log-odds of the second of two classes.
    Refuses: a target whose values are not listed in the schema, by `InvalidArgument`.
    """

    schema: Schema | None = None
    target: str | None = None
    spend: Measure | None = None
    _: KW_ONLY
    features: Sequence[str] | None = None

    _estimator_type = "classifier"

    def label(self: Any, domains: Mapping[str, Domain]) -> Classes:
        """Return the classes to predict."""
        return classes_of(*self.goal(domains))

    @property
    def classes_(self: Any) -> AnyArray:
        """The classes, as declared."""
        label: Classes = self.fitted("task_").label
        return np.array(label.values)

    def decision_function(self: Any, X: Any) -> Floats:  # noqa: ANN401
        """Return the log-odds of the second of two classes, or a score for each of several."""
        scores: Floats = self.scores(X)
        match scores.shape[1]:
            case 1:
                return scores[:, 0]
            case 2:
                return np.asarray(scores[:, 1] - scores[:, 0])
            case _:
                return scores

    def predict_proba(self: Any, X: Any) -> Floats:  # noqa: ANN401
        """Return the probability of each class."""
        return chances_of(self.scores(X))

    def predict(self: Any, X: Any) -> AnyArray:  # noqa: ANN401
        """Return the likeliest class of each row."""
        likeliest = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[likeliest])

    def score(self: Any, X: Any, y: Any) -> float:  # noqa: ANN401
        """Return the accuracy on rows that you may look at: the share whose class is found.

        The result is not private.
        """
        label: Classes = self.fitted("task_").label
        likeliest = self.predict_proba(X).argmax(axis=1)
        cells = read_cells(self.known_[label.name], target_cells(y, label.name))
        wanted = label.code(cells)
        if len(likeliest) != len(wanted):
            raise InvalidArgument(
                "X and y have different lengths; they need one row each for every unit"
            )
        return float(np.mean(likeliest == wanted))


def chances_of(scores: Floats) -> Floats:
    """Return the probability of each class from scores (softmax).

    >>> import numpy as np
    >>> from discreet.learn.models.classifier import chances_of
    >>> chances_of(np.array([[0.0]])).tolist()
    [[0.5, 0.5]]
    """
    wide = scores
    if scores.shape[1] == 1:
        # Log-odds of the second class: the first has a score of 0.
        wide = np.column_stack([np.zeros(len(scores)), scores[:, 0]])
    # The largest score becomes 0, so that no exponential overflows.
    powers = np.exp(wide - wide.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))
