"""Report of an audit: findings, untested aspects, and the confidence."""

from __future__ import annotations

import json
from decimal import ROUND_FLOOR, Decimal, localcontext
from pathlib import Path
from typing import Any

from ...frozen import frozen
from ...privacy.measures import Measure
from ...show.table import text_table
from ..events.sketch import Sketch
from ..evidence.bounds import clopper_pearson_lower, clopper_pearson_upper
from ..evidence.counts import Evidence
from .page import body, figure, page


@frozen
class Finding:
    """One event, fixed on other runs, its counts, and the lower bounds that follow from them.

    The bounds are on ε at the report's δ, on δ at its ε, and on the claim's own number.
    """

    event: str
    likelier: str
    """"first" or "second": the input on which the event is likelier."""
    evidence: Evidence
    refuted: bool
    epsilon: float
    delta: float
    own: float

    @property
    def weight(self) -> tuple[bool, float, float]:
        """Order of findings by strength."""
        return self.refuted, self.epsilon, self.delta


@frozen
class Report:
    """Outcome of an audit.

    Guarantee: all bounds hold together with probability `confidence`, over the runs made. So
    `refuted` is proof up to that confidence. A claim that is not refuted is not proved:
    `not_tested` says why.
    Law: `tests/audit/test_evidence.py::TestFalseAlarms`
    """

    claim: Measure
    confidence: float
    samples: int
    judged: int
    inputs: tuple[str, str]
    at_epsilon: float
    at_delta: float
    symbol: str
    findings: tuple[Finding, ...]
    reason: str
    """The reason why nothing was tested; empty if something was."""
    not_tested: tuple[str, ...]
    sketch: Sketch | None
    curve: tuple[tuple[float, float], ...]
    assume: str | None = None

    @property
    def tested(self) -> bool:
        """Whether the claim could have been refuted at all."""
        return not self.reason

    @property
    def refuted(self) -> bool:
        """Whether the claim is false, with the stated confidence."""
        return any(f.refuted for f in self.findings)

    @property
    def verdict(self) -> str:
        """One of "refuted", "not refuted", "not tested"."""
        if self.refuted:
            return "refuted"
        return "not refuted" if self.tested else "not tested"

    @property
    def best(self) -> Finding | None:
        """The strongest finding."""
        return max(self.findings, key=lambda f: f.weight, default=None)

    @property
    def epsilon(self) -> float:
        """The best lower bound on ε at δ = `at_delta`."""
        return max((f.epsilon for f in self.findings), default=0.0)

    @property
    def delta(self) -> float:
        """The best lower bound on δ at ε = `at_epsilon`."""
        return max((f.delta for f in self.findings), default=0.0)

    @property
    def own(self) -> float:
        """The best lower bound on the claim's own number: ε, μ, ρ, or a multiple of ε(α)."""
        return max((f.own for f in self.findings), default=0.0)

    @property
    def event(self) -> str:
        """The event of the best finding, as text."""
        if self.best is None:
            return ""
        return self.best.event

    @property
    def direction(self) -> str:
        """The input on which that event is likelier."""
        if self.best is None:
            return ""
        return self.best.likelier

    def rates(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return Clopper–Pearson intervals of the best event, on the likelier input first."""
        if self.best is None:
            return (0.0, 1.0), (0.0, 1.0)
        seen = self.best.evidence
        # Four ends share the error probability (Bonferroni).
        alpha = (1 - self.confidence) / 4
        likelier = _interval(seen.hits, seen.runs, alpha)
        return likelier, _interval(seen.false_hits, seen.false_runs, alpha)

    def lines(self) -> list[tuple[str, str]]:
        """Return the report as pairs of a heading and a sentence."""
        return self.facts() + [("not tested", gap) for gap in self.not_tested]

    def facts(self) -> list[tuple[str, str]]:
        """Return the claim, the runs and the findings as pairs of a heading and a sentence."""
        rows = [
            ("claim", str(self.claim)),
            ("confidence", f"{100 * self.confidence:.10g} %"),
            ("inputs", " | ".join(self.inputs)),
            ("runs", f"{self.samples:,} on each input, {self.judged:,} judged"),
        ]
        if self.reason:
            rows.append(("reason", self.reason))
        if self.best is not None:
            seen = self.best.evidence
            other = "second" if self.direction == "first" else "first"
            hits = f"{seen.hits:,} of {seen.runs:,} on the {self.direction} input"
            false_hits = f"{seen.false_hits:,} of {seen.false_runs:,} on the {other}"
            rows.append(("event", self.event))
            rows.append(("seen", f"{hits}, {false_hits}"))
            rows.append(("bounds", self._bounds()))
        if self.assume:
            assumption = f"{self.assume} noise, on your word; the bounds hold only then"
            rows.append(("assuming", assumption))
        return rows

    def _bounds(self) -> str:
        """Return the lower bounds as text; the claim's own number first, if it is not ε."""
        epsilon = f"ε ≥ {_down(self.epsilon)} at δ = {self.at_delta:g}"
        delta = f"δ ≥ {_down(self.delta)} at ε = {self.at_epsilon:.6g}"
        if self.symbol == "ε":
            return f"{epsilon}; {delta}"
        return f"{self.symbol} ≥ {_down(self.own)}; {epsilon}; {delta}"

    def __str__(self) -> str:
        heads = {"refuted": "REFUTED", "not refuted": "not refuted", "not tested": "NOT TESTED"}
        table = text_table(self.lines(), indent="  ")
        return f"{heads[self.verdict]}\n{table}"

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain values, ready for JSON."""
        plain: dict[str, Any] = {
            "verdict": self.verdict,
            "claim": repr(self.claim),
            "confidence": self.confidence,
            "samples": self.samples,
            "judged": self.judged,
            "inputs": list(self.inputs),
            "reason": self.reason,
            "epsilon": self.epsilon,
            "at_delta": self.at_delta,
            "delta": self.delta,
            "at_epsilon": _finite(self.at_epsilon),
            "event": self.event,
            "direction": self.direction,
            "own": {self.symbol: self.own},
            "assume": self.assume,
            "not_tested": list(self.not_tested),
        }
        if self.best is not None:
            seen = self.best.evidence
            plain["seen"] = {
                "hits": seen.hits,
                "runs": seen.runs,
                "false_hits": seen.false_hits,
                "false_runs": seen.false_runs,
            }
        return plain

    def json(self) -> str:
        """Return the report as JSON text."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=1)

    def html(self, path: str | Path) -> Path:
        """Write the report as one page with its pictures inside; a browser shows it."""
        target = Path(path)
        target.write_text(page(self), encoding="utf-8")
        return target

    def _repr_html_(self) -> str:
        return body(self)

    def plot(self) -> Any:  # noqa: ANN401 - matplotlib is optional
        """Draw both pictures with matplotlib (install discreet[plot]); returns the figure."""
        return figure(self)


def _interval(hits: int, runs: int, alpha: float) -> tuple[float, float]:
    """Return a Clopper–Pearson interval; each end fails with probability at most α."""
    return clopper_pearson_lower(hits, runs, alpha), clopper_pearson_upper(hits, runs, alpha)


def _down(value: float) -> str:
    """Print a lower bound in four digits, never larger than it is."""
    exact = Decimal(value)
    with localcontext(prec=4, rounding=ROUND_FLOOR):
        return f"{float(+exact):.4g}"


def _finite(value: float) -> float | None:
    """Return a finite number, or None: JSON has no infinity."""
    return value if value < float("inf") else None
