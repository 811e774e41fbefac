"""A store of a few lines: the meaning of a tally, read straight off its definition. People have the column "id"."""

from collections import Counter, defaultdict
from fractions import Fraction

from discreet.data.unit import People
from discreet.query.algebra.tally import Free, GroupRowShare, GroupShare, RowShare
from discreet.query.algebra.tree import Scan, Select, Union, Where
from discreet.query.bounds.relation_facts import columns_of, unit_of
from discreet.query.domains.domain import Whole
from discreet.query.domains.domain_of import domain_of
from discreet.query.meaning.evaluate import evaluate, meaning_of


class Store:
    """Answers tallies over {table: list of dicts}; `asked` records every tally."""

    def __init__(self, tables):
        self.tables, self.asked = tables, []

    def tally(self, tally):
        self.asked.append(tally)
        return totals(tally, self.tables)


def rows_of(relation, tables):
    """Give (owner, row) pairs."""
    match relation:
        case Scan(schema=schema):
            person = isinstance(schema.unit, People)
            found = []
            for place, raw in enumerate(tables[schema.name]):
                row = {}
                for name, column in schema.declared:
                    if hasattr(column, "steps"):
                        steps = column.steps(raw.get(name))
                        row[name] = None if steps is None else steps * Fraction(column.step)
                    else:
                        row[name] = column.read(raw.get(name))
                found.append((raw["id"] if person else place, row))
            return found
        case Where(rows=rows, condition=condition):
            columns = columns_of(rows)
            return [
                (o, r) for o, r in rows_of(rows, tables) if evaluate(condition, r, columns) is True
            ]
        case Select(rows=rows, columns=chosen):
            columns = columns_of(rows)
            return [
                (o, {n: evaluate(e, r, columns) for n, e in chosen})
                for o, r in rows_of(rows, tables)
            ]
        case Union(parts=parts):
            return [pair for part in parts for pair in rows_of(part, tables)]
    raise NotImplementedError


def contribution(term, row, columns):
    return added(term, evaluate(term.expression, row, columns), domain_of(term.expression, columns))


def added(term, value, kind):
    if value is None:
        return 0
    if not isinstance(kind, Whole):
        return term.weight * int(value)
    steps = Fraction(value) / kind.step
    assert steps.denominator == 1
    return term.weight * int(steps)


def shrink(amount, top, bottom):
    size = abs(amount) * top // bottom
    return size if amount >= 0 else -size


def _at(key, tally):
    return tuple(key[place] for place in tally.joined)


def totals(tally, tables):
    columns = columns_of(tally.rows)
    only = None if tally.only is None else set(tally.only)
    keys = [meaning_of(key, columns) for key in tally.keys]
    terms = [
        (t, meaning_of(t.expression, columns), domain_of(t.expression, columns))
        for t in tally.terms
    ]
    items = []
    for owner, row in rows_of(tally.rows, tables):
        key = tuple(meaning(row) for meaning in keys)
        if tally.joined and _at(key, tally) not in {_at(one, tally) for one in only or ()}:
            continue
        # Of a person's rows those without a wanted key are counted, and nothing else.
        if only is None or key in only or isinstance(tally.share, RowShare | GroupRowShare):
            items.append(
                (owner, key, [added(term, meaning(row), kind) for term, meaning, kind in terms])
            )
    if tally.people:
        best = {}
        for owner, key, values in items:
            old = best.get((owner, key))
            best[owner, key] = (
                values if old is None else [max(a, b) for a, b in zip(old, values, strict=True)]
            )
        items = [(owner, key, values) for (owner, key), values in best.items()]
    result = defaultdict(lambda: [0] * len(tally.terms))
    if not tally.keys:
        result[()]
    if not isinstance(tally.share, Free):
        assert isinstance(unit_of(tally.rows), People)
        items = shared(tally, items)
    for _, key, values in items:
        if only is not None and key not in only:
            continue
        result[key] = [a + b for a, b in zip(result[key], values, strict=True)]
    return {key: tuple(values) for key, values in result.items()}


def shared(tally, items):
    mine = defaultdict(list)
    for owner, key, values in items:
        mine[owner].append((key, values))
    found = []
    for owner, theirs in mine.items():
        if isinstance(tally.share, RowShare):
            k, n = tally.share.rows, len(theirs)
            found += [
                (owner, key, v if n <= k else [shrink(x, k, n) for x in v]) for key, v in theirs
            ]
        if isinstance(tally.share, GroupRowShare):
            found += [(owner, key, v) for key, v in weighed(tally, theirs)]
        if isinstance(tally.share, GroupShare):
            g, r = tally.share.groups, tally.share.rows
            sums = defaultdict(lambda: [0] * len(tally.terms))
            for key, v in theirs:
                sums[key] = [a + b for a, b in zip(sums[key], v, strict=True)]
            m = len(sums)
            for key, v in sums.items():
                clipped = [
                    min(max(x, r * t.low), r * t.high) for x, t in zip(v, tally.terms, strict=True)
                ]
                found.append(
                    (owner, key, clipped if m <= g else [shrink(x, g, m) for x in clipped])
                )
    return found


def weighed(tally, theirs):
    """Weigh one person's rows: at most r in a group, then at most K in all; rows in no listed group are a group."""
    share, part = tally.share, 1 << 20
    listed = None if tally.only is None else {key[: share.keys] for key in tally.only}
    groups = [key[: share.keys] for key, _ in theirs]
    groups = ["none" if listed is not None and j not in listed else j for j in groups]
    rows = Counter(groups)
    counted = sum(min(n, share.group_rows) for n in rows.values())
    for (key, values), j in zip(theirs, groups, strict=True):
        in_group = min(rows[j], share.group_rows) * part // rows[j]
        in_all = min(counted, share.rows) * part // counted
        yield key, [shrink(x, in_group * in_all // part, part) for x in values]
