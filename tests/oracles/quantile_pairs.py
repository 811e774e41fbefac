"""All pairs of a place and a reach, from the definition: their depths, public weights, and whether their ends hold.

It imports nothing of discreet.
"""

from fractions import Fraction
from itertools import accumulate
from math import isqrt


def list_pairs(at, counts, slack, weight, ends):
    """List by (place, first, last) the depth, weight and truth of every reach, ranks counted one by one.

    `counts` has the weight of the rows of every place, `weight` is that of one row.
    """
    origin, last = ends[0], ends[1] - ends[0]
    size = 2 * at.denominator
    ranks = [0, *accumulate(size * counts.get(cell + origin, 0) for cell in range(last + 1))]
    half = at.denominator * weight
    middle = half + at.numerator * 2 * (ranks[-1] // size - weight)
    doubled = [0]
    while doubled[-1] < last:
        doubled.append(max(1, 2 * doubled[-1]))
    # Odd places go √2 times as far, to an even number; 0 and 1 are in both lists.
    longer = [h if h < 2 else 2 * isqrt(h * h // 2) for h in doubled]
    heavy_down = 4 if at >= Fraction(9, 10) else 1
    heavy_up = 4 if at <= Fraction(1, 10) else 1
    listed = {}
    for place in range(last + 1):
        own = max(0, middle - ranks[place + 1], ranks[place] - middle)
        steps = longer if (place + origin) % 2 else doubled
        low = [middle - half - ranks[max(place - h, 0)] for h in steps]
        high = [ranks[min(place + h, last) + 1] - middle - half for h in steps]
        least = [min(a, b) for a, b in zip(low, high, strict=True)]
        low_all, high_all = max(0, low[-1] - slack), max(0, high[-1] - slack)
        for i, h in enumerate(steps):
            first, end = max(place - h, 0), min(place + h, last)
            both = (least, 0, (first, end), 1, low[i] >= 0 and high[i] >= 0)
            down = (low, high_all, (first, last), heavy_down, low[i] >= 0)
            up = (high, low_all, (0, end), heavy_up, high[i] >= 0)
            for ranked, floor, (start, stop), heavy, right in (both, down, up):
                depth = max(own, floor, slack - ranked[i])
                # A shorter distance that leaves more than the slack makes this one too long.
                if i:
                    depth = max(depth, ranked[i - 1] - slack)
                found = listed.setdefault((place + origin, start + origin, stop + origin), [])
                found.append((depth, heavy, right))
        everything = (place + origin, origin, last + origin)
        listed.setdefault(everything, []).append((max(own, low_all, high_all), 1, True))
    return listed
