"""Presentation of a plan as text, HTML and JSON: a table of its statistics, and lines below it.

    statistic   a statistic, below it the totals that it is made from; "(keys)" selects keys
    mechanism   adds the noise; "scale" of its noise; "share" of the budget
    counts      the contribution bound: how many rows of a unit count
    … % error   the predicted error at the plan's level, rounded up
    relative    of counts: the error over the number of rows per key, unless that is assumed
    price       the price of the release by itself

Below it: the price, the data that the errors suppose, and for workloads the strategy, the RMSE of
every set of keys, the alternatives and the lower bound.
"""

from __future__ import annotations

import textwrap
from collections.abc import Collection
from dataclasses import fields
from fractions import Fraction
from typing import TYPE_CHECKING, assert_never

from ...arithmetic.rounding import shown
from ...frozen import frozen, replace
from ...privacy.events import Event
from ...privacy.measures import decimal_text
from ...privacy.pricing.pure import price_pure
from ...privacy.pricing.zcdp import price_zcdp
from ...query.algebra.tally import Free, GroupRowShare, GroupShare, KeptKeys, RowShare, Share
from ...query.algebra.tree import PerPerson, Question, Relation, Select, Where
from ...show.markup import Html, element, join
from ...show.number import plain_number
from ...show.table import fitted_table, html_table, text_table
from ...statistics.recipe import (
    ANY_DATA,
    EVEN_DATA,
    ROUNDED_DATA,
    SHAPED_DATA,
    SIZED_DATA,
    WIDE_DATA,
    PlannedRelease,
)
from ...statistics.releases.choice import ChosenRelease
from ...statistics.releases.quantile_release import PlaceRelease
from ...statistics.releases.set_totals import SetsRelease
from ..selection import Selection, people_needed
from ..thresholded_count import CountSelection

if TYPE_CHECKING:
    from ..plan import Plan


