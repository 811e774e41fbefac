"""What a test needs, whether it is measured, and who runs it when: the long serial groups first, then file by file."""

from __future__ import annotations

import gc
import importlib
import pkgutil

import pytest

from support.profile import DEEP

NEEDS = {
    "spark": ("needs_spark", {"spark_session", "spark", "cluster"}),
    "postgres": ("needs_postgres", {"postgres_dsn", "postgres"}),
    "browser": ("needs_browser", {"chromium"}),
}
"""A need by the name of a store in a test's parameters, and the fixtures that ask for it."""
FIRST = ("tests/service/", "tests/curator/", "tests/ledger/", "tests/end_to_end/", "tests/audit/", "tests/docs/",
         "tests/engines/", "tests/privacy/", "tests/")  # fmt: skip
"""Folders of long files before folders of short ones, so that no worker ends long before the other; doctests last."""
PROMISING = ("arithmetic", "noise", "privacy", "mechanisms", "query", "statistics")
"""The packages whose branches are measured (see `gates.py`)."""
MEASURED = (
    *(f"{top}/{package}/" for package in PROMISING for top in ("tests", "src/discreet")),
    "tests/laws/",
    "tests/vectors/",
    "tests/repository/test_rational.py",
    "tests/local/test_shuffle.py",
    "tests/engines/test_fanout.py",
    "tests/curator/test_foreign.py",
    "tests/end_to_end/test_plain_sql.py",
    "tests/workloads/test_nested.py",
)
"""Where tests run under coverage: a traced loop takes twice its time, so what proves no branch is not traced."""
NOW = pytest.StashKey[bool]()
"""Whether the test of this moment is in a folder that is measured: what it shares with others is traced whoever asks first."""


def group_of(nodeid: str) -> str:
    """Return the name of what one worker runs in one go: all of Spark, all of the browser, or a file."""
    if "spark" in nodeid.lower():
        return "spark"
    if "/browser/" in nodeid:
        return "browser"
    return nodeid.split("::", 1)[0]


def rank(nodeid: str) -> tuple[int, int]:
    group = group_of(nodeid)
    long = ["spark", "browser"].index(group) if group in ("spark", "browser") else 2
    return long, next(
        (place for place, folder in enumerate(FIRST) if nodeid.startswith(folder)), len(FIRST)
    )


def mark_needs(item: pytest.Item) -> None:
    """Add the markers of what a test asks for, by its fixtures and by the store among its parameters."""
    asked = set(getattr(item, "fixturenames", ()))
    given = {
        value
        for value in getattr(getattr(item, "callspec", None), "params", {}).values()
        if isinstance(value, str)
    }
    for store, (marker, fixtures) in NEEDS.items():
        if asked & fixtures or store in given:
            item.add_marker(marker)
    if item.get_closest_marker("needs_spark") and group_of(item.nodeid) != "spark":
        raise pytest.UsageError(
            f"{item.nodeid} needs Spark: say so in its name, by which it finds the one session"
        )


def is_deep_only(item: pytest.Item) -> bool:
    """Return whether a test runs in deep only: what is slow, and two thirds of a grid.

    Of a grid those cases stay whose number, written in base three, has digits that add up to a multiple of three: a
    third that is spread over the values of every parameter, also where a parameter has three.
    """
    if item.get_closest_marker("slow"):
        return True
    if not item.get_closest_marker("grid"):
        return False
    number, digits = max(item.callspec.indices.values()), 0
    while number:
        number, digit = divmod(number, 3)
        digits += digit
    return digits % 3 != 0


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """Mark all, leave what is slow to deep, and bring the long groups to the front of a random order."""
    for item in items:
        mark_needs(item)
    later = set() if DEEP else {item for item in items if is_deep_only(item)}
    if later:
        config.hook.pytest_deselected(items=list(later))
    kept = [item for item in items if item not in later]
    items[:] = (
        sorted(kept, key=lambda item: rank(item.nodeid)) if hasattr(config, "workerinput") else kept
    )


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Give each worker a group at a time, in the order of the collection.

    Marks of groups get lost between xdist 3.8 and pytest 9.2, so that a group is told by the name of a test.
    """
    from xdist.scheduler import LoadScopeScheduling

    class ByGroup(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return group_of(nodeid)

    config.option.loadscopereorder = False
    return ByGroup(config, log)


def tracer_of(config: pytest.Config):
    """Return what starts and stops coverage in a process that runs tests."""
    controller = getattr(config.pluginmanager.getplugin("_cov"), "cov_controller", None)
    leads = config.getoption("dist", "no") != "no" and not hasattr(config, "workerinput")
    return None if leads else controller


def stop_tracing(tracer) -> None:
    """Pause coverage, and end what pytest-cov started before it in a worker: nobody reads that one, and it would go on
    tracing, at two to four times the price of a test, whenever the other is paused.
    """
    from coverage import Coverage

    tracer.pause()
    while (other := Coverage.current()) is not None:
        other.stop()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection(session):
    """Import the gated packages under coverage, then pause it: to trace the collection of all tests takes seconds.

    What was read lives as long as the process: it is not looked through for garbage, now or during the tests, and what
    tests leave behind is looked through thirty times less often than is usual.
    """
    gc.disable()
    tracer = tracer_of(session.config)
    if tracer is not None:
        for package in PROMISING:
            home = importlib.import_module(f"discreet.{package}")
            for module in pkgutil.walk_packages(home.__path__, f"{home.__name__}."):
                importlib.import_module(module.name)
        stop_tracing(tracer)
    collected = yield
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()
    return collected


def pytest_configure(config):
    """Let all be looked through again when pytest is done: what is frozen then looks to extension modules as leaked.

    Said before pytest says that it collects garbage ten times at the end, this is done after it.
    """
    config.add_cleanup(gc.unfreeze)


def is_measured(item: pytest.Item) -> bool:
    """Return whether a test is traced: no long draw of samples is."""
    untraced = any(item.get_closest_marker(name) for name in ("untraced", "statistical"))
    return item.nodeid.startswith(MEASURED) and not untraced


def traced(config: pytest.Config, measured: bool):
    """Run one step of a test under coverage, if it is measured; pytest's own steps around it are not."""
    tracer = tracer_of(config) if measured else None
    if tracer is None or tracer.started:
        return (yield)
    tracer.resume()
    try:
        return (yield)
    finally:
        tracer.pause()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item, nextitem):
    item.config.stash[NOW] = item.nodeid.startswith(MEASURED)
    return (yield)


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_fixture_setup(fixturedef, request):
    return (yield from traced(request.config, request.config.stash[NOW]))


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_call(item):
    return (yield from traced(item.config, is_measured(item)))
