"""Presentation of a workload: one table after the other, each under the name of its question."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...privacy.measures import decimal_text
from ...show.markup import Html, element, join
from .plan import plan_html, plan_text

if TYPE_CHECKING:
    from ..several.workload import Workload


def workload_text(workload: Workload) -> str:
    """Lay out every plan under its name, and the joint spend."""
    tables = []
    for name, plan in workload.plans:
        tables.append(f"{name}\n{plan_text(plan)}")
    return "\n\n".join([*tables, _footer(workload)])


def workload_html(workload: Workload) -> Html:
    """Write every plan as a table for a notebook."""
    parts: list[Html] = []
    for name, plan in workload.plans:
        parts.append(element("h4", name))
        parts.append(plan_html(plan))
    parts.append(element("p", _footer(workload)))
    return join(parts)


def _footer(workload: Workload) -> str:
    price = decimal_text(workload.shown_price())
    return f"all {len(workload)} questions, in one charge, spend {price}"