def share_text(share: Share) -> str:
    """Return the contribution bound of one unit as text.

    >>> from discreet.plan.text.plan import share_text
    >>> from discreet.query.algebra.tally import Free, GroupRowShare, GroupShare, RowShare
    >>> share_text(GroupRowShare(10, 2, 1))
    '10 rows a person, 2 in each key'
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
        case GroupRowShare(rows=rows, group_rows=group_rows):
            return f"{_many(rows, 'row')} a person, {group_rows} in each key"
        case GroupShare(groups=groups, rows=rows):
            each = "each of " if groups > 1 else ""
            return f"{_many(rows, 'row')} in {each}{_many(groups, 'key')} a person"
        case KeptKeys(groups=groups, rows=rows):
            return (
                f"{_many(rows, 'row')} in {_many(groups, 'key')} a person, chosen by a secret hash"
            )
        case _:
            assert_never(share)


def truncation_text(plan: Plan) -> str:
    """Return what a person's cap may cut off (truncation); empty where every row counts.

    No interval covers the truncation: it is a fact of the data that nobody released.
    """
    texts: dict[str, None] = {}
    for release in plan.releases:
        tally = release.need.tally
        if not isinstance(tally.share, Free) and not _one_row(tally.rows):
            texts[share_text(tally.share)] = None
    return truncation_sentence(texts)


def truncation_sentence(shares: Collection[str]) -> str:
    """Return the sentence on truncation by contribution bounds as text; empty without any.

    >>> from discreet.plan.text.plan import truncation_sentence
    >>> truncation_sentence(["3 rows a person"]).partition(":")[0]
    'at most 3 rows a person counted'
    """
    if not shares:
        return ""
    bounds = " and ".join(shares)
    return f"at most {bounds} counted: anything beyond that is in no number and in no interval"


def _one_row(rows: Relation) -> bool:
    """Return whether a person has one row in any case, so that no cap cuts anything."""
    while isinstance(rows, Where | Select):
        rows = rows.rows
    return isinstance(rows, PerPerson) and not rows.keys


def _many(number: int, noun: str) -> str:
    ending = "" if number == 1 else "s"
    return f"{number} {noun}{ending}"


@frozen
class PlanLine:
    """One line of the table: a statistic, or one of the totals it is made from.

    `unit` is the unit of `error` (" rows" or ""), `range` its least and greatest value if the data
    decide.
    """

    statistic: str
    mechanism: str
    scale: float | None
    share: Fraction | None
    counts: str
    error: float | None
    unit: str
    relative: float | None
    price: str
    range: tuple[float, float] | None = None

    @property
    def words(self) -> tuple[str, ...]:
        """The line as text; numbers are rounded up, so that no error or price looks too small."""
        scale = "" if self.scale is None else shown(self.scale)
        share = "" if self.share is None else f"{float(100 * self.share):.3g} %"
        error = "" if self.error is None else f"± {shown(self.error)}{self.unit}"
        if self.range is not None:
            # Data decide where in the range it lies: the footer has the one number of the data that
            # it supposes.
            error = f"± {range_text(self.range)}"
        relative = "" if self.relative is None else f"{shown(100 * self.relative, 3)} %"
        return (
            self.statistic,
            self.mechanism,
            scale,
            share,
            self.counts,
            error,
            relative,
            self.price,
        )


def range_text(ends: tuple[float, float]) -> str:
    """Return the range of an error as text.

    >>> from discreet.plan.text.plan import range_text
    >>> range_text((0.11984, 3556.1))
    '0.119 to 3,560'
    """
    low = plain_number(float(shown(ends[0], 3, upward=False)))
    high = plain_number(float(shown(ends[1], 3)))
    return f"{low} to {high}"


def _lines(plan: Plan) -> list[PlanLine]:
    """Return the lines of the table; of several tables, all lines with the names of their sets."""
    lines: list[PlanLine] = []
    if plan.tables:
        for _, table in plan.tables:
            lines += _table_lines(table)
        return lines
    if plan.selection is not None:
        lines.append(_keys_line(plan.selection))
    seen: set[int] = set()
    errors = plan.statistic_errors()
    ranges = plan.error_ranges()
    for (name, places), recipe in zip(plan.uses, plan.recipes, strict=True):
        error = errors[name]
        ends = ranges.get(name)
        model = recipe.noise_model
        relative = error / plan.size if model.counts and plan.size_from != "assumed" else None
        is_alone = len(places) == 1 and not model.joint
        if not is_alone:
            unit = _error_unit(plan.releases[places[0]])
            lines.append(PlanLine(name, "", None, None, "", error, unit, relative, "", ends))
        for label, place in zip(model.labels, places, strict=True):
            # A total that an earlier line has paid for is shown without a price: that of another
            # statistic, or of the same, as CORR(x, x) has.
            is_paid = place in seen
            if is_alone:
                line = _line(plan, name, place, relative, shared=is_paid)
                # A statistic of one release may still suppose data, as a quantile does.
                lines.append(replace(line, error=error, range=ends))
            else:
                lines.append(_line(plan, f"  {label}", place, None, shared=is_paid))
            seen.add(place)
    return lines


def _table_lines(table: Plan) -> list[PlanLine]:
    """Return the lines of one of several tables, with the names of its sets."""
    sets = " and ".join(set_labels(table.question))
    return [replace(line, statistic=f"{line.statistic} by {sets}") for line in _lines(table)]


def _error_unit(release: PlannedRelease) -> str:
    """Return the unit of a release's error: rows for choices, else that of the statistic."""
    return " rows" if isinstance(release, ChosenRelease | PlaceRelease) else ""


def _line(plan: Plan, label: str, place: int, relative: float | None, *, shared: bool) -> PlanLine:
    release = plan.releases[place]
    fraction: Fraction | None = None
    if not shared and place not in plan.free:
        fraction = plan.parts[place]
        if isinstance(plan.selection, Selection):
            # The selection of keys takes its fraction of ε first.
            fraction *= 1 - plan.selection.part
    return PlanLine(
        label,
        type(release.mechanism).__name__,
        release.scale,
        fraction,
        share_text(release.need.tally.share),
        release.error(float(1 - plan.level)),
        _error_unit(release),
        relative,
        _price_text(plan, place, shared=shared),
    )


def _keys_line(selection: Selection | CountSelection) -> PlanLine:
    """Return the row of the table for the selection of keys."""
    share: Fraction | None = None
    if isinstance(selection, CountSelection):
        mechanism = f"shown by their count, from a noisy {selection.threshold:,} on"
        if selection.luck:
            luck = f"{float(selection.luck):.2g}"
            mechanism += f", {selection.threshold - 1:,} with probability {luck}"
        price = f"δ = {shown(selection.delta)}"
    else:
        rule = type(selection.rule).__name__
        mechanism = f"{rule}, from about {people_needed(selection):,} on"
        share = selection.part
        price = str(selection.budget)
    counts = share_text(selection.tally.share)
    return PlanLine("(keys)", mechanism, None, share, counts, None, "", None, price)


def _price_text(plan: Plan, place: int, *, shared: bool) -> str:
    if place in plan.free:
        return "public"
    if shared:
        return "as above"
    return _price(plan.releases[place].event)


