"""The same two pictures with matplotlib, for notebooks and papers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...optional import load

if TYPE_CHECKING:
    from .report import Report


def figure(report: Report) -> Any:  # noqa: ANN401 - matplotlib is optional
    """Draw the runs through the event's view, and the event against the claim.

    Refuses where matplotlib is not installed.
    """
    drawing = load("matplotlib.figure", "plot").Figure(figsize=(10, 4), layout="constrained")
    left, right = drawing.subplots(1, 2)
    if report.sketch is not None:
        left.stairs(
            report.sketch.first, report.sketch.edges, fill=True, alpha=0.4, label="first input"
        )
        left.stairs(
            report.sketch.second, report.sketch.edges, fill=True, alpha=0.4, label="second input"
        )
        left.axvline(report.sketch.threshold, color="black", linestyle=":")
        left.set_xlabel(report.sketch.name)
        left.legend()
    right.plot(*zip(*report.curve, strict=True), color="black", label="the most the claim allows")
    (p_low, p_high), (q_low, q_high) = report.rates()
    colour = "tab:red" if report.refuted else "tab:green"
    right.fill_between([q_low, q_high], p_low, p_high, color=colour, label="the event")
    right.set(
        xlabel="probability on the less likely input", ylabel="probability on the likelier input"
    )
    right.legend()
    drawing.suptitle(report.verdict)
    return drawing
