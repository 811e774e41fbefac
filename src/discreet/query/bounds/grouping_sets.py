"""Several sets of keys at once, and running totals: what can be put together from the exact totals of finest cells."""

from __future__ import annotations

import math
from fractions import Fraction

from ..algebra.refusal import refusal
from ..algebra.tree import Count, CountOf, CountPeople, Question, Sum
from .nested import MOST_LEAVES, check_nest, count_cells
from .wide_sets import MOST_FINEST, is_wide, largest_set

MOST_SETS = 256
MOST_RUNNING = 4096


def check_sets(question: Question) -> None:
    """Refuse sets of keys and running totals that are no sums of public cells; a question without them passes.

    >>> import discreet as dp
    >>> people = {"people": dp.Schema("people", dp.Rows(), {"sex": dp.Category(["f", "m"])})}
    >>> dp.parse_sql("SELECT sex, VARIANCE(1) AS x FROM people GROUP BY CUBE (sex)", people)
    Traceback (most recent call last):
    ...
    discreet.errors.UnsupportedQuery: GROUPING SETS: COUNT(*), COUNT(x), SUM(x) and AVG(x) are made of sums of \
their parts, others are not; ask for it by itself
    """
    if question.sets is None and not question.running:
        _check_chosen(question)
        return
    clause = "SUM(…) OVER" if question.running else "GROUPING SETS"
    for _, statistic in question.statistics:
        if isinstance(statistic, CountPeople):
            raise refusal(
                clause,
                "people in several cells are not the sum of the cells",
                "count rows, or ask for each set by itself",
            )
        if not isinstance(statistic, Count | CountOf | Sum):
            what = "COUNT(*), COUNT(x), SUM(x) and AVG(x) are made of sums of their parts, others are not"
            raise refusal(clause, what, "ask for it by itself")
    for key in question.keys:
        if key.values is None:
            raise refusal(
                clause, f"the keys of {key.name} are not public", "declare a Category, or use bins"
            )
        if None in key.values:
            here = f"{key.name} may be NULL, and NULL stands for all of its values here"
            raise refusal(
                clause,
                here,
                f"name it, as COALESCE({key.name}, 'none') does, or leave null_key out",
            )
    _check_size(question, clause)
    if question.nested is not None:
        check_nest(question, question.nested)
    _running(question) if question.running else _sets(question)


def _check_chosen(question: Question) -> None:
    """Refuse chosen combinations of keys that do not fit the keys, and others beside them that nobody lists."""
    if question.nested is None:
        return
    unknown = [key.name for key in question.keys if key.values is None]
    if unknown:
        what = f"the keys of {unknown[0]} are not public, and others are chosen from a list"
        raise refusal("GROUP BY", what, f"list the values of {unknown[0]} too, or leave it out")
    check_nest(question, question.nested)


def _check_size(question: Question, clause: str) -> None:
    cells, most = count_cells(question), MOST_FINEST if question.nested is None else MOST_LEAVES
    if is_wide(question):
        cells = largest_set(question)
    if cells > most:
        what = f"its keys have {cells:,} combinations, and at most {most:,} are kept"
        raise refusal(
            clause,
            what,
            "use fewer keys or wider bins, or list the places of nested keys (hierarchy)",
        )
    if is_wide(question):
        lists = [len(key.values or ()) for key in question.keys]
        rows = sum(math.prod(lists[place] for place in one) for one in question.sets or ())
        if rows > MOST_LEAVES:
            what = f"its sets have {rows:,} cells in all, and at most {MOST_LEAVES:,} are kept"
            raise refusal(clause, what, "ask for fewer sets, or wider bins")


def _sets(question: Question) -> None:
    sets, count = question.sets or (), len(question.keys)
    if not 1 <= len(sets) <= MOST_SETS or len(set(sets)) < len(sets):
        raise refusal(
            "GROUPING SETS",
            f"there are 1 to {MOST_SETS} sets, each once",
            "ask for fewer at a time",
        )
    for one in sets:
        if list(one) != sorted(set(one)) or any(
            type(i) is not int or not 0 <= i < count for i in one
        ):
            raise refusal(
                "GROUPING SETS",
                "a set names keys by their places, in order",
                "build it from SQL or a Table",
            )
    if {i for one in sets for i in one} != set(range(count)):
        raise refusal("GROUPING SETS", "some key is in no set", "leave it out of GROUP BY")


def _running(question: Question) -> None:
    if len(question.keys) != 1 or question.sets is not None:
        raise refusal("SUM(…) OVER", "running totals go along one key", "GROUP BY that key alone")
    values = question.keys[0].values or ()
    if not all(isinstance(v, int | Fraction) and not isinstance(v, bool) for v in values) or list(
        values
    ) != sorted(
        values  # type: ignore[type-var]
    ):
        raise refusal(
            "SUM(…) OVER", "running totals go along a number", "GROUP BY a number, or FLOOR(x / 10)"
        )
    if not 1 <= len(values) <= MOST_RUNNING:
        what = f"its key has {len(values):,} values, and at most {MOST_RUNNING:,} are planned"
        raise refusal("SUM(…) OVER", what, "use wider bins")
