"""How much the tests do: `dev` between two thoughts, `ci` before a landing, `deep` before anything is called done.

| DISCREET_TESTS | who sets it           | random examples of a law | races, deaths, `slow`, `grid` |
|----------------|-----------------------|--------------------------|-------------------------------|
| dev            | nobody: a bare pytest | an eighth                | small, none, a third          |
| ci             | `make test`           | a fifth                  | small, none, a third          |
| deep           | `make deep`           | all that are written     | full size, all, all           |

Every law, every form of question and every store is met in all three; only the number of repetitions differs.
"""

from __future__ import annotations

import os
from fractions import Fraction

from hypothesis import HealthCheck, settings

SHARES = {"dev": Fraction(1, 8), "ci": Fraction(1, 5), "deep": Fraction(1)}
PROFILE = os.environ.get("DISCREET_TESTS") or "dev"
DEEP = PROFILE == "deep"
ENOUGH = 8
"""A law that is written with so few examples always meets all of them."""


def examples(most: int) -> int:
    """Return how many random examples a law meets that is written with `most`."""
    return max(min(most, ENOUGH), round(most * SHARES[PROFILE]))


def draws(most: int) -> int:
    """Return how often a statistical test draws that is written for `most`: half of it, all in deep."""
    return most if DEEP else most // 2


def load_profile() -> None:
    """Tell hypothesis; whoever asks for a profile that is not there is told which ones are."""
    if PROFILE not in SHARES:
        raise ValueError(f"DISCREET_TESTS is {PROFILE!r}; it is one of {', '.join(SHARES)}")
    settings.register_profile(
        PROFILE,
        max_examples=examples(100),
        deadline=None,  # a machine that is shared may be slow at any moment
        suppress_health_check=[HealthCheck.too_slow],
        print_blob=True,
    )
    settings.load_profile(PROFILE)
