"""Proposals for a column: declarations under which more of its cells are read, each counted first.

A proposal is made from cells that are unreadable, clipped or unlisted. It mends a cell that is then
read, or known to be missing. It is given only if it mends more cells than it loses (reads no more)
and changes to another value, taken together. The caller counts them: in Python over a sample
(`infer`), in SQL over all cells of a source (`prepare`, `schema fix`).

| cells | proposal |
|---|---|
| texts, numbers and days that usually mean a missing value (`known`) | `null=` |
| numbers with separators, or with units of `known.UNITS` | `thousands=`, `decimal=`, `unit=`, `units=` |
| days and times in other formats than declared | `format=`, the declared ones first |
| unlisted text that strip or fold makes a key | `strip=`, `fold=` |
| unlisted text in at least 20 rows that resembles one key | `aliases=` |

Guarantee: a proposal mends more of the counted cells than it loses and changes together. Where two
formats of a day mend equally many cells of the sample (31/12 and 12/31), neither is proposed.

Law: tests/data/test_proposals.py::TestAdviceNeverHarms
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import SequenceMatcher
from fractions import Fraction
from functools import partial
from typing import TypeAlias

from ...arithmetic.rational import plain
from ...errors import InvalidArgument
from ...frozen import frozen
from ..columns.column import Category, Column, Date, Integer, Numeric, Real, Temporal, Timestamp
from ..columns.fold_table import fold_text
from ..columns.outcome import CLIPPED, MISSING, outcome, widest
from ..columns.text_format import formats_of
from ..files.schema_json import column_from_dict, column_to_dict
from .forms import day_formats, form_of
from .known import UNITS, is_missing_mark

Cells: TypeAlias = Mapping[str, int]
"""Texts of cells, and how many cells have each."""
Options: TypeAlias = dict[str, object]
Rivals: TypeAlias = Iterator[tuple[Options, ...]]
"""Groups of candidates; those of one group read the same cells as other values."""
MIN_ROWS_OF_ALIAS = 20
"""Rows of a spelling before it is proposed as an alias: a schema is public, one cell is not."""
MAX_ROUNDS = 3
"""Rounds of proposals for one column; each sees the cells that the one before did not mend."""
_SEPARATORS = (
    (",", None), (None, ","), (".", ","), (" ", ","), (" ", None), ("'", None), ("’", None),
    ("\u00a0", ","), ("\u202f", ","), ("\u00a0", None), ("\u202f", None),
)  # fmt: skip
"""Pairs of thousands separator and decimal mark; of two that gain equally, the first is taken."""
_UNIT = re.compile(r"[^\W\d_]+(?:/[^\W\d_]+)?|[%‰°$€£¥]")
_WHOLE = re.compile(" *[+-]?[0-9]+ *")
_CLOSE = 0.8
"""Least similarity of an alias and its key; 1 is that of equal texts."""


@frozen
class ReadingChange:
    """Cells that a change of a declaration mends, no longer reads, and reads as another value."""

    mended: int
    lost: int
    changed: int

    @property
    def gain(self) -> int:
        """Cells mended beyond those that are lost or changed."""
        return self.mended - self.lost - self.changed

    @property
    def counts(self) -> tuple[int, int, int]:
        """The three counts."""
        return self.mended, self.lost, self.changed


def effect_text(mended: int, lost: int, changed: int) -> str:
    """Write an effect in words: cells that are mended are read, or known to be missing.

    >>> from discreet.data.drafting.proposals import effect_text
    >>> effect_text(29628, 0, 12)
    '29,628 cells mended, 0 lost, 12 read otherwise'
    """
    cells = "1 cell" if mended == 1 else f"{mended:,} cells"
    otherwise = f", {changed:,} read otherwise" if changed else ""
    return f"{cells} mended, {lost:,} lost{otherwise}"


@frozen
class Proposal:
    """Change of one column's declaration, with its counted effect."""

    column: str
    options: tuple[tuple[str, object], ...]
    effect: ReadingChange
    declared: Column
    """The column with this change and those before it."""

    @property
    def text(self) -> str:
        """The declaration as it is written, such as format=['%Y-%m-%d', '%d.%m.%Y']."""
        return facts_text(self.options)

    @property
    def masked(self) -> str:
        """The declaration without texts that only cells have: aliases are shown by their forms."""
        shown = dict(self.options)
        aliases = shown.get("aliases")
        if isinstance(aliases, dict):
            forms = map(form_of, aliases)
            shown["aliases"] = dict(zip(forms, aliases.values(), strict=True))
        return facts_text(shown.items())

    @property
    def facts(self) -> tuple[str, ...]:
        """The paths of the declared facts, for `looked_at`."""
        prefix = f"columns.{self.column}."
        return tuple(prefix + name for name, _ in self.options)


