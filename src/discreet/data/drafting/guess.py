"""Guess of a column's type from its cells, and proposals for how they are written.

A column of text is guessed to be numbers, days, times or booleans if, with the proposals for it, at
least nine of ten cells that are not missing are read as such. So is one whose cells all have forms
of one type, even if two formats fit them (01/02/2024). A column in which any cell is a code, such
as 0152, stays text.

Law: tests/data/test_infer.py::TestSources, tests/data/test_proposals.py::TestGuess
"""

from __future__ import annotations

from ...frozen import frozen
from ..columns.column import Boolean, Column, ColumnType, Date, Integer, Real, Timestamp
from ..columns.outcome import MISSING, outcome, widest
from .proposals import Cells, Proposal, facts_text, propose_from
from .sniff import CODE, Look

LEAST_READ = 0.9
"""Share of the cells of a column that its guessed type must read."""
_WIDE = 2**52
"""Bounds of numbers while nothing is known about them."""
UNBOUNDED: dict[ColumnType, Column] = {
    "boolean": Boolean(),
    "integer": Integer(-_WIDE, _WIDE),
    "real": Real(-_WIDE, _WIDE, step="1/1000"),
    "date": Date("0001-01-02", "9999-12-30"),
    "timestamp": Timestamp("0001-01-02T00:00:00", "9999-12-30T00:00:00"),
}
"""Columns with very wide bounds, by which cells are read before the steward has stated any."""


@frozen
class Guess:
    """Guessed type of a column, proposals for reading its cells, and a hint for the steward."""

    kind: ColumnType
    proposals: tuple[Proposal, ...] = ()
    hint: str = ""


def guess(name: str, seen: Look) -> Guess:
    """Guess a column's type and how its cells are written.

    >>> from discreet.data.drafting.guess import guess
    >>> from discreet.data.drafting.sniff import sniff
    >>> rows = [{"paid": "1,688.80"}] * 7 + [{"paid": "7"}] * 5 + [{"paid": "n/a"}]
    >>> guess("paid", sniff(rows).columns["paid"])
    Guess(kind='real', proposals=(...), hint="declare null=['n/a'], thousands=','")
    """
    if seen.kind != "text":
        return Guess(seen.kind, hint=_step_hint(seen))
    if any(CODE.fullmatch(cell.strip(" ")) for cell in seen.cells):
        return Guess("text")
    for kind in _candidates(seen.cells):
        proposals = propose_from(name, UNBOUNDED[kind], seen.cells)
        declared = proposals[-1].declared if proposals else UNBOUNDED[kind]
        if _reads_most(declared, seen.cells):
            return Guess(_narrowest(kind, declared, seen.cells), proposals, hint_of(proposals))
    # Forms that all agree, but could be read in two ways: 01/02/2024.
    if seen.proposal is not None:
        return Guess(seen.proposal[0], hint=seen.proposal[1])
    return Guess("text")


def _candidates(cells: Cells) -> tuple[ColumnType, ...]:
    """Return the types that cells of text may be of, by the characters in them."""
    characters = set("".join(cells))
    # 1 and 0 are truths too, but a column that has them is taken for numbers.
    if not characters & set("0123456789"):
        return ("boolean",)
    # A day is read from a time too, but the time would be lost.
    return ("real", "timestamp") if ":" in characters else ("real", "date")


def hint_of(proposals: tuple[Proposal, ...]) -> str:
    """Write proposals as one declaration; a later one of the same fact replaces an earlier one."""
    stated: dict[str, object] = {}
    for proposal in proposals:
        stated |= proposal.options
    if not stated:
        return ""
    return f"declare {facts_text(stated.items())}"


def _reads_most(column: Column, cells: Cells) -> bool:
    """Return whether a column reads nine of ten cells that are not missing."""
    wide = widest(column)
    present = read = 0
    for cell, count in cells.items():
        became = outcome(column, cell, wide)
        if became != MISSING:
            present += count
        if became is None:
            read += count
    return present > 0 and read >= LEAST_READ * present


def _narrowest(kind: ColumnType, column: Column, cells: Cells) -> ColumnType:
    """Return integer for reals that are all whole, and written without a fraction."""
    if not isinstance(column, Real):
        return kind
    point = column.decimal or "."
    for cell in cells:
        value = column.read(cell)
        if value is not None and (value.denominator != 1 or point in cell):
            return kind
    return "integer"


def _step_hint(seen: Look) -> str:
    """Propose a decimal step for numbers with a few decimals."""
    if seen.kind != "real" or not seen.places:
        return ""
    step = 10**-seen.places
    return f"step = {step:.{seen.places}f} fits its decimals"
