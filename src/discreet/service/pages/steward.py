"""The steward's room: what is spent, by whom and when; what runs; whether the ledger holds; who may spend how much."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response
from starlette.routing import Route

from ...data.display import facts, heading
from ...engines import DuckDB
from ...errors import LedgerCorrupt, NotAllowed
from ...frozen import frozen
from ...ledger import Ledger
from ...ledger.entry import Entry
from ...privacy.budget_text import budget_to_words
from ...show.markup import Html
from ...wire.json_text import write_json
from ..api import budget
from ..api.endpoint import ApiCall
from ..http.health import health_of
from ..state import State
from .ask_form import AskFields, BudgetUnit, ask_of, unit_of
from .charts.amount import BudgetBar, left_bar, part_bar
from .charts.spending import price_of, spending_chart, spent_over_time
from .entry_text import entry_words
from .history import asked_of
from .page_request import PageRequest, for_stewards, to
from .refusal_view import word_refusal
from .workbench import dataset_of

LAST = 25
EVERYONE = "*"


def steward_routes(state: State) -> list[Route]:
    """Return the routes of the steward's room."""
    room = "/steward/{dataset}"
    return [
        Route("/steward", for_stewards(state, _all), methods=["GET"]),
        Route(room, for_stewards(state, _one), methods=["GET"]),
        Route(f"{room}/intake", for_stewards(state, _intake), methods=["GET"]),
        Route(f"{room}/verify", for_stewards(state, _verify), methods=["POST"]),
        Route(f"{room}/allow", for_stewards(state, _allow), methods=["POST"]),
    ]


@frozen
class Standing:
    """How somebody stands in a ledger; without an allowance, `purse` is None."""

    name: str
    purse: BudgetBar | None
    bar: Html
    limited: bool


@frozen
class LedgerLine:
    """One entry of the ledger, in words."""

    number: int
    time: str
    kind: str
    who: str
    what: str
    asked: str
    price: str


def _all(visit: PageRequest) -> Response:
    mine = visit.state.datasets.allowed(visit.person)
    sets = [(name, _purse(visit.state.datasets.ledger(name))) for name in mine]
    shown = [
        (name, purse, left_bar(purse), visit.state.datasets.schemas(name)) for name, purse in sets
    ]
    health, _ = health_of(visit.state)
    return visit.show("steward_all.html", here="Steward’s room", sets=shown, health=health)


def _purse(ledger: Ledger) -> BudgetBar:
    return BudgetBar(ledger.spent(), ledger.left())


def _one(visit: PageRequest) -> Response:
    dataset = dataset_of(visit)
    try:
        return _room(visit, dataset)
    except LedgerCorrupt as broken:  # the room stays open, for whoever has to mend it
        words = word_refusal("LedgerCorrupt", str(broken))
        return visit.show(
            "steward_broken.html", status=500, here="Steward’s room", dataset=dataset, refusal=words
        )


def _room(visit: PageRequest, dataset: str) -> Response:
    state = visit.state
    ledger = state.datasets.ledger(dataset)
    purse, unit = _purse(ledger), unit_of(ledger.promise())
    symbol = _symbol(ledger, unit)
    people = [
        one.name
        for one in state.people.all()
        if one.may(dataset) and visit.person.over(one) and not one.revoked
    ]
    return visit.show(
        "steward.html",
        here="Steward’s room",
        dataset=dataset,
        told=state.datasets.told(dataset),
        ledger=ledger,
        purse=purse,
        unit=unit,
        bar=left_bar(purse),
        chart=spending_chart(spent_over_time(ledger), float(purse.whole), symbol),
        standings=_standings(ledger, people),
        lines=_lines(ledger),
        running=[
            (job, asked_of(job)) for job in state.jobs.shelf.pending() if job.dataset == dataset
        ],
        schemas=[(heading(one), facts(one)) for one in state.datasets.schemas(dataset)],
        intake=_reports(visit, dataset),
    )


