"""Chart of the budget spent over time, from the charges of a ledger."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from ....arithmetic.canonical import canonical_json
from ....errors import DiscreetError
from ....frozen import frozen
from ....ledger import Ledger
from ....ledger.balance import spent_of
from ....ledger.books import open_books, read_event
from ....ledger.clock import read_time
from ....ledger.entry import Entry
from ....privacy.events.json import from_json
from ....privacy.measures import Measure, decimal_text
from ....privacy.shown_price import shown_price
from ....show.markup import Html
from ....show.scale import ChartScale, linear, steps
from .amount import amount
from .chart import HEIGHT, WIDTH, ChartFrame, area, axes, label, path, picture, plain

MOST = 2_000
"""Entries that are read for the chart; a longer ledger shows its last ones."""
STEPS = 100
"""About so many steps are drawn: computing what is spent of an (ε, δ) budget takes milliseconds."""


@frozen
class Point:
    """Total spent after a charge at a time, as the number by which charges add up (ε, ρ or μ²)."""

    time: datetime
    spent: float


def price_of(entry: Entry, budget: Measure) -> str:
    """Return the price of one charge by itself as text, in the measure of a budget.

    "" for an entry that is no charge, or whose charge has no price in that measure.
    """
    if entry.event is None:
        return ""
    try:
        return decimal_text(shown_price(from_json(entry.event), None, budget))
    except DiscreetError:
        return ""


def spent_over_time(ledger: Ledger) -> tuple[Point, ...]:
    """Return the total spent after each charge that is drawn, from the ledger's last MOST entries.

    Each time window of the ledger starts from 0. Where public parts of a table are charged in
    parallel, the part with the largest total counts. The last point is the ledger's own total; in a
    long ledger without parts, earlier points are raised by what was spent before the entries read.
    """
    terms = ledger.terms
    # On blocks every charge is compared with all others, so fewer of them are drawn.
    most = MOST if terms.blocks is None else MOST // 5
    entries = [entry for entry in ledger.history(last=most) if entry.kind == "charge"]
    points = list(_add_up(entries, ledger))
    if points:
        shift = float(amount(ledger.spent())) - points[-1].spent if not terms.parts else 0.0
        points = (
            [Point(point.time, max(0.0, point.spent + shift)) for point in points]
            if shift > 0
            else points
        )
    return tuple(points)


def _add_up(entries: Sequence[Entry], ledger: Ledger) -> Iterable[Point]:
    """Yield the total spent after every k-th charge, with k chosen for about STEPS points.

    The ledger's own accounts count it; of an (ε, δ) budget it is the ε that can no longer be spent.
    """
    budget, books = ledger.terms.filter, open_books(ledger.terms, "")
    account, each = books.everyone, len(entries) // STEPS + 1
    for place, entry in enumerate(entries, 1):
        event, part = read_event(canonical_json(entry.event)), books.part(entry.part)
        account = account.at(entry.time, ledger.terms.window).noted(budget, event, part)
        if place % each == 0 or place == len(entries):
            yield Point(read_time(entry.time), float(amount(spent_of(account.under(budget, None)))))


def spending_chart(
    points: Sequence[Point], whole: float, symbol: str, now: datetime | None = None
) -> Html:
    """Draw what was spent as a staircase under the line of the whole budget."""
    end = datetime.now(UTC) if now is None else now
    first = points[0].time if points else end
    begin = first.timestamp() - max(1.0, 0.04 * (end - first).total_seconds())
    x = ChartScale(begin, end.timestamp(), 46, WIDTH - 12)
    y = linear(0, max(whole, *(p.spent for p in points), 1e-12), HEIGHT - 44, 24)
    frame = ChartFrame(x, y)
    stairs = steps([(begin, 0.0), *((p.time.timestamp(), p.spent) for p in points)], x.high)
    parts = [
        area(frame, stairs),
        axes(ChartFrame(ChartScale(0, 1, x.start, x.end), y), "", f"{symbol} spent", x_ticks=0),
        path(frame, stairs),
        path(frame, [(x.low, whole), (x.high, whole)], "limit"),
        label(frame, (x.high, whole), "budget", kind="word limit", anchor="end", dy=-5),
        *_dates(frame, end),
    ]
    last = points[-1].spent if points else 0.0
    return picture("What was spent over time", f"{plain(last)} of {plain(whole)} is spent.", parts)


_FORMS = ((600, "%H:%M:%S"), (36 * 3600, "%H:%M"), (300 * 86_400, "%d %b"))
"""How moments are written where the whole picture spans less than so many seconds."""


def _dates(frame: ChartFrame, end: datetime) -> Iterable[Html]:
    """Write the dates at the start, the middle and the end of the time axis."""
    x = frame.x
    span = x.high - x.low
    form = next((form for most, form in _FORMS if span < most), "%b %Y")
    for part, anchor in ((0.0, "start"), (0.5, "middle"), (1.0, "end")):
        at = x.low + part * span
        words = datetime.fromtimestamp(at, UTC).strftime(form)
        yield label(frame, (at, frame.y.low), words, kind="tick", anchor=anchor, dy=17)
    yield label(
        frame, (x.high, frame.y.low), end.strftime("%Y-%m-%d UTC"), kind="name", anchor="end", dy=34
    )
