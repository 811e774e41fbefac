"""Laws of mechanisms with finitely many outputs.

Releases have the stated probabilities, neighbouring inputs differ by at most the price of the
event, outputs are the declared ones, and error bars hold.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from typing import Any, TypeAlias

import numpy as np

from ..arithmetic.arrays import Floats
from ..frozen import frozen
from ..privacy.compose import compose
from ..privacy.events import Event
from .findings import Law, refute
from .laws_event import FALSE_ALARM, chernoff, key, refusal

Chances: TypeAlias = Mapping[Hashable, float]

_EPSILONS = (0.0, 0.01, 0.1, 0.3, 1.0, 2.0, 4.0, 8.0)
# Beyond it e^ε nears the end of the floats.
_MAX_EPSILON = 600.0
_NO_LAW = "no probabilities(value) tells its law; discreet.audit.verify samples it"


@frozen
class Case:
    """Known facts of one mechanism.

    They are its inputs, neighbouring pairs, values it must refuse, and its exact law.
    `allowed(value, output)` returns whether an output is one of those declared.
    `missed(value, output, beta)` returns whether an output exceeds the error bar at β. `silent` is
    the reason why no law is stated.
    """

    kind: str
    inputs: tuple[Any, ...]
    pairs: tuple[tuple[Any, Any], ...]
    refuses: tuple[Any, ...]
    law: Callable[[Any], Chances] | None = None
    allowed: Callable[[Any, Any], bool] | None = None
    missed: Callable[[Any, Any, float], bool] | None = None
    silent: str = _NO_LAW


def choice_laws(mechanism: Any, case: Case, draws: int) -> dict[str, Law]:  # noqa: ANN401
    """List the laws of a mechanism that chooses among finitely many outputs."""
    return {
        "refusal": lambda: refusal(mechanism, case.refuses),
        "range": lambda: _range(mechanism, case),
        "loss": lambda: _loss(mechanism.event, case),
        "law": lambda: _drawn(mechanism, case, draws),
        "error": lambda: _error(case),
    }


def prices(event: Event) -> list[tuple[float, float]]:
    """Return pairs (ε, δ) of an event's privacy curve at some ε, and at its pure ε up to 600."""
    curve = compose([event])
    epsilons = list(_EPSILONS)
    pure = curve.epsilon(delta=0)
    if pure <= _MAX_EPSILON:
        epsilons.append(pure)
    return [(epsilon, curve.delta(epsilon=epsilon)) for epsilon in epsilons]


def within(
    curve: list[tuple[float, float]],
    p: Floats,
    q: Floats,
    slack: float,
    grain: float = 0.0,
) -> None:
    """Compare Σ max(0, p − e^ε·q) of two neighbours with the price of the event, both ways round.

    `curve` has pairs (ε, δ), `p` and `q` are the probabilities of all outputs for each input.
    `slack` is the rounding error of the sum, `grain` that of a single probability, which e^ε
    multiplies.

    Refuses: `ClaimRefuted` where the sum exceeds δ.
    """
    for epsilon, price in curve:
        growth = math.exp(epsilon)
        forward = np.maximum(0.0, p - growth * q).sum()
        backward = np.maximum(0.0, q - growth * p).sum()
        found = float(max(forward, backward))
        # Rounding must not refute a sound mechanism.
        allowed = price * (1 + 1e-9) + slack + grain * growth
        by_law = f"δ({epsilon:.4g}) is {found:.6g} by the law"
        by_price = f"the event's price is {price:.6g}"
        refute(found <= allowed, f"{by_law}, {by_price}: it costs more than it says")


def _range(mechanism: Any, case: Case) -> str | None:  # noqa: ANN401
    """Search for outputs that are not among those declared."""
    if case.allowed is None or not case.inputs:
        return "it declares no range of outputs, or no inputs were given"
    for value in case.inputs:
        # Few draws: an undeclared output is an error of the code, not a rare event.
        for _ in range(20):
            output = mechanism.release(value)
            refute(case.allowed(value, output), f"{output!r} is not one of the outputs it declares")
    return None


def _loss(event: Event, case: Case) -> str | None:
    """Compare the exact laws of neighbouring inputs with the price."""
    if case.law is None:
        return case.silent
    curve = prices(event)
    for one, other in case.pairs:
        p, q = _aligned(case.law(one), case.law(other))
        for total in (p.sum(), q.sum()):
            refute(abs(total - 1) < 1e-9, f"the probabilities add up to {total:.6g}, not to 1")
        within(curve, p, q, 1e-10, 1e-13)
    return None if case.pairs else "give neighbouring inputs: neighbours=[(one, other)]"


def _aligned(one: Chances, other: Chances) -> tuple[Floats, Floats]:
    """Return the probabilities of two laws over the outputs of either."""
    outputs = [*one, *(output for output in other if output not in one)]
    p = [one.get(output, 0.0) for output in outputs]
    q = [other.get(output, 0.0) for output in outputs]
    return np.array(p, dtype=np.float64), np.array(q, dtype=np.float64)


def _drawn(mechanism: Any, case: Case, draws: int) -> str | None:  # noqa: ANN401
    """Compare frequencies of releases with the stated probabilities, by Chernoff's bound."""
    if case.law is None:
        return case.silent
    for value in case.inputs:
        chances = case.law(value)
        counts = Counter(key(mechanism.release(value)) for _ in range(draws))
        # Bonferroni over both sides of every output of every input.
        tests = 2 * (len(chances) + len(counts)) * len(case.inputs)
        limit = math.log(tests / FALSE_ALARM)
        for output in {**chances, **counts}:
            share = counts[output] / draws
            chance = chances.get(output, 0.0)
            came = f"{output!r} came in {share:.4g} of {draws} releases"
            rate = chernoff(share, min(chance, 1.0))
            refute(draws * rate < limit, f"{came}, its told chance is {chance:.4g}")
    return None if case.inputs else "give inputs that it takes"


def _error(case: Case) -> str | None:
    """Add up the probabilities of all outputs beyond the error bar."""
    if case.law is None:
        return case.silent
    if case.missed is None:
        return "its error bar is not that of one choice"
    for value in case.inputs:
        chances = case.law(value)
        for beta in (0.05, 0.5):
            missed = [chance for out, chance in chances.items() if case.missed(value, out, beta)]
            found = sum(missed)
            exceeded = f"error at β = {beta} is exceeded with probability {found:.4g}"
            refute(found <= beta + 1e-9, f"{exceeded}: it flatters")
    return None if case.inputs else "give inputs that it takes"
