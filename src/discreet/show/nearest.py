"""Suggestions for misspelt names: the nearest known names by edit distance.

The distance is that of optimal string alignment (Damerau and Levenshtein, restricted): letters that are
inserted, dropped or replaced, and neighbours that are swapped, count 1 each. Only public names are
compared and shown: functions, declared tables and columns, commands.
"""

from __future__ import annotations

from collections.abc import Iterable

MAX_SUGGESTIONS = 2
"""Suggestions in a refusal; more would be a list to search in."""


def nearest(name: str, known: Iterable[str]) -> list[str]:
    """Return at most two known names that are near, the nearest first; case does not matter.

    A name is near at a distance of at most a third of the letters of `name`, rounded down, but at
    least 1 and at most 3. The same name in another case has distance 0 and is not returned. Of
    equally near names one with the same first letter comes first, then the earlier one.

    >>> from discreet.show.nearest import nearest
    >>> nearest("cuont", ["AVG", "COUNT", "SUM"]), nearest("regin", ["region", "age"])
    (['COUNT'], ['region'])
    >>> nearest("income", ["age", "region"])
    []
    """
    wanted = name.casefold()
    limit = _max_distance(wanted)
    ranked = []
    for order, candidate in enumerate(dict.fromkeys(known)):
        other = candidate.casefold()
        # The lengths alone bound the distance, so most names are not compared at all.
        if abs(len(other) - len(wanted)) > limit:
            continue
        distance = edit_distance(wanted, other)
        if 0 < distance <= limit:
            ranked.append((distance, other[:1] != wanted[:1], order, candidate))
    return [candidate for *_, candidate in sorted(ranked)[:MAX_SUGGESTIONS]]


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return "did you mean a or b?" for the nearest names; the empty text if none is near.

    >>> from discreet.show.nearest import did_you_mean
    >>> did_you_mean("shoops", ["shop", "shops", "age"])
    'did you mean shops or shop?'
    """
    near = nearest(name, known)
    if not near:
        return ""
    return f"did you mean {' or '.join(near)}?"


def _max_distance(name: str) -> int:
    """Return the distance up to which a name is near: its length // 3, but from 1 to 3."""
    return min(3, max(1, len(name) // 3))


def edit_distance(one: str, other: str) -> int:
    """Return the number of edits between two texts: insert, drop, replace, swap neighbours.

    >>> from discreet.show.nearest import edit_distance
    >>> edit_distance("form", "from"), edit_distance("coun", "count"), edit_distance("", "abc")
    (1, 1, 3)
    """
    before: list[int] = []
    last = list(range(len(other) + 1))
    for i, letter in enumerate(one):
        row = [i + 1]
        for j, other_letter in enumerate(other):
            changed = last[j] + (letter != other_letter)
            row.append(min(last[j + 1] + 1, row[j] + 1, changed))
            # Two letters that changed places count as one edit.
            swapped = i > 0 and j > 0 and one[i - 1 : i + 1] == other_letter + other[j - 1]
            if swapped:
                row[-1] = min(row[-1], before[j - 1] + 1)
        before = last
        last = row
    return last[-1]
