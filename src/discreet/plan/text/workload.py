"""How a workload shows itself: one table after the other, each under the name of its question."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...show.markup import Html, element, join
from .plan import plan_html, plan_text

if TYPE_CHECKING:
    from ..several.workload import Workload

_FOOT = "all {} questions, in one charge, spend {}"


def workload_text(workload: Workload) -> str:
    """Lay out every plan under its name, and what all of it spends."""
    tables = [f"{name}\n{plan_text(plan)}" for name, plan in workload.plans]
    return "\n\n".join([*tables, _FOOT.format(len(workload), workload.spend)])


def workload_html(workload: Workload) -> Html:
    """Write every plan as a table for a notebook."""
    tables = [
        part for name, plan in workload.plans for part in (element("h4", name), plan_html(plan))
    ]
    return join([*tables, element("p", _FOOT.format(len(workload), workload.spend))])