def facts_text(facts: Iterable[tuple[str, object]]) -> str:
    """Write facts of a column as they are declared: null=['n/a'], thousands=','."""
    texts = []
    for name, value in facts:
        texts.append(f"{name}={value!r}")
    return ", ".join(texts)


def effect_of(before: Column, after: Column, cells: Cells) -> ReadingChange:
    """Count in Python what a change of the declaration does to some cells.

    >>> import discreet as dp
    >>> from discreet.data.drafting.proposals import effect_of
    >>> cells = {"1.5": 2, "1,688": 3, "1.234,5": 1}
    >>> effect_of(dp.Real(0, 9000), dp.Real(0, 9000, thousands=".", decimal=","), cells)
    ReadingChange(mended=4, lost=2, changed=0)
    """
    mended = lost = changed = 0
    wide_before, wide_after = widest(before), widest(after)
    for cell, count in cells.items():
        was = outcome(before, cell, wide_before)
        now = outcome(after, cell, wide_after)
        if is_mended(was, now):
            mended += count
        elif was is None and now is not None:
            lost += count
        elif was is None and before.read(cell) != after.read(cell):
            changed += count
    return ReadingChange(mended, lost, changed)


def is_mended(was: int | None, now: int | None) -> bool:
    """Return whether a cell that was unreadable, clipped or unlisted is now read, or missing."""
    if was is None or was == MISSING:
        return False
    # What was unreadable and is now beyond the bounds has been read, and is clipped.
    return now is None or now == MISSING or (now == CLIPPED and was != CLIPPED)


def accept_all(proposal: Proposal) -> bool:
    """Accept every proposal."""
    del proposal
    return True


def propose(
    name: str,
    column: Column,
    sample: Callable[[Column], Cells],
    count: Callable[[Column, Column], ReadingChange],
    accept: Callable[[Proposal], bool] = accept_all,
) -> tuple[Proposal, ...]:
    """Return the accepted proposals for one column, each on top of those before it.

    `sample` returns cells by which candidates are chosen, readable ones among them; `count` counts
    the effect of a change over all cells. A fact that is not accepted is not proposed again.
    """
    given: list[Proposal] = []
    declined: set[str] = set()
    for _ in range(MAX_ROUNDS):
        cells = sample(column)
        before = column
        for stage in _stages(name, column):
            best = _choose(column, stage(column, cells), cells, declined)
            if best is None:
                continue
            options, declared = best
            effect = count(column, declared)
            # Chosen by a sample, but given only if all cells agree.
            if effect.gain <= 0:
                continue
            # Facts that are taken back are not stated.
            stated = tuple(_without_none(options).items())
            proposal = Proposal(name, stated, effect, declared)
            if accept(proposal):
                given.append(proposal)
                column = declared
            else:
                declined |= set(options)
        if column == before:
            break
    return tuple(given)


def _without_none(facts: Mapping[str, object]) -> Options:
    stated = {}
    for fact, value in facts.items():
        if value is not None:
            stated[fact] = value
    return stated


def propose_from(name: str, column: Column, cells: Cells) -> tuple[Proposal, ...]:
    """Return proposals for one column, chosen and counted by the same cells.

    >>> import discreet as dp
    >>> from discreet.data.drafting.proposals import propose_from
    >>> days = {"2024-12-31": 5, "31.12.2024": 3, "n/a": 2}
    >>> [given.text for given in propose_from("seen", dp.Date("2020-01-01", "2025-01-01"), days)]
    ["null=['n/a']", "format=['%Y-%m-%d', '%d.%m.%Y']"]
    """

    def count(before: Column, after: Column) -> ReadingChange:
        return effect_of(before, after, cells)

    return propose(name, column, lambda _: cells, count)


Stage: TypeAlias = Callable[[Column, Cells], Rivals]


def _stages(name: str, column: Column) -> Iterable[Stage]:
    """Return the kinds of changes that are tried for a column, in order."""
    match column:
        case Category(of="text"):
            return (_blanks_and_case, _null, _aliases)
        case Integer() | Real():
            return (_null, lambda now, cells: _numerals(name, now, cells))
        case Date() | Timestamp():
            # One format more at a time, at most as many as there are rounds and forms.
            return (_null, _format, _format, _format)
        case _:
            return (_null,)


