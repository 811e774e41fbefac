"""What was done: frozen values that say which noise met which sensitivity, never what it cost.

An event is priced later, by the tightest sound accountant (`compose`). Events are what a ledger stores, so a class here
is never removed or redefined: a new meaning is a new class or a new version. JSON both ways is in `event_json`.

    Event
    ├── one release   LaplaceNoise  DiscreteLaplaceNoise  TruncatedGeometricNoise
    │                 GaussianNoise  DiscreteGaussianNoise  BinomialNoise
    │                 ExponentialSelection  PermuteAndFlipSelection  Response  SparseVector
    ├── a promise     Promise (of any measure)   OwnCurve (points of a privacy curve)
    ├── built on one  Sampled  Repeated  KeySelection
    └── of several    Sequence (each may depend on the answers before)  Batch (all asked at once)  Parallel

Lengths are in the units of the answer; a *lattice* length counts whole steps of the integer lattice.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from ..errors import InvalidArgument
from ..rational import Number, positive, rational, whole
from .measures import Measure
from .neighbours import ADD_REMOVE, Neighbours, read_neighbours

__all__ = [
    "Batch",
    "BinomialNoise",
    "DiscreteGaussianNoise",
    "DiscreteLaplaceNoise",
    "Event",
    "ExponentialSelection",
    "GaussianNoise",
    "KeySelection",
    "LaplaceNoise",
    "OwnCurve",
    "Parallel",
    "PermuteAndFlipSelection",
    "Promise",
    "Repeated",
    "Response",
    "Sampled",
    "Sequence",
    "SparseVector",
    "TruncatedGeometricNoise",
]


def _set(event: object, /, **fields: object) -> None:
    for name, value in fields.items():
        object.__setattr__(event, name, value)


@dataclass(frozen=True, slots=True, init=False)
class LaplaceNoise:
    """Laplace noise of one scale in every coordinate; `sensitivity` is Δ1.

    `step` is the width of the lattice it was sampled on (a divisor of the sensitivity); 0 stands for the continuous law.

    >>> LaplaceNoise(scale=2, sensitivity=1).sensitivity
    Fraction(1, 1)
    """

    scale: Fraction
    sensitivity: Fraction
    step: Fraction
    neighbours: Neighbours

    def __init__(
        self, scale: Number, sensitivity: Number, step: Number = 0, *, neighbours: Neighbours = ADD_REMOVE
    ) -> None:
        s, d = positive(scale, "scale"), positive(sensitivity, "sensitivity")
        _set(self, scale=s, sensitivity=d, step=_step(step, d), neighbours=read_neighbours(neighbours))


def _step(step: Number, sensitivity: Fraction) -> Fraction:
    g = rational(step, "step")
    if g < 0 or (g > 0 and (sensitivity / g).denominator != 1):
        raise InvalidArgument("step must be 0 or divide the sensitivity into whole lattice steps")
    return g


@dataclass(frozen=True, slots=True, init=False)
class DiscreteLaplaceNoise:
    """Two-sided geometric noise on the integers, P(x) ∝ exp(−|x|/scale); `sensitivity` is Δ1 in whole steps."""

    scale: Fraction
    sensitivity: int
    neighbours: Neighbours

    def __init__(self, scale: Number, sensitivity: int, *, neighbours: Neighbours = ADD_REMOVE) -> None:
        d = whole(sensitivity, "sensitivity", least=1)
        _set(self, scale=positive(scale, "scale"), sensitivity=d, neighbours=read_neighbours(neighbours))


@dataclass(frozen=True, slots=True, init=False)
class TruncatedGeometricNoise:
    """Two-sided geometric noise clamped to the public range low..high; the true value lies in the range too."""

    scale: Fraction
    sensitivity: int
    low: int
    high: int
    neighbours: Neighbours

    def __init__(
        self, scale: Number, sensitivity: int, low: int, high: int, *, neighbours: Neighbours = ADD_REMOVE
    ) -> None:
        bottom = int(rational(low, "low"))
        top = whole(high, "high", least=bottom + 1)
        d = whole(sensitivity, "sensitivity", least=1)
        _set(self, scale=positive(scale, "scale"), sensitivity=d, low=bottom, high=top)
        _set(self, neighbours=read_neighbours(neighbours))


@dataclass(frozen=True, slots=True, init=False)
class GaussianNoise:
    """Gaussian noise of one variance in every coordinate; `squared_sensitivity` is Δ2², exact where Δ2 is a root.

    `step` is the width of the lattice it was sampled on in `dimension` coordinates; 0 stands for the continuous law.

    >>> GaussianNoise.of(scale=10, sensitivity=1).variance
    Fraction(100, 1)
    """

    variance: Fraction
    squared_sensitivity: Fraction
    step: Fraction
    dimension: int
    neighbours: Neighbours

    def __init__(
        self,
        variance: Number,
        squared_sensitivity: Number,
        step: Number = 0,
        dimension: int = 1,
        *,
        neighbours: Neighbours = ADD_REMOVE,
    ) -> None:
        v, d2 = positive(variance, "variance"), positive(squared_sensitivity, "squared_sensitivity")
        g = rational(step, "step")
        if g < 0:
            raise InvalidArgument(f"step must be at least 0, got {step}")
        _set(self, variance=v, squared_sensitivity=d2, step=g, dimension=whole(dimension, "dimension", least=1))
        _set(self, neighbours=read_neighbours(neighbours))

    @classmethod
    def of(cls, scale: Number, sensitivity: Number, *, neighbours: Neighbours = ADD_REMOVE) -> GaussianNoise:
        """Describe continuous Gaussian noise by its standard deviation and Δ2."""
        return cls(positive(scale, "scale") ** 2, positive(sensitivity, "sensitivity") ** 2, neighbours=neighbours)


@dataclass(frozen=True, slots=True, init=False)
class DiscreteGaussianNoise:
    """Discrete Gaussian noise on the integers, P(x) ∝ exp(−x²/2σ²), in `dimension` coordinates.

    `squared_sensitivity` is Δ2² in steps²; `linf` bounds the change of one coordinate (None: only Δ2 bounds it).
    """

    variance: Fraction
    squared_sensitivity: int
    dimension: int
    linf: int | None
    neighbours: Neighbours

    def __init__(
        self,
        variance: Number,
        squared_sensitivity: int,
        dimension: int = 1,
        linf: int | None = None,
        *,
        neighbours: Neighbours = ADD_REMOVE,
    ) -> None:
        d2 = whole(squared_sensitivity, "squared_sensitivity", least=1)
        bound = None if linf is None else whole(linf, "linf", least=1)
        _set(self, variance=positive(variance, "variance"), squared_sensitivity=d2)
        _set(self, dimension=whole(dimension, "dimension", least=1), linf=bound)
        _set(self, neighbours=read_neighbours(neighbours))


@dataclass(frozen=True, slots=True, init=False)
class BinomialNoise:
    """Centred binomial noise Bin(trials, ½) − trials/2 in every coordinate; `sensitivity` is Δ1 in whole steps."""

    trials: int
    sensitivity: int
    neighbours: Neighbours

    def __init__(self, trials: int, sensitivity: int, *, neighbours: Neighbours = ADD_REMOVE) -> None:
        _set(self, trials=whole(trials, "trials", least=1), sensitivity=whole(sensitivity, "sensitivity", least=1))
        _set(self, neighbours=read_neighbours(neighbours))


@dataclass(frozen=True, slots=True, init=False)
class ExponentialSelection:
    """The exponential mechanism: the log-odds of any two candidates move by at most ε (bounded range ε)."""

    epsilon: Fraction
    neighbours: Neighbours

    def __init__(self, epsilon: Number, *, neighbours: Neighbours = ADD_REMOVE) -> None:
        _set(self, epsilon=positive(epsilon, "epsilon"), neighbours=read_neighbours(neighbours))


@dataclass(frozen=True, slots=True, init=False)
class PermuteAndFlipSelection:
    """Permute-and-flip, or report-noisy-max with exponential or Laplace noise, calibrated to ε."""

    epsilon: Fraction
    neighbours: Neighbours

    def __init__(self, epsilon: Number, *, neighbours: Neighbours = ADD_REMOVE) -> None:
        _set(self, epsilon=positive(epsilon, "epsilon"), neighbours=read_neighbours(neighbours))


@dataclass(frozen=True, slots=True, init=False)
class Response:
    """Randomized response among `options`: the truth with probability e^ε/(e^ε + options − 1), else another, evenly."""

    epsilon: Fraction
    options: int
    neighbours: Neighbours

    def __init__(self, epsilon: Number, options: int = 2, *, neighbours: Neighbours = "replace") -> None:
        _set(self, epsilon=positive(epsilon, "epsilon"), options=whole(options, "options", least=2))
        _set(self, neighbours=read_neighbours(neighbours))


@dataclass(frozen=True, slots=True, init=False)
class SparseVector:
    """AboveThreshold in the correct variant of Lyu, Su, Li (2017): any number of questions, `answers` positive ones."""

    epsilon: Fraction
    answers: int
    neighbours: Neighbours

    def __init__(self, epsilon: Number, answers: int = 1, *, neighbours: Neighbours = ADD_REMOVE) -> None:
        _set(self, epsilon=positive(epsilon, "epsilon"), answers=whole(answers, "answers", least=1))
        _set(self, neighbours=read_neighbours(neighbours))


@dataclass(frozen=True, slots=True, init=False)
class Promise:
    """A black box that keeps a promise of any measure."""

    measure: Measure
    neighbours: Neighbours

    def __init__(self, measure: Measure, *, neighbours: Neighbours = ADD_REMOVE) -> None:
        if not isinstance(measure, Measure):
            raise InvalidArgument("Promise takes a measure such as PureDP(1) or ApproxDP(1, 1e-6)")
        _set(self, measure=measure, neighbours=read_neighbours(neighbours))


@dataclass(frozen=True, slots=True, init=False)
class OwnCurve:
    """A black box known by points (ε, δ) of its privacy curve: at each listed ε it is (ε, δ)-DP, in both directions."""

    points: tuple[tuple[Fraction, Fraction], ...]
    neighbours: Neighbours

    def __init__(self, points: Iterable[tuple[Number, Number]], *, neighbours: Neighbours = ADD_REMOVE) -> None:
        exact = tuple(sorted((rational(e, "epsilon"), rational(d, "delta")) for e, d in points))
        if not exact or any(e < 0 or not 0 <= d < 1 for e, d in exact):
            raise InvalidArgument("OwnCurve needs at least one point (epsilon ≥ 0, 0 ≤ delta < 1)")
        _set(self, points=exact, neighbours=read_neighbours(neighbours))


@dataclass(frozen=True, slots=True, init=False)
class Sampled:
    """An event run on a Poisson sample: every unit takes part independently with probability `rate`."""

    event: Event
    rate: Fraction

    def __init__(self, event: Event, rate: Number) -> None:
        q = rational(rate, "rate")
        if not 0 < q <= 1:
            raise InvalidArgument(f"rate must be greater than 0 and at most 1, got {rate}")
        if event.neighbours != ADD_REMOVE:
            raise InvalidArgument("Poisson sampling is defined for 'add-remove' neighbours; state the event under them")
        _set(self, event=_event(event), rate=q)

    @property
    def neighbours(self) -> Neighbours:
        """Poisson sampling is priced for add/remove only."""
        return ADD_REMOVE


@dataclass(frozen=True, slots=True, init=False)
class Repeated:
    """One event, `times` over, each run with fresh noise; later ones may depend on earlier answers."""

    event: Event
    times: int

    def __init__(self, event: Event, times: int) -> None:
        _set(self, event=_event(event), times=whole(times, "times", least=1))

    @property
    def neighbours(self) -> Neighbours:
        """The relation of the repeated event."""
        return self.event.neighbours


@dataclass(frozen=True, slots=True, init=False)
class KeySelection:
    """Noisy counts of unknown keys, shown above a threshold: `noise` for the counts, and δ for a key of one person."""

    noise: Event
    delta: Fraction

    def __init__(self, noise: Event, delta: Number) -> None:
        d = rational(delta, "delta")
        if not 0 < d < 1:
            raise InvalidArgument(f"delta must lie between 0 and 1, got {delta}; it should be far below 1/n")
        _set(self, noise=_event(noise), delta=d)

    @property
    def neighbours(self) -> Neighbours:
        """The relation of the noise."""
        return self.noise.neighbours


@dataclass(frozen=True, slots=True, init=False)
class Sequence:
    """Several events in slots fixed beforehand; what is asked in each may depend on the answers before."""

    events: tuple[Event, ...]

    def __init__(self, events: Iterable[Event]) -> None:
        _set(self, events=_alike(events))

    @property
    def neighbours(self) -> Neighbours:
        """The relation all the events share."""
        return self.events[0].neighbours


@dataclass(frozen=True, slots=True, init=False)
class Batch:
    """Several events asked at once, before any answer is seen."""

    events: tuple[Event, ...]

    def __init__(self, events: Iterable[Event]) -> None:
        _set(self, events=_alike(events))

    @property
    def neighbours(self) -> Neighbours:
        """The relation all the events share."""
        return self.events[0].neighbours


@dataclass(frozen=True, slots=True, init=False)
class Parallel:
    """One event on each of several disjoint, public parts of the data; the parts are stated under add/remove.

    Under add/remove one unit touches one part, so the worst part is the price. Under replace a unit may move from one
    part to another and touch two, so the worst two parts are (max over public parts is wrong there).
    """

    parts: tuple[Event, ...]
    neighbours: Neighbours

    def __init__(self, parts: Iterable[Event], *, neighbours: Neighbours = ADD_REMOVE) -> None:
        exact = _alike(parts)
        if exact[0].neighbours != ADD_REMOVE:
            raise InvalidArgument(
                "the parts of Parallel are stated under 'add-remove'; `neighbours` says what the whole is"
            )
        _set(self, parts=exact, neighbours=read_neighbours(neighbours))


Event: TypeAlias = (
    LaplaceNoise
    | DiscreteLaplaceNoise
    | TruncatedGeometricNoise
    | GaussianNoise
    | DiscreteGaussianNoise
    | BinomialNoise
    | ExponentialSelection
    | PermuteAndFlipSelection
    | Response
    | SparseVector
    | Promise
    | OwnCurve
    | Sampled
    | Repeated
    | KeySelection
    | Sequence
    | Batch
    | Parallel
)


def _event(value: object) -> Event:
    if not isinstance(value, Event):
        raise InvalidArgument(f"an event is expected, such as mechanism.event; got {type(value).__name__}")
    return value


def _alike(events: Iterable[Event]) -> tuple[Event, ...]:
    exact = tuple(_event(e) for e in events)
    if not exact:
        raise InvalidArgument("at least one event is needed; nothing done costs nothing")
    if len({e.neighbours for e in exact}) > 1:
        raise InvalidArgument("the events mix 'add-remove' and 'replace' neighbours; restate them under one relation")
    return exact
