"""The report as one page of HTML with its pictures inside."""

from __future__ import annotations

from html import escape

from .picture import histogram, trade_off
from .report import Report

__all__ = ["body", "page"]

_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222}"
    "th{text-align:left;vertical-align:top;padding-right:1.5rem;font-weight:600}td,th{padding-bottom:.3rem}"
    ".refuted{color:#b3261e}.not-refuted{color:#2e7d32}.not-tested{color:#8a6d00}"
    "svg{max-width:100%;height:auto;margin:.5rem}"
)


def body(report: Report) -> str:
    """Give the verdict, the table and the pictures."""
    kind = report.verdict.replace(" ", "-")
    rows = "".join(f"<tr><th>{escape(name)}</th><td>{escape(words)}</td></tr>" for name, words in report.lines())
    pictures = "" if report.sketch is None else histogram(report.sketch)
    return f'<h2 class="{kind}">{escape(report.verdict)}</h2><table>{rows}</table>{pictures}{trade_off(report)}'


def page(report: Report) -> str:
    """Give a whole page that needs nothing else.

    "Not refuted" is no proof: the page says so under every verdict.
    """
    foot = "A refutation holds with the stated confidence. Not being refuted is no proof: only what was run was tested."
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Audit: {escape(report.verdict)}</title>'
        f"<style>{_STYLE}</style></head><body><h1>Privacy audit</h1>{body(report)}<p>{foot}</p></body></html>"
    )
