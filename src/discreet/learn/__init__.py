"""Differentially private models in scikit-learn's manner: exact sums of rows with Gaussian noise.

A fit is charged to the ledger before any row is summed.

    LinearRegression                       a number, linear in the others
    AdditiveRegressor                      a number, as a sum of effects that can be drawn
    QuantileRegression                     the median, or any quantile, of a number
    LogisticRegression                     one of several classes, linear in the others
    AdditiveClassifier                     one of several classes, as a sum of effects that can be drawn
    CategoricalNB, GaussianNB              one of several classes, columns taken as independent
    NearestCentroid                        one of several classes, for few rows and many columns
    KMeans, PCA                            groups of rows; the directions in which they differ
    noisy_sum                              for training with another library
    recommend                              which of them, for so many rows and so large a spend
    tune                                   the best of several, for the price of one

Bounds, classes and bins come from a schema, never from data. `fit` needs a ledger; `curator.learn` has one.
"""

from ..lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