def _price(event: Event) -> str:
    """Return the price of one release by itself: its ε, or its ρ where it has none."""
    epsilon = price_pure(event)
    if epsilon is not None:
        return f"ε = {shown(epsilon)}"
    rho = price_zcdp(event)
    if rho is None:
        return ""
    return f"ρ = {shown(rho)}"


def _header(plan: Plan) -> tuple[str, ...]:
    error = f"{float(100 * plan.level):.6g} % error"
    return ("statistic", "mechanism", "scale", "share", "counts", error, "relative", "price")


def _footer(plan: Plan) -> str:
    clauses = [f"spends {decimal_text(plan.shown_price())}"]
    if plan.why:
        clauses.append(plan.why)
    if plan.uses:
        clauses.append(f"errors in one key: {_supposed(plan)}")
    clauses += _range_clauses(plan)
    clauses += _quantile_clauses(plan)
    clauses.append("planned without looking at any data")
    quantiles = []
    for release in plan.releases:
        if isinstance(release, PlaceRelease):
            quantiles.append(release)
    grains = [release.need.ladder.grain or 0 for release in quantiles]
    widest = max(grains, default=0)
    if widest:
        percent = shown(100 * widest, 2)
        clauses.append(f"a quantile is off by so many rows, or by {percent} % of its value at most")
    return "; ".join(clauses)


def _range_clauses(plan: Plan) -> list[str]:
    """Say for which data the ranges of errors hold, and from how many values per key to how few."""
    names: dict[tuple[int, int], list[str]] = {}
    for name in plan.error_ranges():
        names.setdefault(plan.size_range(name), []).append(name)
    clauses = []
    for (few, many), of in names.items():
        told = f"{', '.join(of)} from the best to the worst of these data"
        if few < many:
            told += f", with {many:,} to {few:,} values per key"
        clauses.append(f"ranges, in the unit of the column: {told}")
    return clauses


def _quantile_clauses(plan: Plan) -> list[str]:
    """Say where a released quantile and its interval are expected; of many, the first and last."""
    clauses = []
    errors = plan.statistic_errors()
    for (name, places), recipe in zip(plan.uses, plan.recipes, strict=True):
        at = recipe.noise_model.quantile
        release = plan.releases[places[0]]
        if at is None or not isinstance(release, PlaceRelease):
            continue
        clause = f"{name} is expected from {_quantiles(at, errors[name], plan.size)}"
        if release.need.intervals:
            rows = errors[name] + release.interval_rows(float(1 - plan.level))
            clause += f", its interval about from {_quantiles(at, rows, plan.size)}"
        clauses.append(clause)
    # Deciles would fill a page: the outermost ones tell what to expect.
    return clauses if len(clauses) <= 3 else [clauses[0], clauses[-1]]


def _quantiles(at: Fraction, rows: float, size: int) -> str:
    """Name the two quantiles that lie `rows` rows below and above a quantile, in percent."""
    low = max(0.0, float(at) - rows / size)
    high = min(1.0, float(at) + rows / size)
    return f"the {100 * low:.4g} % to the {100 * high:.4g} % quantile"


def join_errors(plan: Plan) -> str:
    """Return the predicted errors of all statistics as text."""
    errors = plan.statistic_errors().items()
    return ", ".join(f"{name} ± {shown(error)}" for name, error in errors)


def _supposed(plan: Plan) -> str:
    """Say for which data the predicted errors hold, with the names of the statistics."""
    names: dict[str, list[str]] = {}
    errors = plan.statistic_errors()
    ranges = plan.error_ranges()
    for (name, places), recipe in zip(plan.uses, plan.recipes, strict=True):
        told = name
        if name in ranges:
            unit = _error_unit(plan.releases[places[0]])
            told = f"{name} ± {shown(errors[name])}{unit}"
        names.setdefault(recipe.noise_model.supposes, []).append(told)
    rows = rows_text(plan)
    texts = {
        ANY_DATA: "any data",
        ROUNDED_DATA: "sums of values that are rounded one by one before",
        SIZED_DATA: f"any data of {rows}",
        EVEN_DATA: f"{rows}, values spread evenly over their ranges",
        SHAPED_DATA: f"{rows}, spread evenly, heaped, as a bell or skewed",
        WIDE_DATA: f"any data of {rows} with a deviation of at least a twelfth of their range",
    }
    clauses = []
    for supposes, of in names.items():
        clauses.append(f"{', '.join(of)} for {texts[supposes]}")
    clauses += _elsewhere(plan)
    return "; ".join(clauses)


