"""Parts: a public partition of one table's rows, charged in parallel (parallel composition).

A filter keeps the amounts charged on a part (with those on all the data) within the budget B.

**Why sound, add-remove.** Let D and D' differ in one unit, whose rows all lie in one part p (or in
none that is listed). Given the transcript so far, an answer about another part has the same law
under D and D': it adds nothing to the loss. The remaining loss is that of the sequence of common
events and of events of p. The account of p has admitted exactly that sequence, chosen adaptively.
So the promise of its filter holds, for every kind of filter. The worst part is the price.

**Why sound, replace.** A unit may leave part p and enter part q, so events of both parts and the
common ones add to the loss, of amounts C, P and Q. Each part's events are counted twice: the
filters keep C + 2P ≤ B and C + 2Q ≤ B on every path; the mean of the two is C + P + Q ≤ B. This
needs prices that add whatever was spent before: not `residue`.

**Adding up ε** (`discreet.privacy.filters.basic_composition`) goes part by part under add-remove:
an account is one filter. With C_ε and P_ε the sums of ε on all the data and on a part, and C and P
the filter's own amounts, replace needs *one* decision for all parts: C_ε + 2·max P_ε ≤ ε or
C + 2·max P ≤ B. From the first event that only the sums admit, the filter's own amounts are used up
in every part, so all later events are admitted by the sums. At the end C_ε + P_ε + Q_ε ≤ ε for
every two parts p and q: the proof there goes through for each pair.

Part by part it does not go through. One Laplace of ε = ½ in p, by its sum, and one Gaussian of half
the capacity in q, by its amount, together have 22 times the promised δ = 1e-6 for a row that moves
from p to q.

"All rows of a unit lie in one part" is a fact about the schema: a row lies in one part, a person
may not. A caller that names a part in a charge must have checked that, and that the question reads
nothing else; the curator does (`part_of`).

Law: tests/ledger/test_books.py::TestPartsAreChargedAsTheirMaximum,
tests/ledger/test_sums.py::TestParts
Proved: proofs/Admission.v::parallel, proofs/Mechanisms.v::two_parts
"""

from __future__ import annotations

from collections.abc import Iterable

from ..arithmetic.canonical import canonical_json
from ..data.columns.keys import KeyValue, read_keys
from ..data.unit import read_name
from ..errors import InvalidArgument, LedgerCorrupt
from ..frozen import fill, frozen
from ..privacy.events.json import Json

_MAX_SHOWN = 8
"""Parts listed in a refusal; a table may have thousands."""


def label(part: KeyValue) -> str:
    """Return the label of a part in the books: True, 1 and "1" are three parts.

    >>> from discreet.ledger.parts import label
    >>> label(True), label(1), label("1")
    ('true', '1', '"1"')
    """
    return canonical_json(part)


@frozen(init=False)
class Parts:
    """Parts of one table by the values of one column; rows with other values belong to no part.

    >>> import discreet as dp
    >>> dp.Parts("visits", "month", ["2026-04", "2026-05"]).values
    ('2026-04', '2026-05')

    Refuses: values of mixed types or listed twice, with InvalidArgument.
    """

    table: str
    column: str
    values: tuple[KeyValue, ...]

    def __init__(self, table: str, column: str, values: Iterable[KeyValue]) -> None:
        table_name = read_name(table, "the table of the parts")
        column_name = read_name(column, "the column of the parts")
        keys, _ = read_keys(values)
        fill(self, table=table_name, column=column_name, values=keys)

    def check(self, part: object) -> KeyValue:
        """Return the part if it is one of the listed ones.

        >>> import discreet as dp
        >>> dp.Parts("visits", "month", ["2026-04"]).check("2026-06")
        Traceback (most recent call last):
        ...
        discreet.errors.InvalidArgument: '2026-06' is no part of visits by month; the parts are '2026-04'
        """
        for value in self.values:
            # In Python True == 1, but they are two parts: the types must be equal too.
            if value == part and type(value) is type(part):
                return value
        shown = ", ".join(map(repr, self.values[:_MAX_SHOWN]))
        if len(self.values) > _MAX_SHOWN:
            shown += ", …"
        raise InvalidArgument(
            f"{part!r} is no part of {self.table} by {self.column}; the parts are {shown}"
        )

    def to_json(self) -> Json:
        """Write the parts as plain JSON types."""
        return {"table": self.table, "column": self.column, "values": list(self.values)}

    @staticmethod
    def from_json(data: object) -> Parts:
        """Read parts written by `to_json`."""
        if not isinstance(data, dict) or data.keys() != {"table", "column", "values"}:
            raise LedgerCorrupt("the parts of this ledger cannot be read")
        return Parts(data["table"], data["column"], data["values"])
