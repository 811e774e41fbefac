"""pytest plug-in: `pytest --dp-replay` audits the tests marked `private` in any project.

    @pytest.mark.private(epsilon=1, neighbours="add-remove")
    def test_count(rows):
        return my_library.count(rows, epsilon=1)

A marked function takes a data set and returns an answer; it need not use discreet. The audit calls
it on neighbouring data sets and fails the test if the claim is refuted. Without `--dp-replay` a
marked test is skipped, and no code of the audit is imported. `--dp-sarif FILE` also writes the
refuted claims to a file in the SARIF format.

| argument of the mark | meaning |
|---|---|
| `epsilon`, `delta`, `rho`, `mu` | the privacy claim: (ε, δ), zCDP or Gaussian DP |
| all others | arguments of `discreet.audit.audit_function` |
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

_REPORTS = pytest.StashKey[list[Any]]()
_MARKER = (
    "private(epsilon=…, delta=…, rho=…, mu=…, neighbours='add-remove', example=…): "
    "audited against this privacy claim by `pytest --dp-replay`"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options `--dp-replay` and `--dp-sarif`."""
    group = parser.getgroup("discreet", "audits of privacy claims")
    group.addoption("--dp-replay", action="store_true", help="audit the tests marked `private`")
    group.addoption("--dp-sarif", metavar="FILE", help="write refuted claims as SARIF to this file")


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker `private`, and the list in which audits store their reports."""
    config.addinivalue_line("markers", _MARKER)
    config.stash[_REPORTS] = []


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(
    collector: pytest.Collector, name: str, obj: object
) -> pytest.Item | None:
    """Collect a marked function as a test that audits it; as a skipped one without `--dp-replay`.

    Refuses: a function with further marks beside `private`, with a UsageError.
    """
    marks = [mark for mark in getattr(obj, "pytestmark", []) if mark.name == "private"]
    if not marks or not callable(obj) or isinstance(obj, type):
        return None
    if len(getattr(obj, "pytestmark", [])) > 1:
        raise pytest.UsageError(
            f"{name}: the mark `private` stands alone; write one test for each case"
        )
    if not collector.config.getoption("--dp-replay"):
        test = _skipped
    else:
        test = _audited(obj, marks[0], collector.config)
    return pytest.Function.from_parent(collector, name=name, callobj=test)


def _skipped() -> None:
    """Skip: audits are asked for by an option."""
    pytest.skip("run with --dp-replay to audit the claim")


def _audited(
    function: Callable[[Any], object], mark: pytest.Mark, config: pytest.Config
) -> Callable[[], None]:
    """Return the test that audits a marked function."""

    def test() -> None:
        # Only now: a project that does not ask for audits imports nothing.
        playback = import_module("discreet.audit.playback.private")
        options = dict(mark.kwargs)
        claim = _claim(options)
        report = playback.audit_function(function, claim, **options)
        config.stash[_REPORTS].append(report)
        playback.require(report)

    return test


def _claim(options: dict[str, Any]) -> object:
    """Remove the claim from the arguments of a mark and return it as a measure."""
    given = {
        name: str(options.pop(name))
        for name in ("epsilon", "delta", "rho", "mu")
        if name in options
    }
    if not given:
        raise pytest.UsageError(
            "the mark `private` needs a claim: epsilon (with or without delta), rho or mu"
        )
    budgets = import_module("discreet.privacy.budget_text")
    return budgets.parse_budget(given, "the claim")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the refuted claims as SARIF, if `--dp-sarif` names a file."""
    target = session.config.getoption("--dp-sarif")
    if not target:
        return
    reports = import_module("discreet.audit.playback.report")
    text = reports.sarif(session.config.stash[_REPORTS])
    Path(target).write_text(text, encoding="utf-8")
