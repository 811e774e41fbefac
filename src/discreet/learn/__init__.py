"""Models as answers: trained on exact sums with Gaussian noise, charged before a row is read, in scikit-learn's manner.

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

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy import lazy_names

if TYPE_CHECKING:
    from .models.additive import AdditiveClassifier as AdditiveClassifier
    from .models.additive import AdditiveRegressor as AdditiveRegressor
    from .models.centroid import NearestCentroid as NearestCentroid
    from .models.kmeans import KMeans as KMeans
    from .models.linear import LinearRegression as LinearRegression
    from .models.logistic import LogisticRegression as LogisticRegression
    from .models.naive_bayes import CategoricalNB as CategoricalNB
    from .models.naive_bayes import GaussianNB as GaussianNB
    from .models.pca import PCA as PCA
    from .models.quantile import QuantileRegression as QuantileRegression
    from .private_sum import NoisySum as NoisySum
    from .private_sum import noisy_sum as noisy_sum
    from .recommendation import Recommendation as Recommendation
    from .recommendation import recommend as recommend
    from .tuning import tune as tune

if not TYPE_CHECKING:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "models.additive": "AdditiveClassifier AdditiveRegressor",
            "models.centroid": "NearestCentroid",
            "models.kmeans": "KMeans",
            "models.linear": "LinearRegression",
            "models.logistic": "LogisticRegression",
            "models.naive_bayes": "CategoricalNB GaussianNB",
            "models.pca": "PCA",
            "models.quantile": "QuantileRegression",
            "private_sum": "NoisySum noisy_sum",
            "recommendation": "Recommendation recommend",
            "tuning": "tune",
        },
    )
