"""How a plan shows itself: what each statistic is made from, by which mechanism, at what price and how far off."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import fields
from fractions import Fraction
from typing import TYPE_CHECKING, assert_never

from ...arithmetic.rounding import shown
from ...frozen import frozen, replace
from ...privacy.events import Event
from ...privacy.pricing.pure import price_pure
from ...privacy.pricing.zcdp import price_zcdp
from ...query.algebra.tally import Free, GroupShare, KeptKeys, RowShare, Share
from ...query.algebra.tree import PerPerson, Relation, Select, Where
from ...show.markup import Html, element, join
from ...show.table import fitted_table, html_table, text_table
from ...statistics.recipe import ANY_DATA, EVEN_DATA, ROUNDED_DATA, SIZED_DATA, WIDE_DATA
from ...statistics.releases.choice import ChosenRelease
from ...statistics.releases.quantile_release import PlaceRelease
from ..selection import Selection, people_from
from ..thresholded_count import CountSelection
from .strategy import set_labels, strategy_lines

if TYPE_CHECKING:
    from ..plan import Plan


def share_text(share: Share) -> str:
    """Return how much of one unit counts.

    >>> from discreet.plan.text.plan import share_text
    >>> from discreet.query.algebra.tally import Free, GroupShare, RowShare
    >>> share_text(RowShare(10)), share_text(GroupShare(2, 5)), share_text(Free())
    ('10 rows a person', '5 rows in each of 2 keys a person', 'every row')
    >>> share_text(GroupShare(1, 1))
    '1 row in 1 key a person'
    """
    match share:
        case Free():
            return "every row"
        case RowShare(rows=rows):
            return f"{_many(rows, 'row')} a person"
        case GroupShare(groups=groups, rows=rows):
            return f"{_many(rows, 'row')} in {'each of ' if groups > 1 else ''}{_many(groups, 'key')} a person"
        case KeptKeys(groups=groups, rows=rows):
            return (
                f"{_many(rows, 'row')} in {_many(groups, 'key')} a person, chosen by a secret hash"
            )
        case _:
            assert_never(share)


def cut_text(plan: Plan) -> str:
    """Return what a person's cap may cut off in an answer; empty where every row counts.

    What a cap cuts off no interval sees: it is a fact of the data, and nobody released it.
    """
    tallies = [release.need.tally for release in plan.releases]
    shares = [t.share for t in tallies if not isinstance(t.share, Free) and not _one_row(t.rows)]
    if not shares:
        return ""
    words = " and ".join(dict.fromkeys(share_text(share) for share in shares))
    return f"at most {words} counted: what people have beyond that is in no number and no interval here"


def _one_row(rows: Relation) -> bool:
    """Return whether a person has one row anyway, so that no cap cuts anything."""
    while isinstance(rows, Where | Select):
        rows = rows.rows
    return isinstance(rows, PerPerson) and not rows.keys


def _many(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


@frozen
class PlanLine:
    """One line of the table: a statistic, or one of the totals it is made from."""

    statistic: str
    mechanism: str
    scale: float | None
    share: Fraction | None
    counts: str
    error: float | None
    unit: str
    relative: float | None
    price: str

    @property
    def words(self) -> tuple[str, ...]:
        """The line as text, numbers never smaller than they are."""
        return (
            self.statistic,
            self.mechanism,
            "" if self.scale is None else shown(self.scale),
            "" if self.share is None else f"{float(100 * self.share):.3g} %",
            self.counts,
            "" if self.error is None else f"± {shown(self.error)}{self.unit}",
            "" if self.relative is None else f"{shown(100 * self.relative, 3)} %",
            self.price,
        )


def _rows(plan: Plan) -> list[PlanLine]:
    if plan.tables:
        return [
            replace(
                line, statistic=f"{line.statistic} by {' and '.join(set_labels(table.question))}"
            )
            for _, table in plan.tables
            for line in _rows(table)
        ]
    rows = [] if plan.selection is None else [_keys_row(plan.selection)]
    shared = {
        place
        for place in range(len(plan.releases))
        if sum(place in places for _, places in plan.uses) > 1
    }
    seen: set[int] = set()
    errors = plan.statistic_errors()
    for (name, places), recipe in zip(plan.uses, plan.recipes, strict=True):
        error = errors[name]
        model = recipe.noise_model
        relative = error / plan.size if model.counts and plan.size_from != "assumed" else None
        unit = " rows" if isinstance(plan.releases[places[0]], ChosenRelease | PlaceRelease) else ""
        if len(places) > 1 or model.joint:
            rows.append(PlanLine(name, "", None, None, "", error, unit, relative, ""))
        for label, place in zip(model.labels, places, strict=True):
            alone = len(places) == 1 and not model.joint
            own = name if alone else f"  {label}"
            rows.append(
                _row(plan, own, place, relative if alone else None, shared=place in shared & seen)
            )
            seen.add(place)
    return rows


def _row(plan: Plan, label: str, place: int, relative: float | None, *, shared: bool) -> PlanLine:
    release, beta = plan.releases[place], float(1 - plan.level)
    chosen = isinstance(release, ChosenRelease | PlaceRelease)
    part = plan.parts[place] * (
        1 - plan.selection.part if isinstance(plan.selection, Selection) else 1
    )
    return PlanLine(
        label,
        type(release.mechanism).__name__,
        release.scale,
        None if shared or place in plan.free else part,
        share_text(release.need.tally.share),
        release.error(beta),
        " rows" if chosen else "",
        relative,
        _price_words(plan, place, shared=shared),
    )


def _keys_row(selection: Selection | CountSelection) -> PlanLine:
    counts = share_text(selection.tally.share)
    if isinstance(selection, CountSelection):
        less = (
            f", {selection.threshold - 1:,} with probability {float(selection.luck):.2g}"
            if selection.luck
            else ""
        )
        name = f"shown by their count, from a noisy {selection.threshold:,} on{less}"
        return PlanLine(
            "(keys)", name, None, None, counts, None, "", None, f"δ = {shown(selection.delta)}"
        )
    name = f"{type(selection.rule).__name__}, from about {people_from(selection):,} on"
    return PlanLine(
        "(keys)", name, None, selection.part, counts, None, "", None, str(selection.budget)
    )


def _price_words(plan: Plan, place: int, *, shared: bool) -> str:
    if place in plan.free:
        return "public"
    return "as above" if shared else _price(plan.releases[place].event)


def _price(event: Event) -> str:
    """Return what one release costs by itself: its ε, or its ρ where it has none."""
    pure = price_pure(event)
    if pure is not None:
        return f"ε = {shown(pure)}"
    rho = price_zcdp(event)
    return "" if rho is None else f"ρ = {shown(rho)}"


def _heads(plan: Plan) -> tuple[str, ...]:
    percent = f"{float(100 * plan.level):.6g} %"
    return (
        "statistic",
        "mechanism",
        "scale",
        "share",
        "counts",
        f"{percent} error",
        "relative",
        "price",
    )


def _foot(plan: Plan) -> str:
    why = f"{plan.why}; " if plan.why else ""
    said = f"spends {plan.spend}; {why}errors in one key: {_supposed(plan)}; planned without looking at any data"
    grains = [one.need.ladder.grain for one in plan.releases if isinstance(one, PlaceRelease)]
    wide = max((grain for grain in grains if grain), default=None)
    return said if wide is None else f"{said}; {_grain(wide)}"


def _grain(wide: Fraction) -> str:
    return f"a quantile is off by so many rows, or by {shown(100 * wide, 2)} % of its value at most"


def join_errors(plan: Plan) -> str:
    """Return the predicted errors of all statistics as words."""
    return ", ".join(f"{name} ± {shown(error)}" for name, error in plan.statistic_errors().items())


def _supposed(plan: Plan) -> str:
    """Return for which data the errors of which statistics are predicted."""
    names: dict[str, list[str]] = {}
    for (name, _), recipe in zip(plan.uses, plan.recipes, strict=True):
        names.setdefault(recipe.noise_model.supposes, []).append(name)
    said = {
        ANY_DATA: "any data",
        ROUNDED_DATA: "sums of values that are rounded one by one before",
        SIZED_DATA: f"any data of {rows_words(plan)}",
        EVEN_DATA: f"{rows_words(plan)}, values spread evenly over their ranges",
        WIDE_DATA: f"any data of {rows_words(plan)} with a deviation of at least a twelfth of their range",
    }
    found = [f"{', '.join(of)} for {said[supposes]}" for supposes, of in names.items()]
    return "; ".join([*found, *_elsewhere(plan)])


def _elsewhere(plan: Plan) -> Iterator[str]:
    """Say what is predicted for other data than those that the errors in the table suppose."""
    short = {
        EVEN_DATA: "if they are spread evenly",
        WIDE_DATA: "for deviations of a twelfth of their range and more",
        SIZED_DATA: "for any",
    }
    for name, errors in plan.errors_elsewhere().items():
        yield f"{name} " + ", ".join(
            f"± {shown(error)} {short[data]}" for data, error in errors.items()
        )


def rows_words(plan: Plan) -> str:
    """Return the number of rows that errors are predicted for, and who says so."""
    divided = plan.size_from == "declared" and plan.keys is not None and len(plan.keys) > 1
    source = "declared, divided evenly: a smaller key is further off" if divided else plan.size_from
    return f"{plan.size:,} rows per key ({source})"


def plan_text(plan: Plan, width: int | None = None) -> str:
    """Lay out the plan as a table, within a width if one is given; each error holds by itself, in one key."""
    rows, lines = (
        [_heads(plan), *(row.words for row in _rows(plan))],
        [*strategy_lines(plan), _foot(plan)],
    )
    table = text_table(rows)
    if width is not None:
        table = table if max(map(len, table.splitlines())) <= width else fitted_table(rows, width)
        lines = [textwrap.fill(line, width) for line in lines]
    return "\n".join([table, *lines])


def plan_html(plan: Plan) -> Html:
    """Write the plan as a table for a notebook."""
    lines = [element("p", line) for line in (*strategy_lines(plan), _foot(plan))]
    return join([html_table(_heads(plan), (row.words for row in _rows(plan))), *lines])


def plan_dict(plan: Plan) -> dict[str, object]:
    """Return the table as plain values, for JSON."""
    return {
        "spend": str(plan.spend),
        "level": float(plan.level),
        "size": plan.size,
        "size_from": plan.size_from,
        "keys": None if plan.keys is None else len(plan.keys),
        "way": str(plan.way),
        "why": plan.why,
        "supposes": _supposed(plan),
        "rows": [_plain(row) for row in _rows(plan)],
    }


def _plain(row: PlanLine) -> dict[str, object]:
    share = None if row.share is None else float(row.share)
    return {field.name: getattr(row, field.name) for field in fields(row)} | {
        "share": share,
        "unit": row.unit.strip(),
    }
