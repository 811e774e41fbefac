"""Pages of stewards: budget by user and time, jobs, entries and integrity of the ledger, allowances."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from starlette.responses import Response
from starlette.routing import Route

from ...data.display import column_rows, heading
from ...engines import DuckDB
from ...errors import LedgerCorrupt, NotAllowed
from ...frozen import frozen
from ...ledger import Ledger
from ...ledger.entry import Entry
from ...privacy.budget_text import budget_to_table
from ...privacy.filters.filter import Filter
from ...show.markup import Html
from ...wire.json_text import write_json
from ..api import budget
from ..api.endpoint import ApiCall
from ..dashboards import may_share
from ..http.health import health_of
from ..state import State
from ..stores.dashboards import Dashboard, Dashboards
from .ask_form import AskFields, BudgetUnit, ask_of, unit_of
from .charts.amount import BudgetBar, left_bar, part_bar
from .charts.spending import price_of, spending_chart, spent_over_time
from .history import asked_of
from .page_request import PageRequest, for_stewards, table_routes, to
from .refusal_view import word_refusal
from .workbench import dataset_of

_LIFE = {
    "close": "closed for good",
    "resume": "goes on here",
    "repair": "repaired by a steward",
    "upgrade": "brought forward to this release",
}


def entry_words(entry: Entry) -> str:
    """Describe a ledger entry in a few words: the event charged or the allowance given.

    >>> import discreet as dp
    >>> from discreet.service.pages.steward import entry_words
    >>> entry_words(dp.Entry(3, "answer", "", refers=2))
    'of 2'
    >>> entry_words(dp.Entry(4, "allow", "", terms={"allowance": None}))
    'allowance withdrawn'
    >>> entry_words(dp.Entry(5, "again", "", refers=2))
    'the question of entry 2, in the own account only'
    >>> entry_words(dp.Entry(6, "close", "", terms={"to": "new.ledger"}))
    'closed for good, goes on as new.ledger'
    """
    if entry.kind == "again":
        return f"the question of entry {entry.refers}, in the own account only"
    if entry.event is not None:
        return event_words(entry.event)
    if entry.kind == "allow" and entry.terms is not None:
        share = entry.terms.get("allowance")
        return (
            "allowance withdrawn"
            if share is None
            else f"at most {Filter.from_json(share).promise()}"
        )
    if entry.kind in _LIFE:
        return _LIFE[entry.kind] + _place(entry.terms or {})
    return "" if entry.refers is None else f"of {entry.refers}"


def _place(terms: Mapping[str, object]) -> str:
    """Say where a ledger went or came from, if that is written down."""
    words = {"to": ", goes on as", "from": ", from"}
    return "".join(f"{said} {terms[name]}" for name, said in words.items() if terms.get(name))


def event_words(event: Mapping[str, object]) -> str:
    """Name an event; a batch by what is in it.

    >>> from discreet.service.pages.steward import event_words
    >>> event_words({"event": "batch", "events": [{"event": "laplace-noise"}, {"event": "laplace-noise"}]})
    '2 × laplace noise'
    """
    inner = event.get("events")
    if not isinstance(inner, list):
        return str(event.get("event", "")).replace("-", " ")
    counts = Counter(event_words(one) for one in inner)
    return ", ".join(name if count == 1 else f"{count} × {name}" for name, count in counts.items())


LAST = 25
"""Entries of the ledger that the page lists."""

LAST_CHARGES = 1000
"""Newest entries that are searched for users who have spent something."""


def steward_routes(state: State) -> list[Route]:
    """Return the routes of the stewards' pages."""
    path = "/steward/{dataset}"
    return table_routes(
        state,
        for_stewards,
        ("GET", "/steward", _all),
        ("GET", path, _one),
        ("GET", f"{path}/intake", _intake),
        ("POST", f"{path}/verify", _verify),
        ("POST", f"{path}/allow", _allow),
    )


@frozen
class Standing:
    """Budget of one user in a ledger.

    `limited` says that the user has a limit below the whole budget. `purse` is None where the
    ledger admits only users with an allowance and this one has none.
    """

    name: str
    purse: BudgetBar | None
    bar: Html
    limited: bool


