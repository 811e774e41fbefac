"""What a run has tested, said in a line or two at its end: cases, functions, laws, needs, and what it took."""

from __future__ import annotations

import resource

from support.profile import PROFILE

NEEDS = ("needs_spark", "needs_postgres", "needs_browser", "statistical", "slow")


def pytest_terminal_summary(terminalreporter):
    """Count what passed, by the markers that its reports carry."""
    reports = terminalreporter.stats.get("passed", [])
    functions = {report.nodeid.split("[", 1)[0] for report in reports}
    laws = {report.nodeid.split("[", 1)[0] for report in reports if "hypothesis" in report.keywords}
    needs = {name: sum(name in report.keywords for report in reports) for name in NEEDS}
    said = ", ".join(f"{count:,} {name}" for name, count in needs.items() if count)
    terminalreporter.write_line(
        f"profile {PROFILE}: {len(reports):,} cases of {len(functions):,} tests passed, {len(laws):,} of them laws"
        + (f"; {said}" if said else "")
    )
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    terminalreporter.write_line(
        f"{sum(u.ru_utime + u.ru_stime for u in used):,.0f} seconds of processor time"
    )
