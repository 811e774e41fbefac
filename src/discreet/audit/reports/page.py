"""The report as one page of HTML with its pictures inside."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...show.markup import Html, element, join
from ...show.table import cut, html_pairs
from .picture import histogram, trade_off

if TYPE_CHECKING:
    from .report import Report

_STYLE = (
    ".audit{font:16px/1.5 system-ui,sans-serif;max-width:62rem;margin:0 auto;padding:1rem;color:#222;background:#fff}"
    ".audit h1{font-size:1rem;font-weight:600;color:#666;margin:1rem 0 .5rem}"
    ".audit .verdict{border-left:.4rem solid;padding:.6rem 1.2rem;margin:0 0 1.5rem;background:#f7f7f7}"
    ".audit .verdict h2{margin:0;font-size:1.8rem}.audit .verdict p{margin:.3rem 0 0;color:#222}"
    ".audit .refuted{color:#b3261e}.audit .not-refuted{color:#2e7d32}.audit .not-tested{color:#8a6d00}"
    ".audit .pictures{display:flex;flex-wrap:wrap;gap:1.5rem}"
    ".audit figure{flex:1 1 24rem;margin:0}.audit figcaption{font-size:.9rem;color:#444}"
    ".audit svg{width:100%;height:auto}.audit h3{font-size:1.05rem;margin:1.5rem 0 .4rem}"
    ".audit table{border-collapse:collapse}.audit td,.audit th{padding:.25rem 1.5rem .25rem 0;vertical-align:top}"
    ".audit th{text-align:left;font-weight:600;white-space:nowrap}.audit ul{margin:.2rem 0;padding-left:1.2rem}"
)


def body(report: Report) -> Html:
    """Return the verdict, the pictures, the table and what was not tested, with its style."""
    kind = report.verdict.replace(" ", "-")
    verdict = element("h2", report.verdict.capitalize()), element("p", sentence(report))
    gaps = element("ul", *(element("li", what) for what in report.not_tested), "")
    parts = [
        element("h1", f"Privacy audit of the claim {report.claim}"),
        element("div", *verdict, class_=f"verdict {kind}"),
        element("div", *_pictures(report), "", class_="pictures"),
        *(element("h3", "What was seen"), html_pairs(report.facts())),
        *(element("h3", "What was not tested"), gaps),
    ]
    return join([element("style", Html(_STYLE)), element("div", *parts, class_="audit")])


def sentence(report: Report) -> str:
    """Return in one or two sentences what the verdict means: "not refuted" is no proof, and the page says so."""
    if report.refuted:
        chance = f"{100 * (1 - report.confidence):.3g} %"
        return (
            f"The claim is false: if it were true, what was seen would happen in at most {chance} of all audits. "
            f"An event that is likelier on the {report.direction} input shows it: {cut(report.event, 100)}."
        )
    if not report.tested:
        return f"Nothing can be said about the claim: {report.reason}."
    return "Nothing that was seen contradicts the claim. That is no proof: only these inputs were tried, only so often."


def _pictures(report: Report) -> Iterator[Html]:
    if report.sketch is not None:
        yield _figure(
            histogram(report.sketch),
            "How often each value was seen on the two inputs. Shaded: the event.",
        )
    if report.best is not None:
        where = "above" if report.refuted else "not proved to be above"
        box = "The box is where its two probabilities lie."
        words = f"The event is {where} the line, which is the most that the claim allows. {box}"
        yield _figure(trade_off(report), words)


def _figure(drawn: Html, words: str) -> Html:
    return element("figure", drawn, element("figcaption", words))


def page(report: Report) -> str:
    """Return a whole page that needs nothing else."""
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Audit: {report.verdict}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1"></head>'
        f'<body style="margin:0;background:#fff">{body(report)}</body></html>'
    )