def _choose(
    column: Column, rivals: Rivals, cells: Cells, declined: set[str]
) -> tuple[Options, Column] | None:
    """Return the candidate that gains most cells of a sample, with its column; None if none gains.

    `rivals` yields groups of candidates: those in one group read the same cells as other values
    (31/12 and 12/31). If the best two of a group gain equally, none of it is chosen. Candidates
    with a declined option are left out.
    """
    best: tuple[Options, Column] | None = None
    most = (0, 0)
    for group in rivals:
        if declined & set(group[0]):
            continue
        ranked = []
        for options in group:
            declared = redeclare(column, options)
            if declared is not None:
                ranked.append((_rank(column, declared, cells), options, declared))
        ranked.sort(key=lambda one: one[0], reverse=True)
        undecided = len(ranked) > 1 and ranked[0][0] == ranked[1][0]
        if not ranked or undecided or ranked[0][0][1] <= 0:
            continue
        if best is None or ranked[0][0] > most:
            most = ranked[0][0]
            best = ranked[0][1:]
    return best


def _rank(before: Column, after: Column, cells: Cells) -> tuple[int, int]:
    """Return how good the change from `before` to `after` is by a sample, for comparison.

    First come the cells gained within the bounds, then all cells gained.

    Bounds decide where a cell can be read in two ways: 11,427 kg is no eleven tons in 0 to 30.
    """
    gain = effect_of(before, after, cells).gain
    return gain - _clipped(after, cells) + _clipped(before, cells), gain


def _clipped(column: Column, cells: Cells) -> int:
    wide = widest(column)
    clipped = 0
    for cell, count in cells.items():
        if outcome(column, cell, wide) == CLIPPED:
            clipped += count
    return clipped


def redeclare(column: Column, options: Options) -> Column | None:
    """Return a column with these options about reading in place of its own.

    An option that is None is removed. The result is None if the options contradict each other.
    """
    # A fact that is taken back is left out.
    facts = _without_none(column_to_dict(column) | options)
    try:
        return column_from_dict(facts, "the column")
    except InvalidArgument:
        return None


def _bad(column: Column, cells: Cells) -> dict[str, int]:
    """Return the cells that are neither read nor missing."""
    wide = widest(column)
    bad = {}
    for cell, count in cells.items():
        if outcome(column, cell, wide) not in (None, MISSING):
            bad[cell] = count
    return bad


def _null(column: Column, cells: Cells) -> Rivals:
    """Yield a list of missing marks that would cover bad cells, if there are any."""
    bad = _bad(column, cells)
    # A number means nothing only if it is much commoner than the other numbers beyond the bounds.
    least = 0
    for cell, count in bad.items():
        if _WHOLE.fullmatch(cell) and not is_missing_mark(cell):
            least = max(least, 3 * count)
    marks = set()
    for cell, count in bad.items():
        is_common = count > least or not _WHOLE.fullmatch(cell)
        if is_missing_mark(cell) and is_common:
            marks.add(cell.strip(" "))
    if marks:
        yield ({"null": sorted({*(column.null or ()), *marks})},)


def _blanks_and_case(column: Column, cells: Cells) -> Rivals:
    if _bad(column, cells):
        yield ({"strip": True},)
        yield ({"fold": True},)
        yield ({"strip": True, "fold": True},)


def _aliases(column: Column, cells: Cells) -> Rivals:
    """Yield aliases for unlisted texts of at least 20 rows that resemble one key."""
    if not isinstance(column, Category):
        return
    keys = list(map(str, column.values))
    found = dict(column.aliases or ())
    for cell, count in _bad(column, cells).items():
        meant = resembled_key(cell, keys)
        if meant is not None and count >= MIN_ROWS_OF_ALIAS:
            found[column.spelling.normal(cell)] = meant
    if len(found) > len(column.aliases or ()):
        yield ({"aliases": found},)


def resembled_key(cell: str, keys: Iterable[str]) -> str | None:
    """Return the only key that a text resembles, else None.

    A text resembles a key if it is its beginning or its initials, begins with the key, or differs
    by a typing error. Numbers in both have to be equal.

    >>> from discreet.data.drafting.proposals import resembled_key
    >>> wards = ["emergency", "intensive care", "surgery", "ward 1", "ward 2"]
    >>> [resembled_key(cell, wards) for cell in ("Emerg.", "I.C.", "surgrey", "ward 3", "E.R.")]
    ['emergency', 'intensive care', 'surgery', None, None]
    """
    written = _letters(cell)
    near = list(filter(partial(_resembles, written), keys))
    return near[0] if len(near) == 1 else None


