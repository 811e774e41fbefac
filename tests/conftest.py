"""The profile, the stores, the order of the tests and their counts, for every folder."""

from __future__ import annotations

import mpmath
import pytest

from support import counts, examples, order
from support.profile import load_profile
from support.stores import postgres_dsn, spark_session

__all__ = ["postgres_dsn", "spark_session"]

load_profile()
DIGITS = 60
"""What mpmath computes with where a test does not say more: other tests in the same process may have set it."""


def pytest_configure(config):
    """Add what holds for the examples of the program as well: hooks of this file are asked about tests only."""
    for plugin in (counts, examples, order):
        config.pluginmanager.register(plugin)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    mpmath.mp.dps = DIGITS
