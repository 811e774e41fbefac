"""Report of an audit by playback: as text, JSON, HTML page, and SARIF for code review."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from ...frozen import frozen
from ...privacy.measures import Measure
from ...show.markup import Html, element, join
from ...show.table import html_pairs, html_table, text_table
from ..reports.page import STYLE
from .compare import Row
from .trial import Trial

RANKS = {
    0: "nothing",
    1: "replay (rank 1)",
    2: "coupling (rank 2)",
    3: "black box (rank 3)",
}
_HEAD = ("place", "law", "scale", "move", "loss", "declared")
_LIMITS = (
    "inputs other than these pairs, and code that did not run on them",
    "low-order bits of floats: `audit.verify` looks for them",
    "time, memory, logs and other side channels",
)


@frozen
class PlaybackReport:
    """Outcome of an audit by playback, over all pairs of neighbours.

    Guarantee: "refuted" by replay is exact for the pair that is shown, as far as its noise was
    tracked: a value that leaves tracked arithmetic can look like a leak. "Not refuted" proves
    nothing; "not tested" is never "not refuted".
    Law: `tests/audit/playback/test_zoo.py::test_broken_ones_are_refuted`
    Law: `tests/audit/playback/test_private.py::TestNotTested`
    """

    name: str
    source: str
    claim: Measure
    neighbours: str
    trials: tuple[Trial, ...]
    notes: tuple[str, ...] = ()

    @property
    def worst(self) -> Trial | None:
        """The trial that decides the verdict.

        Of refuted trials it is the one of the strongest rank (replay), since replay has no error
        rate; else of those not refuted the one of the weakest rank (black box).
        """
        return max(self.trials, key=_weight, default=None)

    @property
    def verdict(self) -> str:
        """One of "refuted", "not refuted", "not tested"."""
        if self.worst is None:
            return "not tested"
        return self.worst.verdict

    @property
    def refuted(self) -> bool:
        """Whether the claim is false for one of the pairs."""
        return self.verdict == "refuted"

    @property
    def rank(self) -> int:
        """The rank of the trial that decides: 1 replay, 2 coupling, 3 black box, 0 none."""
        if self.worst is None:
            return 0
        return self.worst.rank

    @property
    def place(self) -> str:
        """The line of code that breaks the promise; that of the function if no other is known."""
        if not self.refuted or self.worst is None:
            return ""
        return self.worst.place or self.source

    def reached(self) -> str:
        """Return how many pairs were judged by which rank."""
        parts = []
        for rank, name in RANKS.items():
            count = sum(trial.rank == rank for trial in self.trials)
            if count:
                parts.append(f"{name}: {count}")
        return ", ".join(parts) or "no pairs"

    def facts(self) -> list[tuple[str, str]]:
        """Return the report as pairs of a heading and a sentence."""
        rows = [("function", f"{self.name}, {self.source}")]
        rows.append(("claim", f"{self.claim}, neighbours: {self.neighbours}"))
        rows.append(("pairs", self.reached()))
        # One pair is shown in full; the others are counted.
        if self.worst is not None:
            rows.append(("shown", f"{self.worst.why}: {RANKS[self.worst.rank]}"))
            if self.worst.total:
                rows.append(("total", self.worst.total))
            rows += [("differs", f"{place}: {text}") for place, text in self.worst.differences]
            rows += [("note", text) for text in self.worst.notes]
        rows += [("note", text) for text in self.notes]
        return rows

    def not_tested(self) -> list[str]:
        """List what was not tested: pairs, and what no audit by playback tests."""
        missed = [trial for trial in self.trials if not trial.rank]
        found = [
            f"{trial.why}: {'; '.join(trial.notes) or 'no release was seen'}" for trial in missed
        ]
        return [*found, *_LIMITS]

    def releases(self) -> list[tuple[str, ...]]:
        """Return the table of releases of the trial that decides."""
        if self.worst is None:
            return []
        return [_cells(row) for row in self.worst.rows]

    def __str__(self) -> str:
        heading = {"refuted": f"REFUTED at {self.place}", "not tested": "NOT TESTED"}
        lines = [heading.get(self.verdict, "not refuted")]
        gaps = [("not tested", gap) for gap in self.not_tested()]
        lines.append(text_table(self.facts() + gaps, indent="  "))
        if self.releases():
            lines.append(text_table([_HEAD, *self.releases()], indent="  "))
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain values, ready for JSON."""
        return {
            "verdict": self.verdict,
            "rank": self.rank,
            "place": self.place,
            "function": self.name,
            "source": self.source,
            "claim": repr(self.claim),
            "neighbours": self.neighbours,
            "pairs": [_trial_dict(trial) for trial in self.trials],
            "notes": list(self.notes),
            "not_tested": self.not_tested(),
        }

    def json(self) -> str:
        """Return the report as JSON text."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=1)

    def html(self, path: str | Path) -> Path:
        """Write the report as one page that needs nothing else."""
        head = f'<meta charset="utf-8"><title>Audit: {self.verdict}</title>'
        opening = f'<!doctype html><html lang="en"><head>{head}</head><body>'
        target = Path(path)
        target.write_text(f"{opening}{self._repr_html_()}</body></html>", encoding="utf-8")
        return target

    def _repr_html_(self) -> Html:
        line, _, _ = str(self).partition("\n")
        verdict = element(
            "div", element("h2", line), class_=f"verdict {self.verdict.replace(' ', '-')}"
        )
        gaps = [element("li", gap) for gap in self.not_tested()]
        parts = [
            element("h1", f"Privacy audit of {self.name}"),
            verdict,
            html_pairs(self.facts()),
            element("h3", "Releases"),
            html_table(_HEAD, self.releases()),
            element("h3", "What was not tested"),
            element("ul", *gaps),
        ]
        return join([element("style", Html(STYLE)), element("div", *parts, class_="audit")])


def sarif(reports: list[PlaybackReport]) -> str:
    """Return reports as SARIF 2.1.0, which code review shows beside the line that breaks the promise."""
    results = [_sarif_result(report) for report in reports if report.refuted]
    driver = {
        "name": "discreet audit",
        "rules": [
            {"id": "privacy-loss", "shortDescription": {"text": "Privacy loss above the claim"}},
            {"id": "leak", "shortDescription": {"text": "A difference that no noise hides"}},
        ],
    }
    log = {
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }
    return json.dumps(log, ensure_ascii=False, indent=1)


def _sarif_result(report: PlaybackReport) -> dict[str, Any]:
    """Return a refuted report as one result of SARIF."""
    worst = report.worst
    leaks = worst is not None and bool(worst.differences)
    # A place is file:line; the last colon parts them.
    file, _, line = report.place.rpartition(":")
    region = {"startLine": int(line) if line.isdecimal() else 1}
    location = {"artifactLocation": {"uri": file or report.place}, "region": region}
    return {
        "ruleId": "leak" if leaks else "privacy-loss",
        "level": "error",
        "message": {"text": str(report)},
        "locations": [{"physicalLocation": location}],
    }


def _weight(trial: Trial) -> tuple[int, int, int, float]:
    """Order trials: refuted, then not refuted, then not tested; by rank, by size of the loss."""
    order = {"refuted": 2, "not refuted": 1}.get(trial.verdict, 0)
    # A refutation by replay has no error rate, so it is shown first; else the weakest rank is.
    rank = trial.rank
    if order == 2:
        rank = -trial.rank
    moves = [row.move for row in trial.rows if not math.isnan(row.move)]
    return order, rank, len(trial.differences), max(moves, default=0.0)


def _cells(row: Row) -> tuple[str, ...]:
    move = f"{row.move:.6g}"
    if math.isnan(row.move):
        move = ""
    return row.place, row.law, row.scale, move, row.reason or _loss_text(row), row.declared


def _loss_text(row: Row) -> str:
    """Print the loss of a release: certain, μ or ε."""
    if row.loss.certain:
        return "certain"
    if row.loss.squared_mu and not any(row.loss.laplace):
        return f"μ = {math.sqrt(row.loss.squared_mu):.6g}"
    return f"ε = {row.loss.epsilon:.6g}"


def _trial_dict(trial: Trial) -> dict[str, Any]:
    """Return a trial as plain values."""
    releases = [dict(zip(_HEAD, _cells(row), strict=True)) for row in trial.rows]
    differences = [{"place": place, "text": text} for place, text in trial.differences]
    return {
        "pair": trial.why,
        "verdict": trial.verdict if trial.rank else "not tested",
        "rank": trial.rank,
        "total": trial.total,
        "releases": releases,
        "differences": differences,
        "notes": list(trial.notes),
    }