@frozen
class LedgerLine:
    """Entry of the ledger as text."""

    number: int
    time: str
    kind: str
    who: str
    what: str
    asked: str
    price: str


def _all(visit: PageRequest) -> Response:
    """Show all data sets of the steward with their budgets, and the health of the service."""
    datasets = visit.state.datasets
    shown = []
    for name in datasets.allowed(visit.person):
        purse = _purse(datasets.ledger(name))
        shown.append((name, purse, left_bar(purse), datasets.schemas(name)))
    health, _ = health_of(visit.state)
    return visit.show("steward_all.html", here="Steward", sets=shown, health=health)


def _purse(ledger: Ledger) -> BudgetBar:
    return BudgetBar(ledger.spent(), ledger.left())


def _one(visit: PageRequest) -> Response:
    """Show the page of one data set; a broken ledger is shown as a refusal."""
    dataset = dataset_of(visit)
    try:
        return _dataset_page(visit, dataset)
    except LedgerCorrupt as broken:
        # The page still opens, since a steward has to repair the ledger.
        refusal = word_refusal("LedgerCorrupt", str(broken))
        return visit.show(
            "steward_broken.html",
            status=500,
            here="Steward",
            dataset=dataset,
            refusal=refusal,
        )


def _dataset_page(visit: PageRequest, dataset: str) -> Response:
    """Show budget, users, jobs, ledger entries and schemas of one data set."""
    state = visit.state
    ledger = state.datasets.ledger(dataset)
    purse = _purse(ledger)
    unit = unit_of(ledger.promise())
    symbol = _symbol(ledger, unit)
    chart = spending_chart(spent_over_time(ledger), float(purse.whole), symbol)
    people = _managed_people(visit, dataset)
    running = []
    for job in state.jobs.job_store.pending():
        if job.dataset == dataset:
            running.append((job, asked_of(job)))
    schemas = state.datasets.schemas(dataset)
    return visit.show(
        "steward.html",
        here="Steward",
        dataset=dataset,
        told=state.datasets.told(dataset),
        ledger=ledger,
        left_by_block=ledger.left_by_block(),
        purse=purse,
        unit=unit,
        bar=left_bar(purse),
        chart=chart,
        standings=_standings(ledger, people),
        lines=_lines(ledger),
        running=running,
        schemas=[(heading(schema), column_rows(schema)) for schema in schemas],
        intake=_shows_intake(visit, dataset),
        boards=_shared_boards(state, dataset),
    )


def _shared_boards(state: State, dataset: str) -> tuple[Dashboard, ...]:
    """Return the shared dashboards of a data set, with those that were taken back."""
    if not may_share(state, dataset):
        return ()
    return Dashboards(state.store).shared(dataset)


def _managed_people(visit: PageRequest, dataset: str) -> list[str]:
    """Return the users of a data set whom this steward may manage."""
    names = []
    for member in visit.state.people.all():
        managed = visit.person.over(member) and not member.revoked
        if managed and member.may(dataset):
            names.append(member.name)
    return names


def _shows_intake(visit: PageRequest, dataset: str) -> bool:
    """Return whether the configuration shows the intake report, and the engine has one."""
    if not visit.state.config.datasets[dataset].show_intake:
        return False
    return isinstance(visit.state.datasets.engine(dataset), DuckDB)


def _intake(visit: PageRequest) -> Response:
    """Show the intake report, where the configuration allows it; the audit log records each view."""
    dataset = dataset_of(visit)
    if not _shows_intake(visit, dataset):
        raise NotAllowed(
            f"the reports of {dataset} are not shown here; set show_intake in the configuration"
        )
    # Logged before it is shown: the report holds exact counts of the data.
    visit.state.log.write("intake", who=visit.person.name, dataset=dataset, status=200)
    report = visit.state.datasets.engine(dataset).report
    return visit.show("intake.html", here="Steward", dataset=dataset, tables=report.tables)


