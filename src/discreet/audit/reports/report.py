"""What an audit found, what it did not, and how sure it is."""

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
from .page import body, page
from .plot import figure


@frozen
class Finding:
    """One event, fixed on other runs, and how often it happened."""

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
        """What makes one finding say more than another."""
        return self.refuted, self.epsilon, self.delta


@frozen
class Report:
    """The outcome of an audit. Bounds hold all together with probability `confidence`, over the runs made.

    `refuted` is proof up to that confidence. Not being refuted is no proof of anything: `not_tested` says why.
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
    """Why nothing was tested; empty if something was."""
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
        """The finding that says most."""
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
        """The best lower bound on the claim's own number (`symbol`): ε, μ, ρ, or a multiple of ε(α)."""
        return max((f.own for f in self.findings), default=0.0)

    @property
    def event(self) -> str:
        """The event of the best finding, in words."""
        return "" if self.best is None else self.best.event

    @property
    def direction(self) -> str:
        """The input on which that event is likelier."""
        return "" if self.best is None else self.best.likelier

    def rates(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Clopper–Pearson intervals of the best event: on the likelier input, on the other."""
        if self.best is None:
            return (0.0, 1.0), (0.0, 1.0)
        e, alpha = self.best.evidence, (1 - self.confidence) / 4
        return (
            (
                clopper_pearson_lower(e.hits, e.runs, alpha),
                clopper_pearson_upper(e.hits, e.runs, alpha),
            ),
            (
                clopper_pearson_lower(e.false_hits, e.false_runs, alpha),
                clopper_pearson_upper(e.false_hits, e.false_runs, alpha),
            ),
        )

    def lines(self) -> list[tuple[str, str]]:
        """The report as pairs of a heading and a sentence."""
        return self.facts() + [("not tested", what) for what in self.not_tested]

    def facts(self) -> list[tuple[str, str]]:
        """What was claimed, run and seen, as pairs of a heading and a sentence."""
        rows = [("claim", str(self.claim)), ("confidence", f"{100 * self.confidence:.10g} %")]
        rows += [
            ("inputs", " | ".join(self.inputs)),
            ("runs", f"{self.samples:,} on each input, {self.judged:,} judged"),
        ]
        if self.reason:
            rows.append(("reason", self.reason))
        if self.best is not None:
            e, other = self.best.evidence, "second" if self.direction == "first" else "first"
            rows.append(("event", self.event))
            rows.append(
                (
                    "seen",
                    f"{e.hits:,} of {e.runs:,} on the {self.direction} input, "
                    f"{e.false_hits:,} of {e.false_runs:,} on the {other}",
                )
            )
            rows.append(("bounds", self._bounds()))
        if self.assume:
            rows.append(
                ("assuming", f"{self.assume} noise, on your word; the bounds hold only then")
            )
        return rows

    def _bounds(self) -> str:
        text = f"ε ≥ {_down(self.epsilon)} at δ = {self.at_delta:g}; δ ≥ {_down(self.delta)} at ε = {self.at_epsilon:.6g}"
        return text if self.symbol == "ε" else f"{self.symbol} ≥ {_down(self.own)}; {text}"

    def __str__(self) -> str:
        head = {"refuted": "REFUTED", "not refuted": "not refuted", "not tested": "NOT TESTED"}[
            self.verdict
        ]
        return "\n".join([head, text_table(self.lines(), indent="  ")])

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain values, ready for JSON."""
        plain: dict[str, Any] = {
            "verdict": self.verdict,
            "claim": repr(self.claim),
            "confidence": self.confidence,
        }
        plain |= {
            "samples": self.samples,
            "judged": self.judged,
            "inputs": list(self.inputs),
            "reason": self.reason,
        }
        plain |= {"epsilon": self.epsilon, "at_delta": self.at_delta, "delta": self.delta}
        plain |= {
            "at_epsilon": _finite(self.at_epsilon),
            "event": self.event,
            "direction": self.direction,
        }
        plain |= {
            "own": {self.symbol: self.own},
            "assume": self.assume,
            "not_tested": list(self.not_tested),
        }
        if self.best is not None:
            e = self.best.evidence
            plain["seen"] = {
                "hits": e.hits,
                "runs": e.runs,
                "false_hits": e.false_hits,
                "false_runs": e.false_runs,
            }
        return plain

    def json(self) -> str:
        """Return the report as JSON text."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=1)

    def html(self, path: str | Path) -> Path:
        """Write the report as one page with its pictures inside; needs nothing but a browser."""
        target = Path(path)
        target.write_text(page(self), encoding="utf-8")
        return target

    def _repr_html_(self) -> str:
        return body(self)

    def plot(self) -> Any:  # noqa: ANN401 - matplotlib is optional
        """Draw both pictures with matplotlib (install discreet[plot]); returns the figure."""
        return figure(self)


def _down(value: float) -> str:
    """Print a lower bound in four digits, never larger than it is."""
    exact = Decimal(value)
    with localcontext(prec=4, rounding=ROUND_FLOOR):
        return f"{float(+exact):.4g}"


def _finite(value: float) -> float | None:
    return value if value < float("inf") else None
