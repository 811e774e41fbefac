"""A plan: for a question and a budget, the releases that answer it, chosen by predicted error. No data is read."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from ..errors import InvalidArgument, UnsupportedQuery
from ..mechanisms.budget import read_budget
from ..privacy.events import Event
from ..privacy.measures import ApproxDP, Measure
from ..query.bound import possible_shares
from ..query.check import checked
from ..query.keys import PublicValues
from ..query.kind import Scalar
from ..query.tally import Share
from ..query.tree import Question
from ..rational import Number, positive
from .release import Release, Want, release_of
from .selection import Selection, selection_of
from .split import Divisible, routes, split
from .wants import wants_of

__all__ = ["Keys", "Plan", "plan_question", "public_tuples"]

Keys = tuple[tuple[Scalar, ...], ...]
KEY_SHARE = Fraction(1, 4)
"""The part of ε that selecting unknown keys gets; of δ it gets half, or all if the rest is pure."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The releases of a question; `uses` says which of them, by place, each statistic is made from.

    `keys` are the public keys; None if they are selected first, by `selection`.
    """

    question: Question
    spend: Measure
    share: Share
    keys: Keys | None
    selection: Selection | None
    releases: tuple[Release, ...]
    uses: tuple[tuple[str, tuple[int, ...]], ...]

    @property
    def events(self) -> tuple[Event, ...]:
        """What will be done: what a ledger is charged with before anything runs."""
        first = () if self.selection is None else (self.selection.event,)
        return (*first, *(release.event for release in self.releases))

    def errors(self, beta: float = 0.05) -> dict[str, tuple[float, ...]]:
        """Predict how far off the parts of each statistic are in one key, but for a chance β each.

        Counts and sums in their own units; quantiles and modes in rows; for a mean: the sum's, then the count's.
        """
        return {name: tuple(self.releases[place].error(beta) for place in places) for name, places in self.uses}

    @property
    def loss(self) -> float:
        """Sum up the predicted errors on a scale that no unit changes; only differences between plans mean anything."""
        return sum(math.log(max(release.error(), 1e-300)) for release in self.releases)

    def __str__(self) -> str:
        from .show import plan_text

        return plan_text(self)


def plan_question(
    question: Question,
    spend: Measure,
    *,
    weights: Mapping[str, Number] | None = None,
    public_values: PublicValues | None = None,
) -> Plan:
    """Plan the answer with the least predicted error, among the possible shares and ways to spend.

    `weights` says how the budget is divided among statistics, 1 each unless said.

    >>> from ..data import Category, Rows, Schema
    >>> from ..privacy.measures import PureDP
    >>> from ..query.expression import Field
    >>> from ..query.tree import Count, Finish, Key, Scan
    >>> people = Scan(Schema("people", Rows(), {"region": Category(["N", "S"])}))
    >>> region = Field("region")
    >>> finish = Finish((("region", region), ("n", Field("n"))))
    >>> question = Question(people, (Key("region", region, ("N", "S")),), (("n", Count()),), finish)
    >>> plan_question(question, PureDP(1)).errors()
    {'n': (3.0,)}

    Refuses what has no bound, unknown keys without a δ, weights of no statistic.
    """
    checked(question, public_values)
    keys, parts = public_tuples(question), _weights(question, weights or {})
    plans: list[Plan] = []
    refused: UnsupportedQuery | None = None
    for share in possible_shares(question.rows, keyed=bool(question.keys)):
        for way in _ways(question, spend, keys):
            try:
                plan = _planned(question, spend, share, keys=keys, way=way, weights=parts, public_values=public_values)
                plans.append(plan)
            except UnsupportedQuery as error:  # another share or way may do
                refused = error
    if refused is not None and not plans:
        raise refused
    return min(plans, key=lambda plan: plan.loss)


def _weights(question: Question, weights: Mapping[str, Number]) -> dict[str, Fraction]:
    """Read how the budget is divided: 1 for every statistic, unless said."""
    names = [name for name, _ in question.statistics]
    unknown = sorted(set(weights) - set(names))
    if unknown:
        raise InvalidArgument(f"weights name no statistic: {', '.join(unknown)}; there are {', '.join(names)}")
    return {name: positive(weights.get(name, 1), f"the weight of {name}") for name in names}


def public_tuples(question: Question) -> Keys | None:
    """List every combination of the public keys, in the order they are declared; None if some key is unknown.

    Refuses more than 100,000 of them.
    """
    lists = [key.values for key in question.keys]
    if any(values is None for values in lists):
        return None
    known = [values for values in lists if values is not None]
    if math.prod(map(len, known)) > 100_000:
        raise InvalidArgument("GROUP BY has more than 100,000 combinations of public keys; use fewer or wider keys")
    return tuple(product(*known))


def _ways(question: Question, spend: Measure, keys: Keys | None) -> Iterable[tuple[Selection | None, Divisible]]:
    if keys is not None:
        return [(None, route) for route in routes(spend)]
    budget = read_budget(spend)
    if not isinstance(budget, ApproxDP) or not budget.epsilon:
        names = ", ".join(key.name for key in question.keys if key.values is None)
        raise InvalidArgument(
            f"the keys of {names} are not public, and selecting them needs a δ: spend ApproxDP(1, 1e-6), "
            "or list the keys"
        )
    part, rest, half = budget.epsilon * KEY_SHARE, budget.epsilon * (1 - KEY_SHARE), budget.delta / 2
    pure, gaussian = routes(ApproxDP(rest, half))
    return [
        (selection_of(question, ApproxDP(part, budget.delta)), pure),
        (selection_of(question, ApproxDP(part, half)), gaussian),
    ]


def _planned(
    question: Question,
    spend: Measure,
    share: Share,
    *,
    keys: Keys | None,
    way: tuple[Selection | None, Divisible],
    weights: dict[str, Fraction],
    public_values: PublicValues | None,
) -> Plan:
    selection, budget = way
    wanted: dict[Want, Fraction] = {}
    uses: list[tuple[str, list[Want]]] = []
    for name, statistic in question.statistics:
        own = wants_of(statistic, question, share, None if keys is None else len(keys), public_values)
        for want, part in own:
            wanted[want] = wanted.get(want, Fraction()) + part * weights[name]
        uses.append((name, [want for want, _ in own]))
    parts = split(budget, list(wanted.values()))
    releases = tuple(release_of(want, part) for want, part in zip(wanted, parts, strict=True))
    places = {want: place for place, want in enumerate(wanted)}
    return Plan(
        question, spend, share, keys, selection, releases, tuple((n, tuple(places[w] for w in ws)) for n, ws in uses)
    )