def _symbol(ledger: Ledger, unit: BudgetUnit) -> str:
    """Return the symbol of the amount that adds up: in the measure of the filter, not always of the budget."""
    left = str(ledger.left())
    if left.startswith("("):
        return "ε"
    if left.startswith("μ"):
        # Under Gaussian DP the squares of μ add up.
        return "μ²"
    symbol, _, _ = left.partition(" ")
    return symbol or unit.symbol


def _standings(ledger: Ledger, people: list[str]) -> list[Standing]:
    """Return, by name, the budgets of `people` and of those with a charge in LAST_CHARGES entries."""
    spenders = set()
    for entry in ledger.history(last=LAST_CHARGES):
        if entry.kind in ("charge", "again"):
            spenders.add(entry.who)
    return [_standing(ledger, name) for name in sorted({*people, *spenders})]


def _standing(ledger: Ledger, name: str) -> Standing:
    """Return the budget of one user, with a bar."""
    try:
        purse = BudgetBar(ledger.spent(name), ledger.left(name))
    except NotAllowed:
        return Standing(name, None, Html(""), limited=True)
    limited = ledger.filter(name).terms != ledger.terms.filter.terms
    if limited:
        bar = left_bar(purse)
    else:
        # Without a limit of their own, users spend parts of the whole budget.
        bar = part_bar(purse.spent, _purse(ledger))
    return Standing(name, purse, bar, limited)


def _lines(ledger: Ledger) -> list[LedgerLine]:
    """Return the last entries of the ledger as text, newest first."""
    history = ledger.history(last=LAST)
    lines = []
    for entry in reversed(history):
        asked = history.asked.get(entry.number, "")
        # Charges of older versions have no price beside them.
        price = history.prices.get(entry.number) or price_of(entry, ledger.terms.budget)
        lines.append(_line(entry, asked, price))
    return lines


def _line(entry: Entry, asked: str, price: str) -> LedgerLine:
    """Return one entry of the ledger as text."""
    what = entry_words(entry)
    if entry.why:
        what = f"{what}: {entry.why}"
    return LedgerLine(
        number=entry.number,
        time=entry.time[:16].replace("T", " "),
        kind=entry.kind,
        who=entry.who,
        what=what,
        asked=asked,
        price=price,
    )


def _verify(visit: PageRequest) -> Response:
    """Verify the whole hash chain of the ledger; a broken chain is shown with the place of the break."""
    dataset = dataset_of(visit)
    # Counted twice, by the page and here: the whole ledger is read.
    visit.state.limits.request(visit.person.name)
    outcome: dict[str, Any] = {"refusal": None, "verdict": None}
    try:
        outcome["verdict"] = visit.state.datasets.ledger(dataset).verify()
    except LedgerCorrupt as broken:
        outcome["refusal"] = word_refusal("LedgerCorrupt", str(broken))
    visit.state.log.write("verify", who=visit.person.name, dataset=dataset, status=200)
    if visit.wants_part:
        return visit.part("piece_verdict.html", **outcome)
    return visit.show("verdict.html", here="Steward", dataset=dataset, **outcome)


def _allow(visit: PageRequest) -> Response:
    """Set or withdraw an allowance by the verb of the API, with its checks."""
    dataset = dataset_of(visit)
    who = visit.form.get("who", "").strip()
    allowance: object = None
    if visit.form.get("action") != "withdraw":
        allowance = _read_allowance(visit, dataset)
    body = write_json({"who": who, "budget": allowance}).encode()
    call = ApiCall(visit.person, {"name": dataset}, {}, body)
    budget.set_allowance(visit.state, call)
    visit.state.log.write("allow", who=visit.person.name, dataset=dataset, status=201)
    return to(f"/steward/{dataset}")


def _read_allowance(visit: PageRequest, dataset: str) -> object:
    """Read the allowance of the form in the same way as the budget of a question."""
    unit = unit_of(visit.state.datasets.ledger(dataset).promise())
    fields = AskFields(
        sql="-",
        mode="spend",
        spend=visit.form.get("amount", ""),
        delta=visit.form.get("delta", "0"),
        error="",
        why="",
        nonnegative=False,
    )
    measure = ask_of(fields, unit).terms.spend
    if measure is None:
        return None
    return budget_to_table(measure)