def _resembles(written: str, key: str) -> bool:
    """Return whether text resembles a key; `written` has letters and digits only."""
    meant = _letters(key)
    words = re.findall(r"\w+", fold_text(key))
    if len(words) > 1 and written == "".join(word[0] for word in words):
        return True
    # Numbers tell keys apart: ward 1 is no slip for ward 2.
    if re.findall("[0-9]+", written) != re.findall("[0-9]+", meant) or len(written) < 3:
        return False
    if meant.startswith(written) or (len(meant) >= 4 and written.startswith(meant)):
        return True
    return len(written) >= 5 and SequenceMatcher(None, written, meant).ratio() >= _CLOSE


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", fold_text(text))


def _format(column: Column, cells: Cells) -> Rivals:
    """Yield formats that would read the bad cells of a column, one form of cells at a time.

    Formats that fit the same cells (31/12 and 12/31) are yielded together, as rivals.
    """
    if not isinstance(column, Temporal):
        return
    # Cells in the declared formats must stay readable; without a declaration these are ISO's.
    declared = list(formats_of(column.format)) if column.format else _iso_formats(column, cells)
    forms: Counter[str] = Counter()
    for cell, count in _bad(column, cells).items():
        forms[form_of(cell)] += count
    for form, _ in forms.most_common():
        rivals: list[Options] = []
        for added in day_formats(form):
            formats = [*declared, added]
            rivals.append({"format": formats if len(formats) > 1 else added})
        if rivals:
            yield tuple(rivals)


def _iso_formats(column: Temporal, cells: Cells) -> list[str]:
    """Return the ISO formats of cells that are read without any declared format."""
    wide = widest(column)
    forms = set()
    for cell in cells:
        if outcome(column, cell, wide) in (None, CLIPPED):
            forms.add(form_of(cell))
    formats: list[str] = []
    for form in sorted(forms):
        # Only a form that begins with the year is ISO's, and it has one format.
        formats += filter(_is_iso, day_formats(form))
    return formats


def _is_iso(given: str) -> bool:
    return given.startswith("%Y-%m-%d")


def _numerals(name: str, column: Column, cells: Cells) -> Rivals:
    """Yield marks of numbers and units, apart and together: a cell may need both."""
    bad = _bad(column, cells)
    if not isinstance(column, Numeric) or not bad:
        return
    marks: list[Options] = [{}]
    seen = set("".join(bad))
    for thousands, decimal in _SEPARATORS:
        needed = {thousands, decimal} - {None}
        if needed <= seen and column.thousands is None and column.decimal is None:
            marks.append({"thousands": thousands, "decimal": decimal})
    units: list[Options] = [{}]
    found = _units(name, column, bad)
    if found:
        units.append(found)
    for of_unit in units:
        for of_marks in marks:
            if of_marks or of_unit:
                yield (of_marks | of_unit,)


def _units(name: str, column: Numeric, bad: Cells) -> Options:
    """Return a declaration of the known units beside the numbers of cells; {} if there is none."""
    counts: Counter[str] = Counter()
    for cell, count in bad.items():
        words = _UNIT.findall(cell)
        if re.search("[0-9]", cell) and len(words) == 1 and words[0].casefold() in UNITS:
            counts[words[0]] += count
    known = dict(column.units or ())
    if column.unit is not None:
        known[column.unit] = Fraction(1)
    base = _base_unit(name, known, counts)
    if base is None or not counts:
        return {}
    dimension, base_factor = _facts(base)
    for word in counts:
        if _facts(word)[0] == dimension:
            known[word] = _facts(word)[1] / base_factor
    if set(known) == {base}:
        return {"unit": base}
    factors = map(plain, known.values())
    return {"unit": None, "units": dict(zip(known, factors, strict=True))}


def _base_unit(name: str, declared: Mapping[str, Fraction], counts: Counter[str]) -> str | None:
    """Return the unit of a bare number: the declared one, the one in the name, or the commonest."""
    for unit, factor in declared.items():
        if factor == 1 and unit.casefold() in UNITS:
            return unit
    words = re.split(r"[^\w/%]|_", name.casefold())
    for unit, _ in counts.most_common():
        if unit.casefold() in words:
            return unit
    # lb and lbs are one unit, so they are counted together.
    by_factor: Counter[tuple[str, Fraction]] = Counter()
    for unit, count in counts.items():
        by_factor[_facts(unit)] += count
    for unit, _ in counts.most_common():
        if _facts(unit) == by_factor.most_common(1)[0][0]:
            return unit
    return None


def _facts(unit: str) -> tuple[str, Fraction]:
    dimension, factor = UNITS[unit.casefold()]
    return dimension, Fraction(factor)
