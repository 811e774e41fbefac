"""What every model has in common: scikit-learn's manners, public bounds, and the ledger before the data."""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from ..arithmetic.rational import whole
from ..data.schema import Schema
from ..data.unit import People
from ..errors import InvalidArgument
from ..ledger import Ledger
from ..noise import Bits
from ..optional import load
from ..privacy.measures import Measure
from ..query.algebra.tree import Scan
from ..query.bounds.relation_facts import columns_of, neighbours_of
from ..query.domains.domain import Domain
from ..show.table import text_table
from .coding.design import ModelDesign, design_of
from .coding.label import Label
from .explanation import TrainingExplanation
from .frame import read_columns
from .task import Fitted, Floats, Task, Training, TrainingRecipe
from .training.influence import Influence
from .training.source import Arrays
from .units import Units, units_of

REQUIRED: Any = type("REQUIRED", (), {"__repr__": lambda _: "REQUIRED"})()


class Estimator:
    """A model from a schema: what it sees, which classes there are and how far numbers reach is declared, never read.

    Subclasses say what their task is and how it is trained.
    """

    schema: Schema | None
    spend: Measure | None
    features: Sequence[str] | None
    target: Any

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002 scikit-learn's manner
        """Return what the model was made with, by name."""
        names = list(inspect.signature(type(self).__init__).parameters)[1:]
        return {name: getattr(self, name) for name in names}

    def set_params(self, **params: Any) -> Self:  # noqa: ANN401
        """Change what the model was made with; refuses names it does not have."""
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise InvalidArgument(
                    f"{type(self).__name__} has no parameter {name!r}; it has {', '.join(known)}"
                )
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        blank = inspect.signature(type(self).__init__).parameters
        said = [
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if value is not blank[name].default
        ]
        return f"{type(self).__name__}({', '.join(said)})"

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401 scikit-learn's own type
        """Say to scikit-learn what kind of model this is."""
        utils = load("sklearn.utils", "learn")
        kind = self._estimator_type
        return utils.Tags(
            estimator_type=kind,
            target_tags=utils.TargetTags(required=kind in ("classifier", "regressor")),
            classifier_tags=utils.ClassifierTags() if kind == "classifier" else None,
            regressor_tags=utils.RegressorTags() if kind == "regressor" else None,
            transformer_tags=utils.TransformerTags() if kind == "transformer" else None,
            non_deterministic=True,
        )

    _estimator_type = "clusterer"

    def recipe(self) -> TrainingRecipe:
        """Return how the model is trained."""
        raise NotImplementedError

    def task(self, domains: Mapping[str, Domain]) -> Task:
        """Return what the model learns from columns of which this is public."""
        return Task(self.design(domains), self.label(domains))

    def design(self, domains: Mapping[str, Domain]) -> ModelDesign:
        """Return how a row becomes numbers."""
        return design_of(self.columns(domains))

    def label(self, domains: Mapping[str, Domain]) -> Label | None:  # noqa: ARG002 others need it
        """Return what is predicted; by default nothing, and the rows are described."""
        return None

    def plan(self, spend: Measure | None = None, *, influence: Influence | None = None) -> Training:
        """Return all the noise of a fit, and so its price; no row is read."""
        schema = self.declared()
        known = influence or Influence(neighbours=neighbours_of(Scan(schema)))
        return self.recipe().plan(self.task(columns_of(Scan(schema))), self.price(spend), known)

    def explain(self, n: int, spend: Measure | None = None) -> TrainingExplanation:
        """Say what a fit on about `n` rows would release, cost and lose, and whether it is worth it."""
        task = self.task(columns_of(Scan(self.declared())))
        return TrainingExplanation.of(
            type(self).__name__, task, self.plan(spend), whole(n, "n", least=1)
        )

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
        """Charge the ledger, then learn from an array or a data frame of rows; `y` may be a column of it.

        Every call is a charge of its own. `ledger=None` says that nobody keeps count, and warns of it.
        """
        if ledger is REQUIRED:
            raise InvalidArgument(
                "fit needs a ledger, which is charged before a row is read: fit(X, y, ledger=ledger), or "
                "curator.learn(…); ledger=None trains without one, and nothing is recorded"
            )
        schema = self.declared()
        if isinstance(schema.unit, People):
            raise InvalidArgument(
                f"{schema.name} has several rows of one person; train through a curator: curator.learn(sql, model)"
            )
        domains = columns_of(Scan(schema))
        task, training = self.task(domains), self.plan()
        columns = read_columns(task, domains, X, y, type(self).__name__)
        entry = None
        if ledger is None:
            warnings.warn("nothing is recorded: this fit is not in any ledger", stacklevel=2)
        else:
            entry = ledger.charge(training.event, who=who, why=why or f"fit {type(self).__name__}")
        found = self.recipe().train(task, training, Arrays(columns), bits)
        return self.keep(task, domains, training, found, entry)

    def keep(
        self,
        task: Task,
        domains: Mapping[str, Domain],
        training: Training,
        found: Fitted,
        receipt: object,
    ) -> Self:
        """Take what was learned, and what it cost."""
        self.event_, self.receipt_ = training.event, receipt
        return self.restore(domains, found, task)

    def restore(
        self, domains: Mapping[str, Domain], found: Fitted, task: Task | None = None
    ) -> Self:
        """Take what was learned, from a file or a ledger."""
        self.task_, self.fitted_, self.known_ = task or self.task(domains), found, dict(domains)
        names = [feature.name for feature in self.task_.design.features]
        self.domains_ = {name: domain for name, domain in domains.items() if name in names}
        self.feature_names_in_ = np.array(list(self.domains_), dtype=object)
        self.n_features_in_ = len(names)
        return self

    def summary(self) -> str:
        """Return what was learned in a few lines: columns, coefficients or sums, and the price."""
        task: Task = self.fitted("task_")
        shown = self.fitted_.get("coefficients")
        lines = [("columns", str(task.design.width)), ("cost", str(self.event_))]
        if shown is not None and shown.shape[1] == 1:
            order = np.argsort(-np.abs(shown[:, 0]))[:20]
            lines += [(task.design.labels[place], f"{shown[place, 0]:+.4f}") for place in order]
        return text_table([(type(self).__name__, ""), *lines])

    def price(self, spend: Measure | None) -> Measure:
        """Return what a fit may spend: the model's own word or the caller's, never both."""
        if spend is not None and self.spend is not None:
            raise InvalidArgument("spend is said twice, by the model and by the call; say it once")
        said = self.spend if spend is None else spend
        if said is None:
            raise InvalidArgument("say what the fit may spend: spend=dp.ApproxDP(1, 1e-6)")
        return said

    def columns(self, domains: Mapping[str, Domain]) -> dict[str, Domain]:
        """Return the columns that the model sees: those of `features`, or all but the target."""
        wanted = (
            [name for name in domains if name != self.target]
            if self.features is None
            else list(self.features)
        )
        unknown = [name for name in wanted if name not in domains]
        if unknown or self.target in wanted:
            raise InvalidArgument(
                f"features are other columns than the target: {', '.join(unknown or [str(self.target)])}; there are "
                f"{', '.join(name for name in domains if name != self.target)}"
            )
        return {name: domains[name] for name in wanted}

    def goal(self, domains: Mapping[str, Domain]) -> tuple[str, Domain]:
        """Return the target and what is public about it."""
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
        """How the model's columns stand to the user's units."""
        task: Task = self.fitted("task_")
        return units_of(task.design, self.domains_)

    def scores(self, X: Any) -> Floats:  # noqa: ANN401
        """Return x·w for rows of an array or a data frame, a column for each class."""
        return self.scores_of(self.image(X))

    def scores_of(self, image: Floats) -> Floats:
        """Return x·w for rows as the model sees them."""
        return np.asarray(image @ self.fitted_["coefficients"])

    def image(self, X: Any) -> Floats:  # noqa: ANN401
        """Return rows of an array or a data frame as the model sees them, in units of 1."""
        task: Task = self.fitted("task_")
        found = read_columns(Task(task.design, None), self.domains_, X, None, type(self).__name__)
        return task.design.code(found).dense()

    def fitted(self, name: str) -> Any:  # noqa: ANN401
        """Return something that was learned; refuses a model that was not fitted."""
        if not hasattr(self, name):
            raise _not_fitted(
                f"this {type(self).__name__} has not been fitted yet; call fit or curator.learn"
            )
        return getattr(self, name)

    def declared(self) -> Schema:
        """Return the schema; refuses a model without one."""
        if not isinstance(self.schema, Schema):
            raise InvalidArgument(
                "a model needs a schema: its bounds, classes and bins are declared, never read from the data"
            )
        return self.schema.ready()


def _not_fitted(words: str) -> InvalidArgument:
    """Return the refusal of a model that was not fitted: scikit-learn's own kind as well, where it is loaded."""
    theirs = sys.modules.get("sklearn.exceptions")
    if theirs is None:
        return InvalidArgument(words)
    both: type[InvalidArgument] = type("NotFitted", (InvalidArgument, theirs.NotFittedError), {})
    return both(words)
