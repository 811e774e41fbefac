"""How a plan shows itself: what each statistic is made from, by which mechanism, and how far off it will be."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from ..privacy.rounding import shown
from ..query.tally import Free, GroupShare, RowShare, Share
from .release import ChosenRelease, Release

if TYPE_CHECKING:
    from .plan import Plan

__all__ = ["plan_text", "share_text"]


def share_text(share: Share) -> str:
    """Say how much of one unit counts.

    >>> share_text(RowShare(10)), share_text(GroupShare(2, 5)), share_text(Free())
    ('10 rows a person', '5 rows in each of 2 keys a person', 'every row')
    """
    match share:
        case Free():
            return "every row"
        case RowShare(rows=rows):
            return f"{rows} rows a person"
        case GroupShare(groups=groups, rows=rows):
            return f"{rows} rows in each of {groups} keys a person"
        case _:
            assert_never(share)


def plan_text(plan: Plan) -> str:
    """Lay out the releases of a plan; the errors hold in one key with 95 % each."""
    lines = [("statistic", "mechanism", "counts", "95 % error")]
    if plan.selection is not None:
        rule = plan.selection.rule
        lines.append(("(keys)", type(rule).__name__, share_text(plan.selection.tally.share), "keys of one appear ≤ δ"))
    for name, places in plan.uses:
        label = name
        for release in (plan.releases[place] for place in places):
            share = share_text(release.want.tally.share)
            lines.append((label, type(release.mechanism).__name__, share, _error(release)))
            label = ""
    wide = [max(len(line[i]) for line in lines) for i in range(4)]
    table = ["  ".join(word.ljust(w) for word, w in zip(line, wide, strict=True)).rstrip() for line in lines]
    return "\n".join(table)


def _error(release: Release) -> str:
    return f"± {shown(release.error())}" + (" rows" if isinstance(release, ChosenRelease) else "")
