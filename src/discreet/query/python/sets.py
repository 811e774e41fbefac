"""Sets of keys in Python: all tables of at most so many keys, and running totals along a number."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from ...arithmetic.rational import Number, positive, rational, whole
from ...errors import InvalidArgument
from ..algebra.expression import Expression, Field
from ..algebra.names import own_names
from .aggregate import Of, named_column
from .bins import lower_edge
from .column import Col

__all__ = ["running_key", "sets_up_to"]


def sets_up_to(names: Sequence[str], up_to: int) -> tuple[tuple[int, ...], ...]:
    """Return all sets of at most `up_to` of these keys by place, the largest first.

    >>> from discreet.query.python.sets import sets_up_to
    >>> sets_up_to(["sex", "region"], 1)
    ((0,), (1,), ())

    Refuses fewer than one key, one that is named twice, and an `up_to` that is no number of keys.
    """
    if isinstance(names, str) or not names or not all(isinstance(name, str) for name in names):
        raise InvalidArgument('marginals takes the names of keys, such as ["sex", "region"]')
    own_names(list(names))
    most = whole(up_to, "up_to", least=1)
    if most > len(names):
        raise InvalidArgument(f"up_to is {most}, and there are {len(names)} keys; leave it out for all of them")
    return tuple(one for count in range(most, -1, -1) for one in combinations(range(len(names)), count))


def running_key(of: Of, width: Number | None, start: Number) -> dict[str, Of]:
    """Return the key that running totals go along: a number, or bins of one width named by their lower edges."""
    x: Expression = named_column(of)
    name = x.name if isinstance(x, Field) else "bin"
    if width is None:
        return {name: Col(x)}
    return {name: Col(lower_edge(x, rational(start, "start"), positive(width, "width")))}
