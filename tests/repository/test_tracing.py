"""A test that proves no branch is not traced: coverage would make it take two to four times as long."""

import sys

import pytest

from support.order import tracer_of


def test_what_is_not_measured_is_not_traced(request):
    """pytest-cov starts coverage twice in a worker, and ending one lets the other go on."""
    if tracer_of(request.config) is None:
        pytest.skip("nothing is measured here")
    assert sys.gettrace() is None
