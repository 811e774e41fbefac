"""What is known of a mechanism by its face: which inputs are neighbours, what it must refuse, its exact law.

probabilities(scores), sensitivity         a selection (TopK: probability(scores, order) and k)
options, with p and q or probabilities     a randomized response among 0 … options − 1
side, truth, channel()                     a response on a grid
anything else                              what the caller says: inputs, neighbours, refuses
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from .laws_choice import Case, Chances
from .laws_event import key

_LONG = "its law is too long to list"
_SHAPES = ((0, 0, 0, 0), (0, 1, 3, 8), (0, 10, 10, 10), (0, 100, 100, 100))
_MOST_LISTED = 5000
_MOST_MOVED = 8
_MOST_SWAPPED = 4


def case_of(
    mechanism: Any, inputs: tuple[Any, ...], neighbours: tuple[Any, ...], refuses: tuple[Any, ...]
) -> Case:
    """Recognise a mechanism by its face; what the caller says comes first, the rest is made up."""
    chooses = hasattr(mechanism, "probabilities") or hasattr(mechanism, "probability")
    if isinstance(getattr(mechanism, "options", None), int):
        return _response(mechanism, inputs, neighbours, refuses)
    if isinstance(getattr(mechanism, "side", None), int) and hasattr(mechanism, "channel"):
        return _grid(mechanism, inputs, neighbours, refuses)
    if chooses and isinstance(getattr(mechanism, "sensitivity", None), int | float | Fraction):
        return _selection(mechanism, inputs, neighbours, refuses)
    law = _told(mechanism) if hasattr(mechanism, "probabilities") else None
    allowed = None if law is None else _supported(law)
    return Case("other", inputs, neighbours, refuses, law, allowed)


def _told(mechanism: Any) -> Callable[[Any], Chances]:  # noqa: ANN401
    """Read `probabilities(value)`: a chance per index, or a mapping from outputs to chances."""

    def law(value: object) -> Chances:
        chances = mechanism.probabilities(value)
        return (
            dict(chances)
            if isinstance(chances, Mapping)
            else dict(enumerate(np.asarray(chances).tolist()))
        )

    return law


def _supported(law: Callable[[Any], Chances]) -> Callable[[Any, Any], bool]:
    return lambda value, output: law(value).get(key(output), 0.0) > 0


def _selection(
    mechanism: Any, inputs: tuple[Any, ...], neighbours: tuple[Any, ...], refuses: tuple[Any, ...]
) -> Case:
    """Move scores by the sensitivity: one candidate against all others; monotone scores one way only."""
    k = getattr(mechanism, "k", 1)
    unit = Fraction(mechanism.sensitivity)
    made = inputs or tuple(
        [_number(unit * s) for s in (*shape, *[0] * (k - 3))] for shape in _SHAPES
    )
    away = 0 if getattr(mechanism, "monotone", False) else -1
    pairs = tuple((scores, moved) for scores in made for moved in _moved(scores, unit, away))
    bad = ([math.nan, *made[0][1:]], [math.inf, *made[0][1:]], [], *refuses)
    single = k == 1 and hasattr(mechanism, "probabilities")
    listed = single or math.perm(max(map(len, made)), k) <= _MOST_LISTED
    law = _told(mechanism) if single else None
    if listed and not single:
        law = _orders(mechanism, k)

    def allowed(scores: Any, output: Any) -> bool:  # noqa: ANN401
        places = np.atleast_1d(output)
        whole = places.dtype.kind in "iu" and places.size == k == len(set(places.tolist()))
        return bool(whole and (places >= 0).all() and (places < len(scores)).all())

    def missed(scores: Any, output: Any, beta: float) -> bool:  # noqa: ANN401
        best, told = (
            sorted(scores, reverse=True),
            output if isinstance(output, tuple) else (output,),
        )
        bar = mechanism.error(len(scores), beta)
        return any(best[place] - scores[index] > bar for place, index in enumerate(told))

    barred = missed if hasattr(mechanism, "error") else None
    return Case("selection", made, (*pairs, *neighbours), bad, law, allowed, barred, _LONG)


def _moved(scores: Any, unit: Fraction, away: int) -> list[list[Any]]:  # noqa: ANN401
    """Move each of the first candidates up and all others down, and the other way round."""
    found = []
    for chosen in range(min(len(scores), _MOST_MOVED)):
        for up, others in ((1, away), (away, 1)):
            steps = [up if index == chosen else others for index in range(len(scores))]
            found.append(
                [score + _number(unit * step) for score, step in zip(scores, steps, strict=True)]
            )
    return found


def _orders(mechanism: Any, k: int) -> Callable[[Any], Chances]:  # noqa: ANN401
    return lambda scores: {
        order: mechanism.probability(scores, order)
        for order in itertools.permutations(range(len(scores)), k)
    }


def _response(
    mechanism: Any, inputs: tuple[Any, ...], neighbours: tuple[Any, ...], refuses: tuple[Any, ...]
) -> Case:
    """Swap options: any two answers are neighbours."""
    options = mechanism.options
    made = inputs or tuple(range(min(options, _MOST_SWAPPED)))

    def spread(value: Hashable) -> Chances:
        return {
            option: mechanism.p if option == value else mechanism.q for option in range(options)
        }

    law: Callable[[Any], Chances] | None = None
    if hasattr(mechanism, "probabilities"):
        law = _told(mechanism)
    elif options <= _MOST_LISTED and hasattr(mechanism, "p") and hasattr(mechanism, "q"):
        law = spread
    pairs = (*itertools.combinations(made, 2), *neighbours)
    bad = (math.nan, -1, options, [], *refuses)

    def allowed(_: object, output: object) -> bool:
        return isinstance(output, int | np.integer) and bool(0 <= output < options)

    silent = (
        _LONG
        if options > _MOST_LISTED
        else "neither p and q nor probabilities(answer) tell its law"
    )
    return Case("response", made, pairs, bad, law, allowed, silent=silent)


def _grid(
    mechanism: Any, inputs: tuple[Any, ...], neighbours: tuple[Any, ...], refuses: tuple[Any, ...]
) -> Case:
    """Swap places: corners and a middle, any two of which are neighbours."""
    side = mechanism.side
    last, middle = side - 1, side // 2
    made = inputs or tuple(dict.fromkeys([(0, 0), (0, last), (last, last), (middle, middle)]))
    cells = list(itertools.product(range(side), repeat=2))

    def law(place: tuple[int, int]) -> Chances:
        if mechanism.score == "uniform":
            other = (1 - mechanism.truth) / (side**2 - 1)
            return {cell: mechanism.truth if cell == place else other for cell in cells}
        lines = mechanism.channel()
        return dict(
            zip(cells, np.outer(lines[place[0]], lines[place[1]]).ravel().tolist(), strict=True)
        )

    pairs = (*itertools.combinations(made, 2), *neighbours)
    bad = (math.nan, (math.nan, 0), (-1, 0), (0, side), (), *refuses)
    listed = law if side**2 <= _MOST_LISTED else None
    return Case("grid", made, pairs, bad, listed, lambda _, output: output in cells, silent=_LONG)


def _number(exact: Fraction) -> int | float:
    return int(exact) if exact.denominator == 1 else float(exact)