_TELLING_GAP = 2.0
"""A plan that lies further above its lower bound is not compared with it: the bound is loose."""
_ELSEWHERE = {
    EVEN_DATA: "if they are spread evenly",
    WIDE_DATA: "for deviations of a twelfth of their range and more",
    SIZED_DATA: "for any",
}


def _elsewhere(plan: Plan) -> list[str]:
    """Return predictions for other data than those that the errors in the table suppose."""
    clauses: list[str] = []
    for name, errors in plan.errors_elsewhere().items():
        cases = []
        for data, error in errors.items():
            cases.append(f"± {shown(error)} {_ELSEWHERE[data]}")
        clauses.append(f"{name} {', '.join(cases)}")
    return clauses


def rows_text(plan: Plan) -> str:
    """Return the number of rows that errors are predicted for, and its source."""
    source = plan.size_from
    if source == "declared" and plan.keys is not None and len(plan.keys) > 1:
        source = "declared, divided evenly: a smaller key is further off"
    return f"{plan.size:,} rows per key ({source})"


def plan_text(plan: Plan, width: int | None = None) -> str:
    """Lay out the plan as a table, within a width if one is given.

    Each error holds by itself, in one key.
    """
    rows = [_header(plan), *(line.words for line in _lines(plan))]
    below = [*strategy_lines(plan), _footer(plan)]
    table = text_table(rows)
    if width is not None:
        if max(map(len, table.splitlines())) > width:
            table = fitted_table(rows, width)
        below = [textwrap.fill(line, width) for line in below]
    return "\n".join([table, *below])


def plan_html(plan: Plan) -> Html:
    """Write the plan as a table for a notebook."""
    table = html_table(_header(plan), (line.words for line in _lines(plan)))
    below = []
    for line in (*strategy_lines(plan), _footer(plan)):
        below.append(element("p", line))
    return join([table, *below])


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
        "rows": [_plain(line) for line in _lines(plan)],
    }


def _plain(line: PlanLine) -> dict[str, object]:
    values: dict[str, object] = {}
    for field in fields(line):
        values[field.name] = getattr(line, field.name)
    # JSON has no fractions, and a unit needs no space before it.
    values["share"] = None if line.share is None else float(line.share)
    values["unit"] = line.unit.strip()
    return values


def strategy_lines(plan: Plan) -> list[str]:
    """Return the lines about a plan's workload strategies; none for a plan without a strategy."""
    lines: list[str] = []
    if plan.tables:
        for _, table in plan.tables:
            # Of several tables only the strategies are shown, without alternatives and bounds.
            lines += [line for line in strategy_lines(table) if ": by " in line]
        return lines
    question = plan.question if plan.within is None else plan.within.question
    for place, release in enumerate(plan.releases):
        if isinstance(release, SetsRelease):
            names = []
            for name, places in plan.uses:
                if places[0] == place:
                    names.append(name)
            label = names[0] if len(names) == 1 else f"all {len(names)}"
            lines += _release_lines(label, release, question)
    return lines


def _release_lines(name: str, release: SetsRelease, question: Question) -> list[str]:
    plan = release.plan
    unit = float(release.unit)
    sets = list(zip(set_labels(question), plan.set_rmse, strict=True))
    if release.asked is not None:
        sets = [sets[place] for place in release.asked]
    errors = ", ".join(f"{label} {shown(rmse * unit, 4)}" for label, rmse in sets)
    lines = [f"{name}: by {plan.strategy.name}, {plan.noise} noise; RMSE of a cell {errors}"]
    tried = ", ".join(f"{one} ({noise}) {shown(rmse * unit, 4)}" for one, noise, rmse in plan.tried)
    if tried:
        lines.append(f"{name}: compared by RMSE: {tried}")
    if plan.gap <= _TELLING_GAP:
        bound = plan.bound
        distance = f"this plan {100 * plan.gap:.2g} % above"
        lines.append(f"{name}: {bound.why}: RMSE ≥ {bound.rmse * unit:.4g}; {distance}")
    return lines


def set_labels(question: Question) -> list[str]:
    """Return a label for each set: the names of its keys, or the kind of count."""
    names = [key.name for key in question.keys]
    if question.sets is None:
        return [f"up to each {names[0]}" if question.running else "each count"]
    labels: list[str] = []
    for key_set in question.sets:
        listed = ", ".join(names[place] for place in key_set)
        labels.append(f"({listed})")
    return labels
