"""Recognition of a mechanism by its members, so that it can be tried on inputs that suit it.

members that it has                        it is checked as
probabilities(scores), sensitivity         a selection (TopK: probability(scores, order) and k)
options, with p and q or probabilities     a randomized response among 0 … options − 1
side, truth, channel()                     a response on a grid of side × side cells
probabilities(value) alone                 as the caller says, with that law of outputs
anything else                              as the caller says: inputs, neighbours, refuses

Inputs, neighbouring pairs, values to be refused and the exact law of outputs follow from that.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from .laws_choice import Case, Chances
from .laws_event import key

_LONG = "its law is too long to list"
# Scores in units of the sensitivity: ties, small gaps, large gaps.
_SCORES = ((0, 0, 0, 0), (0, 1, 3, 8), (0, 10, 10, 10), (0, 100, 100, 100))
# Limits that keep a check short: outputs of a law, candidates moved, options swapped.
_MAX_LISTED = 5000
_MAX_MOVED = 8
_MAX_SWAPPED = 4


def case_of(mechanism: Any, given: Case) -> Case:  # noqa: ANN401
    """Recognise a mechanism by its members, and return what is known of it for the checks.

    Inputs of the caller (`given`) replace the usual ones; its pairs and refused values are added.
    """
    if isinstance(getattr(mechanism, "options", None), int):
        return _response(mechanism, given)
    if isinstance(getattr(mechanism, "side", None), int) and hasattr(mechanism, "channel"):
        return _grid(mechanism, given)
    chooses = hasattr(mechanism, "probabilities") or hasattr(mechanism, "probability")
    if chooses and isinstance(getattr(mechanism, "sensitivity", None), int | float | Fraction):
        return _selection(mechanism, given)
    if not hasattr(mechanism, "probabilities"):
        return given
    law = _stated_law(mechanism)

    def allowed(value: Any, output: Any) -> bool:  # noqa: ANN401
        return law(value).get(key(output), 0.0) > 0

    return replace(given, law=law, allowed=allowed)


def _stated_law(mechanism: Any) -> Callable[[Any], Chances]:  # noqa: ANN401
    """Read `probabilities(value)`: one per index, or a mapping from outputs to probabilities."""

    def law(value: object) -> Chances:
        chances = mechanism.probabilities(value)
        if isinstance(chances, Mapping):
            return dict(chances)
        return dict(enumerate(np.asarray(chances).tolist()))

    return law


def _selection(mechanism: Any, given: Case) -> Case:  # noqa: ANN401
    """Return the case of a selection: scores, and neighbours moved by the sensitivity.

    One candidate moves against all others, both ways. Of monotone scores only some move, all in one
    direction.
    """
    k = getattr(mechanism, "k", 1)
    unit = Fraction(mechanism.sensitivity)
    made = given.inputs or tuple(_scores(unit, steps, k) for steps in _SCORES)
    away = 0 if getattr(mechanism, "monotone", False) else -1
    pairs = []
    for scores in made:
        pairs += [(scores, moved) for moved in _moved(scores, unit, away)]
    rest = made[0][1:]
    bad = ([math.nan, *rest], [math.inf, *rest], [], *given.refuses)
    law: Callable[[Any], Chances] | None = None
    if k == 1 and hasattr(mechanism, "probabilities"):
        law = _stated_law(mechanism)
    elif math.perm(max(map(len, made)), k) <= _MAX_LISTED:
        law = _law_of_orders(mechanism, k)

    def allowed(scores: Any, output: Any) -> bool:  # noqa: ANN401
        indices = np.atleast_1d(output)
        distinct = len(set(indices.tolist()))
        complete = indices.dtype.kind in "iu" and indices.size == k == distinct
        return bool(complete and (indices >= 0).all() and (indices < len(scores)).all())

    def missed(scores: Any, output: Any, beta: float) -> bool:  # noqa: ANN401
        best = sorted(scores, reverse=True)
        chosen = output if isinstance(output, tuple) else (output,)
        bar = mechanism.error(len(scores), beta)
        return any(best[rank] - scores[index] > bar for rank, index in enumerate(chosen))

    barred = missed if hasattr(mechanism, "error") else None
    return Case("selection", made, (*pairs, *given.pairs), bad, law, allowed, barred, _LONG)


def _scores(unit: Fraction, steps: tuple[int, ...], k: int) -> list[int | float]:
    """Return scores in units of the sensitivity; at least one candidate more than are chosen."""
    padded = (*steps, *[0] * (k - 3))
    return [_number(unit * step) for step in padded]


def _moved(scores: Any, unit: Fraction, away: int) -> list[list[Any]]:  # noqa: ANN401
    """Move each of the first candidates up and all others down, and the other way round."""
    moved = []
    for chosen in range(min(len(scores), _MAX_MOVED)):
        for own, others in ((1, away), (away, 1)):
            changed = [score + _number(unit * others) for score in scores]
            changed[chosen] = scores[chosen] + _number(unit * own)
            moved.append(changed)
    return moved


def _law_of_orders(mechanism: Any, k: int) -> Callable[[Any], Chances]:  # noqa: ANN401
    """Return the law of an ordered choice of k candidates."""

    def law(scores: Any) -> Chances:  # noqa: ANN401
        orders = itertools.permutations(range(len(scores)), k)
        return {order: mechanism.probability(scores, order) for order in orders}

    return law


def _response(mechanism: Any, given: Case) -> Case:  # noqa: ANN401
    """Return the case of a randomized response: any two true answers are neighbours."""
    options = mechanism.options
    made = given.inputs or tuple(range(min(options, _MAX_SWAPPED)))

    def two_levels(value: Hashable) -> Chances:
        p = mechanism.p
        q = mechanism.q
        return {option: p if option == value else q for option in range(options)}

    law: Callable[[Any], Chances] | None = None
    if hasattr(mechanism, "probabilities"):
        law = _stated_law(mechanism)
    elif options <= _MAX_LISTED and hasattr(mechanism, "p") and hasattr(mechanism, "q"):
        law = two_levels
    pairs = (*itertools.combinations(made, 2), *given.pairs)
    bad = (math.nan, -1, options, [], *given.refuses)

    def allowed(_: object, output: object) -> bool:
        return isinstance(output, int | np.integer) and bool(0 <= output < options)

    silent = "neither p and q nor probabilities(answer) tell its law"
    if options > _MAX_LISTED:
        silent = _LONG
    return Case("response", made, pairs, bad, law, allowed, silent=silent)


def _grid(mechanism: Any, given: Case) -> Case:  # noqa: ANN401
    """Return the case of a response on a grid: three corners and the middle, all neighbours."""
    side = mechanism.side
    last = side - 1
    middle = side // 2
    # Without duplicates: on small grids the middle is a corner.
    corners = dict.fromkeys([(0, 0), (0, last), (last, last), (middle, middle)])
    made = given.inputs or tuple(corners)
    cells = list(itertools.product(range(side), repeat=2))

    def law(cell: tuple[int, int]) -> Chances:
        if mechanism.score == "uniform":
            other = (1 - mechanism.truth) / (side**2 - 1)
            return {c: mechanism.truth if c == cell else other for c in cells}
        channel = mechanism.channel()
        # Both coordinates are drawn independently.
        product = np.outer(channel[cell[0]], channel[cell[1]])
        return dict(zip(cells, product.ravel().tolist(), strict=True))

    def allowed(_: object, output: object) -> bool:
        return output in cells

    pairs = (*itertools.combinations(made, 2), *given.pairs)
    bad = (math.nan, (math.nan, 0), (-1, 0), (0, side), (), *given.refuses)
    listed = law if side**2 <= _MAX_LISTED else None
    return Case("grid", made, pairs, bad, listed, allowed, silent=_LONG)


def _number(exact: Fraction) -> int | float:
    return int(exact) if exact.denominator == 1 else float(exact)
