"""Rounds of a heavy-hitter search: their prefixes, and the fraction of people each one asks.

A word is a number of fixed length in bits. Each round asks one group of people to extend known
prefixes by some bits; each person belongs to one round.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ...errors import InvalidArgument
from ...frozen import frozen

# Bits of the first round: as many candidates as a server counts in well under a second.
_FIRST_BITS = 20
# Largest number of bits that a later round adds: in the search proper, and for scouts.
_SEARCH_BITS = 7
_SCOUT_BITS = 14
# People of a scouts' round, of the last round, and of all rounds, in thousandths.
_SCOUT_PEOPLE = 20
_COUNT_PEOPLE = 100
_ALL_PEOPLE = 1000


@frozen
class Stage:
    """One round: `people` thousandths are asked for `length` bits of their word.

    At most `most` prefixes of `known` bits are candidates for the beginning of the word.
    """

    known: int
    length: int
    people: int
    most: int


@lru_cache(maxsize=64)
def stages_of(bits: int, top: int) -> tuple[Stage, ...]:
    """Return the rounds: scouts find very frequent words, the search proper, then counting.

    >>> from discreet.local.search.rounds import stages_of
    >>> for stage in stages_of(32, 20):
    ...     print(stage)
    Stage(known=0, length=20, people=20, most=1)
    Stage(known=20, length=32, people=20, most=64)
    Stage(known=0, length=20, people=286, most=1)
    Stage(known=20, length=26, people=286, most=8192)
    Stage(known=26, length=32, people=286, most=8192)
    Stage(known=32, length=32, people=100, most=60)

    Words of at most 20 bits need one round.

    Law: `tests/local/test_words.py::test_rounds_add_up_and_candidates_stay_few`
    """
    if bits <= _FIRST_BITS:
        return (Stage(0, bits, _ALL_PEOPLE, 1),)
    scouts = _ends(bits, _SCOUT_BITS)
    search = _ends(bits, _SEARCH_BITS)
    # Rounded down: the rounds may share slightly less than all; `people_of` is the total used.
    search_people = (_ALL_PEOPLE - _COUNT_PEOPLE - _SCOUT_PEOPLE * len(scouts)) // len(search)
    return (
        *_stages(scouts, _SCOUT_PEOPLE, _SCOUT_BITS),
        *_stages(search, search_people, _SEARCH_BITS),
        Stage(bits, bits, _COUNT_PEOPLE, 3 * top),
    )


def _stages(ends: list[tuple[int, int]], people: int, step: int) -> list[Stage]:
    """Make rounds that keep as many prefixes as the first round has candidates for the step."""
    stages = []
    for known, length in ends:
        max_prefixes = 1 << (_FIRST_BITS - step) if known else 1
        stages.append(Stage(known, length, people, max_prefixes))
    return stages


def _ends(bits: int, step: int) -> list[tuple[int, int]]:
    """Split the bits after the first round evenly into steps of at most `step` bits."""
    added = bits - _FIRST_BITS
    rounds = -(-added // step)
    ends = [0, _FIRST_BITS]
    for i in range(1, rounds + 1):
        ends.append(_FIRST_BITS + added * i // rounds)
    return list(pairwise(ends))


def people_of(stages: tuple[Stage, ...]) -> int:
    """Return the sum of `people` over all rounds."""
    return sum(stage.people for stage in stages)


def groups_of(stages: tuple[Stage, ...], drawn: NDArray[np.int64]) -> NDArray[np.intp]:
    """Return the round of each number drawn below `people_of(stages)`.

    Guarantee: a uniform number falls into a round with probability `people`/`people_of(stages)`.
    Law: `tests/local/test_words.py::test_every_person_has_one_round_with_the_chances_said`
    """
    ends = np.cumsum([stage.people for stage in stages])
    return np.searchsorted(ends, drawn, side="right")


def check_rising(numbers: tuple[int, ...], bits: int, name: str, *, most: int) -> None:
    """Refuse numbers that do not rise, have more than `bits` bits, or are more than `most`."""
    # One sentinel on each side turns "at least 0" and "below 2^bits" into the same comparison.
    bounded = (-1, *numbers, 1 << bits)
    rising = all(a < b for a, b in pairwise(bounded))
    if len(numbers) > most or not rising:
        raise InvalidArgument(f"{name} must rise, within their bits, and be at most {most}")
