"""The profile, the stores, the order of the tests and their counts, for every folder."""

from __future__ import annotations

import mpmath
import pytest

from support import examples
from support.counts import pytest_terminal_summary
from support.order import (
    pytest_collection,
    pytest_collection_modifyitems,
    pytest_runtest_protocol,
    pytest_xdist_make_scheduler,
)
from support.profile import load_profile
from support.stores import postgres_dsn, spark_session

__all__ = [
    "postgres_dsn",
    "pytest_collection",
    "pytest_collection_modifyitems",
    "pytest_runtest_protocol",
    "pytest_terminal_summary",
    "pytest_xdist_make_scheduler",
    "spark_session",
]

load_profile()
DIGITS = 60
"""What mpmath computes with where a test does not say more: other tests in the same process may have set it."""


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    mpmath.mp.dps = DIGITS


def pytest_configure(config):
    config.pluginmanager.register(examples)
