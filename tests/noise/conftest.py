"""The noise tests compare with 400-bit numbers; other oracles set mpmath to what they need, so it is set anew here."""

from __future__ import annotations

import mpmath


def pytest_runtest_setup(item):
    mpmath.mp.prec = 400