def _reports(visit: PageRequest, dataset: str) -> bool:
    """Return whether a steward may see here how the tables were read, and the store can tell."""
    return visit.state.config.datasets[dataset].show_intake and isinstance(
        visit.state.datasets.engine(dataset), DuckDB
    )


def _intake(visit: PageRequest) -> Response:
    """Show how the tables were read, where the configuration says so; that somebody looked is written down."""
    dataset = dataset_of(visit)
    if not _reports(visit, dataset):
        raise NotAllowed(
            f"the reports of {dataset} are not shown here; set show_intake in the configuration"
        )
    visit.state.log.write("intake", who=visit.person.name, dataset=dataset, status=200)
    report = visit.state.datasets.engine(dataset).report
    return visit.show("intake.html", here="Steward’s room", dataset=dataset, tables=report.tables)


def _symbol(ledger: Ledger, unit: BudgetUnit) -> str:
    """Name the amount that adds up: the measure of the filter, not always that of the budget."""
    words = str(ledger.left())
    if words.startswith("("):
        return "ε"
    return "μ²" if words.startswith("μ") else words.partition(" ")[0] or unit.symbol


def _standings(ledger: Ledger, people: list[str]) -> list[Standing]:
    asked = {entry.who for entry in ledger.history(last=1000) if entry.kind in ("charge", "again")}
    return [_standing(ledger, name) for name in sorted({*people, *asked})]


def _standing(ledger: Ledger, name: str) -> Standing:
    try:
        purse = BudgetBar(ledger.spent(name), ledger.left(name))
    except NotAllowed:
        return Standing(name, None, Html(""), limited=True)
    limited = ledger.filter(name).terms != ledger.terms.filter.terms
    bar = left_bar(purse) if limited else part_bar(purse.spent, _purse(ledger))
    return Standing(name, purse, bar, limited)


def _lines(ledger: Ledger) -> list[LedgerLine]:
    found = ledger.history(last=LAST)
    return [_line(entry, ledger, found.asked.get(entry.number, "")) for entry in reversed(found)]


def _line(entry: Entry, ledger: Ledger, asked: str) -> LedgerLine:
    price = price_of(entry, ledger.terms.filter)
    what = f"{entry_words(entry)}: {entry.why}" if entry.why else entry_words(entry)
    moment = entry.time[:16].replace("T", " ")
    cost = "" if price is None else str(price)
    return LedgerLine(entry.number, moment, entry.kind, entry.who, what, asked, cost)


def _verify(visit: PageRequest) -> Response:
    """Walk the whole chain, with one click; a broken one says where."""
    dataset = dataset_of(visit)
    visit.state.limits.request(visit.person.name)
    words: dict[str, Any] = {"refusal": None, "verdict": None}
    try:
        words["verdict"] = visit.state.datasets.ledger(dataset).verify()
    except LedgerCorrupt as broken:
        words["refusal"] = word_refusal("LedgerCorrupt", str(broken))
    visit.state.log.write("verify", who=visit.person.name, dataset=dataset, status=200)
    if visit.wants_part:
        return visit.part("piece_verdict.html", **words)
    return visit.show("verdict.html", here="Steward’s room", dataset=dataset, **words)


def _allow(visit: PageRequest) -> Response:
    """Set or withdraw an allowance, by the same way and the same checks as the API."""
    dataset = dataset_of(visit)
    who = visit.form.get("who", "").strip()
    share: object = None
    if visit.form.get("action") != "withdraw":
        unit = unit_of(visit.state.datasets.ledger(dataset).promise())
        asked = AskFields(
            "-",
            "spend",
            visit.form.get("amount", ""),
            visit.form.get("delta", "0"),
            "",
            "",
            nonnegative=False,
        )
        measure = ask_of(asked, unit).terms.spend
        share = None if measure is None else budget_to_words(measure)
    body = write_json({"who": who, "budget": share}).encode()
    budget.set_allowance(visit.state, ApiCall(visit.person, {"name": dataset}, {}, body))
    visit.state.log.write("allow", who=visit.person.name, dataset=dataset, status=201)
    return to(f"/steward/{dataset}")
