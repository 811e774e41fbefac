"""A plan: for a question and a budget, or an error, the releases that answer it. No data is read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from ..arithmetic.rational import Number
from ..errors import InvalidArgument, UnsupportedQuery
from ..mechanisms.laws.quantile import read_beta
from ..privacy.events import Batch, Event
from ..privacy.filters.filter import Filter
from ..privacy.measures import Measure
from ..query.algebra.tally import Share
from ..query.algebra.tree import Question
from ..query.domains.domain import Scalar
from .model import Model
from .noise_sum import noise_of
from .release import NoisyRelease, Release
from .selection import Selection

__all__ = ["Keys", "Plan", "public_tuples"]

Keys = tuple[tuple[Scalar, ...], ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """The releases of a question; `uses` says which of them, by place, each statistic is made from.

    `keys` are the public keys; None if they are selected first, by `selection`. `models` says how noise moves each
    statistic, `shares` what part of the budget each release gets, `size` at how many rows per key errors are predicted.
    Everything here is public, and equal for equal questions.
    """

    question: Question
    spend: Measure
    share: Share
    keys: Keys | None
    selection: Selection | None
    releases: tuple[Release, ...]
    uses: tuple[tuple[str, tuple[int, ...]], ...]
    models: tuple[Model, ...]
    shares: tuple[Fraction, ...]
    size: int
    size_from: str
    level: Fraction

    @property
    def events(self) -> tuple[Event, ...]:
        """What will be done: what a ledger is charged with before anything runs."""
        first = () if self.selection is None else (self.selection.event,)
        return (*first, *(release.event for release in self.releases))

    @property
    def event(self) -> Event:
        """All of it as one event: a batch, asked before any answer is seen."""
        return Batch(self.events)

    def price(self, under: Filter) -> Measure:
        """Return what a filter would take for it now, in the filter's own measure; nothing is spent."""
        return under.price(self.event)

    def errors(self, beta: float = 0.05) -> dict[str, tuple[float, ...]]:
        """Predict how far off the parts of each statistic are in one key, but for a chance β each.

        Counts and sums in their own units; quantiles and modes in rows; for a mean: the sum's, then the count's.
        """
        return {name: tuple(self.releases[place].error(beta) for place in places) for name, places in self.uses}

    def statistic_errors(self, beta: Number | None = None) -> dict[str, float]:
        """Predict how far off each statistic is in a key of `size` rows, but for a chance β (1 − level unless said).

        In its own unit; quantiles and modes in rows. For the worst data, and never flattering (see `predict`).
        """
        chance = float(1 - self.level) if beta is None else read_beta(beta)
        pairs = zip(self.uses, self.models, strict=True)
        return {name: self._error(places, model, chance) for (name, places), model in pairs}

    def _error(self, places: Sequence[int], model: Model, beta: float) -> float:
        parts = [self.releases[place] for place in places]
        noises = [noise_of(one.mechanism, float(one.unit)) for one in parts if isinstance(one, NoisyRelease)]
        if len(noises) < 2:
            return parts[0].error(beta)
        return model.error(noises, self.size, beta)

    def loss(self, weights: Sequence[Fraction]) -> float:
        """Sum up the logarithms of the predicted errors; only differences between plans mean anything."""
        errors = self.statistic_errors().values()
        return sum(float(w) * math.log(max(error, 1e-300)) for w, error in zip(weights, errors, strict=True))

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        from .text.plan import plan_text

        return plan_text(self)

    def _repr_html_(self) -> str:
        from .text.plan import plan_html

        return plan_html(self)

    def to_dict(self) -> dict[str, object]:
        """Return what the table shows as plain values for JSON."""
        from .text.plan import plan_dict

        return plan_dict(self)


def public_tuples(question: Question) -> Keys | None:
    """List every combination of the public keys, in the order they are declared; None if some key is unknown.

    Refuses more than 100,000 of them, and none.
    """
    lists = [key.values for key in question.keys]
    if any(values is None for values in lists):
        return None
    known = [values for values in lists if values is not None]
    if not all(known):
        raise UnsupportedQuery("GROUP BY: no public key meets the conditions; ask for others")
    if math.prod(map(len, known)) > 100_000:
        raise InvalidArgument("GROUP BY has more than 100,000 combinations of public keys; use fewer or wider keys")
    return tuple(product(*known))
