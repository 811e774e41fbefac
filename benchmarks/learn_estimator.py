"""What scikit-learn's `check_estimator` says of our models, and why each failure stays.

    python benchmarks/learn_estimator.py [LinearRegression …]        (needs scikit-learn)

The checks fit arrays of any shape without a schema, a spend or a ledger. So each model is tried as a subclass whose
`fit` declares fixed public bounds for the columns at hand, spends far more than anybody should, and keeps no ledger.
Every check that fails must be in the list below, with its reason.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_X_y

import discreet as dp
from discreet import learn

BOUND = 20
SPEND = dp.ZCDP(10**7)
NOISE = "needs determinism: two fits have different noise"
NULLS = "needs unbounded input: NaN is NULL and infinities are clipped, by the schema, so that no row makes a refusal"
WHY = {
    "check_fit_idempotent": NOISE,
    "check_supervised_y_2d": NOISE,
    "check_regressors_int": NOISE,
    "check_regressor_data_not_an_array": NOISE,
    "check_classifier_data_not_an_array": NOISE,
    "check_clustering": NOISE,
    "check_transformer_general": NOISE,
    "check_transformer_data_not_an_array": NOISE,
    "check_methods_sample_order_invariance": NOISE,
    "check_regressors_train": "needs determinism: few rows, and a fit that noise may miss",
    "check_classifiers_train": "needs determinism: few rows, and a fit that noise may miss",
    "check_estimators_nan_inf": NULLS,
    "check_dtype_object": NULLS,
    "check_classifiers_one_label": "needs unbounded input: classes are declared, and one class is nothing to tell apart",
    "check_classifiers_regression_target": "needs unbounded input: classes are declared, never read from y",
}


class Fixed:
    """Columns x0, x1, … between fixed bounds, whatever array is given; what is declared stands in `_schema`."""

    def __init__(self) -> None:
        super().__init__()
        self.spend = SPEND
        if self._estimator_type in ("regressor", "classifier"):
            self.target = "y"

    def declared(self) -> dp.Schema:
        return self._schema

    def fit(self, X, y=None):
        facts = {}
        if self._estimator_type in ("regressor", "classifier"):
            X, y = check_X_y(X, y, y_numeric=self._estimator_type == "regressor")
            facts["y"] = dp.Real(-10 * BOUND, 10 * BOUND)
            if self._estimator_type == "classifier":
                check_classification_targets(y)
                y = y.astype(np.int64) if y.dtype.kind == "f" else y
                facts["y"] = dp.Category(np.unique(y).tolist())
        else:
            X = check_array(X)
        for place in range(X.shape[1]):
            facts[f"x{place}"] = dp.Real(-BOUND, BOUND)
        self._schema = dp.Schema("check", dp.Rows(), facts)
        return super().fit(X, y, ledger=None)


class LinearRegression(Fixed, learn.LinearRegression): ...


class LogisticRegression(Fixed, learn.LogisticRegression): ...


class GaussianNB(Fixed, learn.GaussianNB): ...


class NearestCentroid(Fixed, learn.NearestCentroid): ...


class KMeans(Fixed, learn.KMeans): ...


class PCA(Fixed, learn.PCA): ...


KINDS = (LinearRegression, LogisticRegression, GaussianNB, NearestCentroid, KMeans, PCA)


def main() -> None:
    warnings.simplefilter("ignore")
    for kind in KINDS:
        if sys.argv[1:] and kind.__name__ not in sys.argv[1:]:
            continue
        results = check_estimator(kind(), on_fail=None, on_skip=None)
        failed = {
            one["check_name"]: one["exception"] for one in results if one["status"] == "failed"
        }
        print(f"{kind.__name__}: {len(results)} checks, {len(failed)} fail")
        for name, problem in failed.items():
            said = str(problem).strip().splitlines() or [repr(problem)]
            print(f"    {name}: {WHY.get(name, 'UNEXPLAINED ' + said[0][:150])}")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
