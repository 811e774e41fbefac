"""Base class of all differentially private models, with scikit-learn's interface.

Bounds, classes and bins come from a schema. `fit` charges the ledger before any row is summed.
"""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from ..arithmetic.arrays import Floats
from ..arithmetic.rational import whole
from ..data.schema import Schema
from ..data.unit import People
from ..errors import InvalidArgument
from ..ledger import Ledger
from ..noise import Bits
from ..optional import load
from ..privacy.events import Event
from ..privacy.measures import Measure
from ..query.algebra.tree import Scan
from ..query.bounds.relation_facts import columns_of, neighbours_of
from ..query.domains.domain import Domain
from ..show.markup import element
from .coding.design import ModelDesign, design_of
from .coding.label import Label
from .explanation import TrainingExplanation
from .frame import read_columns
from .summary import summary_of
from .task import Fitted, Task, Training, TrainingRecipe
from .training.influence import Influence
from .training.source import Arrays
from .units import Units, units_of

# Sentinel default of `ledger`: None means "train without a ledger" and must be written out.
REQUIRED: Any = type("REQUIRED", (), {"__repr__": lambda _: "REQUIRED"})()


class Estimator:
    """Base class of models whose columns, classes and bounds are declared in a schema.

    Subclasses define the task (`design`, `label`) and the training (`recipe`).

    Guarantee: the ledger is charged with the event of the whole fit before a row is summed.
        No declared bound, class or bin is read from data.
    Refuses: `InvalidArgument` for a missing ledger, schema or spend, and for a schema of people.
    Law: tests/learn/test_models.py::TestTheLedgerComesFirst
    """

    schema: Schema | None
    spend: Measure | None
    features: Sequence[str] | None
    target: Any

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002 scikit-learn's manner
        """Return the constructor's parameters by name."""
        parameters = inspect.signature(type(self).__init__).parameters
        # The first parameter is `self`, which is not a setting.
        names = list(parameters)[1:]
        return {name: getattr(self, name) for name in names}

    def set_params(self, **params: Any) -> Self:  # noqa: ANN401
        """Set constructor parameters by name; refuses names that the model does not have."""
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise InvalidArgument(
                    f"{type(self).__name__} has no parameter {name!r}; it has {', '.join(known)}"
                )
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        parameters = inspect.signature(type(self).__init__).parameters
        shown = []
        for name, value in self.get_params().items():
            if value is not parameters[name].default:
                shown.append(f"{name}={value!r}")
        return f"{type(self).__name__}({', '.join(shown)})"

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401 scikit-learn's own type
        """Return scikit-learn's tags: the kind of estimator, and that fits are random."""
        utils = load("sklearn.utils", "learn")
        kind = self._estimator_type
        needs_target = kind in ("classifier", "regressor")
        tags = utils.Tags(
            estimator_type=kind,
            target_tags=utils.TargetTags(required=needs_target),
            non_deterministic=True,
        )
        match kind:
            case "classifier":
                tags.classifier_tags = utils.ClassifierTags()
            case "regressor":
                tags.regressor_tags = utils.RegressorTags()
            case "transformer":
                tags.transformer_tags = utils.TransformerTags()
        return tags

    _estimator_type = "clusterer"

    def recipe(self) -> TrainingRecipe:
        """Return the training recipe: the releases, their budget and the estimate."""
        raise NotImplementedError

    def task(self, domains: Mapping[str, Domain]) -> Task:
        """Return the learning task for columns with these public domains."""
        return Task(self.design(domains), self.label(domains))

    def design(self, domains: Mapping[str, Domain]) -> ModelDesign:
        """Return the design: the coding of a row as a vector of integers."""
        return design_of(self.columns(domains))

    def label(self, domains: Mapping[str, Domain]) -> Label | None:  # noqa: ARG002 others need it
        """Return the label to predict; None for models that describe rows (k-means, PCA)."""
        return None

    def plan(self, spend: Measure | None = None, *, influence: Influence | None = None) -> Training:
        """Return the noise of every release of a fit, and so its privacy cost; no row is read."""
        schema = self.declared()
        rows = Scan(schema)
        known = influence or Influence(neighbours=neighbours_of(rows))
        recipe = self.recipe()
        task = self.task(columns_of(rows))
        return recipe.plan(task, self.price(spend), known)

    def explain(self, n: int, spend: Measure | None = None) -> TrainingExplanation:
        """Explain a fit on about `n` rows: its releases, cost and expected loss; no row is read."""
        task = self.task(columns_of(Scan(self.declared())))
        training = self.plan(spend)
        rows = whole(n, "n", least=1)
        return TrainingExplanation.of(type(self).__name__, task, training, rows)

    def fit(
        self,
        X: Any,  # noqa: ANN401 scikit-learn's manner
        y: Any = None,  # noqa: ANN401
        *,
        ledger: Ledger | None = REQUIRED,
        who: str = "analyst",
        why: str = "",
        bits: Bits | None = None,
    ) -> Self:
        """Charge the ledger, then learn from an array or a frame (with the target if `y` is None).

        Every call is charged. `ledger=None` trains without a record and warns.

        Guarantee: everything that may refuse is checked before the charge, from public facts alone.
        Refuses: a missing ledger, and a schema whose unit is a person.
        Law: tests/learn/test_models.py::TestTheLedgerComesFirst
        """
        if ledger is REQUIRED:
            raise InvalidArgument(
                "fit needs a ledger, which is charged before a row is read: "
                "fit(X, y, ledger=ledger), or curator.learn(…); "
                "ledger=None trains without one, and nothing is recorded"
            )
        schema = self.declared()
        if isinstance(schema.unit, People):
            raise InvalidArgument(
                f"{schema.name} has several rows of one person; "
                "train through a curator: curator.learn(sql, model)"
            )
        domains = columns_of(Scan(schema))
        task = self.task(domains)
        training = self.plan()
        columns = read_columns(task, domains, X, y, type(self).__name__)
        # The charge comes before the sums: a crash in between loses budget, never privacy.
        entry = charge(ledger, training.event, who, why or f"fit {type(self).__name__}")
        fitted = self.recipe().train(task, training, Arrays(columns), bits)
        return self.keep(task, domains, training, fitted, entry)

    def keep(
        self,
        task: Task,
        domains: Mapping[str, Domain],
        training: Training,
        found: Fitted,
        receipt: object,
    ) -> Self:
        """Store the trained arrays, the event of the fit, its price and its receipt."""
        self.event_ = training.event
        self.price_ = training.shown_price()
        self.receipt_ = receipt
        return self.restore(domains, found, task)

    def restore(
        self, domains: Mapping[str, Domain], found: Fitted, task: Task | None = None
    ) -> Self:
        """Store trained arrays that were read from a file or a ledger."""
        self.task_ = task or self.task(domains)
        self.fitted_ = found
        self.known_ = dict(domains)
        names = self.task_.design.names
        # In the schema's order, which is the order of columns in an array.
        self.domains_ = {name: domain for name, domain in domains.items() if name in names}
        self.feature_names_in_ = np.array(list(self.domains_), dtype=object)
        self.n_features_in_ = len(names)
        return self

    def summary(self) -> str:
        """Return a short text: the cost, and what was learned, in the columns' own units."""
        return summary_of(self).text()

    def _repr_html_(self) -> str:
        """Return a table for notebooks; a model that was not fitted is shown as its text."""
        if not hasattr(self, "task_"):
            return element("code", repr(self))
        return summary_of(self).html()

    def price(self, spend: Measure | None) -> Measure:
        """Return the budget of a fit, given either by the model or by the call, never by both."""
        if spend is not None and self.spend is not None:
            raise InvalidArgument("spend is said twice, by the model and by the call; say it once")
        price = self.spend if spend is None else spend
        if price is None:
            raise InvalidArgument("say what the fit may spend: spend=dp.ApproxDP(1, 1e-6)")
        return price

    def columns(self, domains: Mapping[str, Domain]) -> dict[str, Domain]:
        """Return the model's input columns: those of `features`, or all but the target."""
        others = [name for name in domains if name != self.target]
        wanted = others if self.features is None else list(self.features)
        unknown = [name for name in wanted if name not in domains]
        if unknown or self.target in wanted:
            refused = unknown or [str(self.target)]
            raise InvalidArgument(
                f"features are other columns than the target: {', '.join(refused)}; "
                f"there are {', '.join(others)}"
            )
        return {name: domains[name] for name in wanted}

    def goal(self, domains: Mapping[str, Domain]) -> tuple[str, Domain]:
        """Return the target's name and its public domain."""
        if self.target is None or self.target not in domains:
            raise InvalidArgument(
                f"target={self.target!r} is none of the columns: {', '.join(domains)}"
            )
        return self.target, domains[self.target]

    @property
    def columns_(self) -> tuple[str, ...]:
        """The names of the model's columns, one for each coefficient: `age`, `sex=f`, `sex=m` …"""
        task: Task = self.fitted("task_")
        return task.design.labels[:-1]

    @property
    def units_(self) -> Units:
        """The scale of each of the model's columns in the user's units."""
        task: Task = self.fitted("task_")
        return units_of(task.design, self.domains_)

    def scores(self, X: Any) -> Floats:  # noqa: ANN401
        """Return the scores x·w of an array or a data frame, a column for each class."""
        return self.scores_of(self.image(X))

    def scores_of(self, image: Floats) -> Floats:
        """Return the scores x·w of rows that are already coded."""
        return np.asarray(image @ self.fitted_["coefficients"])

    def image(self, X: Any) -> Floats:  # noqa: ANN401
        """Return the coded rows of an array or a data frame, in units of 1."""
        task: Task = self.fitted("task_")
        unlabelled = Task(task.design, None)
        columns = read_columns(unlabelled, self.domains_, X, None, type(self).__name__)
        return task.design.code(columns).dense()

    def fitted(self, name: str) -> Any:  # noqa: ANN401
        """Return an attribute that fitting sets; refuses a model that was not fitted."""
        if not hasattr(self, name):
            raise _not_fitted(
                f"this {type(self).__name__} has not been fitted yet; call fit or curator.learn"
            )
        return getattr(self, name)

    def declared(self) -> Schema:
        """Return the schema; refuses a model without one."""
        if not isinstance(self.schema, Schema):
            raise InvalidArgument(
                "a model needs a schema: its bounds, classes and bins are declared, "
                "never read from the data"
            )
        return self.schema.ready()


def charge(ledger: Ledger | None, event: Event, who: str, why: str) -> object:
    """Charge a ledger and return its entry; without a ledger, warn the caller's caller."""
    if ledger is None:
        warnings.warn("nothing is recorded: this fit is not in any ledger", stacklevel=3)
        return None
    return ledger.charge(event, who=who, why=why)


def _not_fitted(message: str) -> InvalidArgument:
    """Return the error of a model that was not fitted; also a `NotFittedError` of scikit-learn."""
    # scikit-learn is optional: a caller that catches its error has already loaded it.
    exceptions = sys.modules.get("sklearn.exceptions")
    if exceptions is None:
        return InvalidArgument(message)
    bases = (InvalidArgument, exceptions.NotFittedError)
    error: type[InvalidArgument] = type("NotFitted", bases, {})
    return error(message)
