"""Which rounds a search for words has, how many people each of them asks, and how many prefixes it hands on."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ...errors import InvalidArgument
from ...frozen import frozen

_FIRST = 20  # bits that a search begins with: as many candidates as a server counts in well under a second
_STEP, _LEAP = 7, 14  # bits that a later round adds at most: of the search proper, and of scouts
_SCOUT, _COUNT, _ALL = (
    20,
    100,
    1000,
)  # people of a scouts' round, of the last round, and of all, in thousandths


@frozen
class Stage:
    """One round: it knows at most `most` prefixes of `known` bits and asks its share `people` for `length`."""

    known: int
    length: int
    people: int
    most: int


@lru_cache(maxsize=64)
def stages_of(bits: int, top: int) -> tuple[Stage, ...]:
    """Return the rounds: scouts, who find what is very frequent; the search proper; and counting what was found.

    >>> from discreet.local.search.rounds import stages_of
    >>> for stage in stages_of(32, 20):
    ...     print(stage)
    Stage(known=0, length=20, people=20, most=1)
    Stage(known=20, length=32, people=20, most=64)
    Stage(known=0, length=20, people=286, most=1)
    Stage(known=20, length=26, people=286, most=8192)
    Stage(known=26, length=32, people=286, most=8192)
    Stage(known=32, length=32, people=100, most=60)

    Words that one round can count need one round.
    """
    if bits <= _FIRST:
        return (Stage(0, bits, _ALL, 1),)
    scouts, search = _ends(bits, _LEAP), _ends(bits, _STEP)
    rest = (_ALL - _COUNT - _SCOUT * len(scouts)) // len(search)
    return (
        *(
            Stage(known, length, _SCOUT, 1 << (_FIRST - _LEAP) if known else 1)
            for known, length in scouts
        ),
        *(
            Stage(known, length, rest, 1 << (_FIRST - _STEP) if known else 1)
            for known, length in search
        ),
        Stage(bits, bits, _COUNT, 3 * top),
    )


def _ends(bits: int, step: int) -> list[tuple[int, int]]:
    rounds = -(-(bits - _FIRST) // step)
    ends = [0, _FIRST, *(_FIRST + (bits - _FIRST) * i // rounds for i in range(1, rounds + 1))]
    return list(pairwise(ends))


def people_of(stages: tuple[Stage, ...]) -> int:
    """Return all shares together."""
    return sum(stage.people for stage in stages)


def groups_of(stages: tuple[Stage, ...], drawn: NDArray[np.int64]) -> NDArray[np.intp]:
    """Return the round of numbers drawn below `people_of(stages)`: each as often as its share."""
    return np.searchsorted(np.cumsum([stage.people for stage in stages]), drawn, side="right")


def check_rising(numbers: tuple[int, ...], bits: int, name: str, *, most: int) -> None:
    """Refuse numbers that do not rise, have more bits, or are too many."""
    if len(numbers) > most or any(a >= b for a, b in pairwise((-1, *numbers, 1 << bits))):
        raise InvalidArgument(f"{name} must rise, within their bits, and be at most {most}")
