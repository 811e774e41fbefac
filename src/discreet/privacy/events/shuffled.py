"""Local reports that a shuffler strips of their senders."""

from __future__ import annotations

from fractions import Fraction
from math import gcd

from ...arithmetic.rational import Number, positive, whole
from ...errors import InvalidArgument
from ...frozen import fill, frozen
from ..neighbours import REPLACE, Neighbours


@frozen(init=False)
class Shuffled:
    """Reports of at least n people, each ε-DP by itself, in an order that tells nothing (neighbours: replace).

    Of a two-level mechanism its sizes are given, in lowest terms: outputs |Y|, `inside` |S_v|, `shared` |S_u ∩ S_v|,
    the same for all u ≠ v. Without them only ε is known. All that is random in a report goes through the shuffler, and
    n counts honest reports only, a public lower bound.

    >>> from discreet.privacy import Shuffled
    >>> Shuffled(1, 10_000, outputs=20, inside=2, shared=0).outputs
    10
    """

    epsilon: Fraction
    n: int
    outputs: int | None
    inside: int | None
    shared: int | None
    neighbours: Neighbours

    def __init__(
        self,
        epsilon: Number,
        n: int,
        outputs: int | None = None,
        inside: int | None = None,
        shared: int | None = None,
        *,
        neighbours: Neighbours = REPLACE,
    ) -> None:
        if neighbours != REPLACE:
            raise InvalidArgument(
                "shuffled reports are priced for 'replace' neighbours: who takes part is public"
            )
        sizes = _sizes(outputs, inside, shared)
        fill(
            self, epsilon=positive(epsilon, "epsilon"), n=whole(n, "n", least=1), neighbours=REPLACE
        )
        fill(self, outputs=sizes[0], inside=sizes[1], shared=sizes[2])


def _sizes(
    outputs: int | None, inside: int | None, shared: int | None
) -> tuple[int | None, int | None, int | None]:
    if outputs is None and inside is None and shared is None:
        return None, None, None
    if outputs is None or inside is None or shared is None:
        raise InvalidArgument("give outputs, inside and shared together, or none of them")
    total = whole(outputs, "outputs", least=2)
    own = whole(inside, "inside", least=1, most=total - 1)
    both = whole(shared, "shared", most=own - 1)
    if 2 * own - both > total:
        raise InvalidArgument(
            "two sets of this size that share so little do not fit among the outputs"
        )
    common = gcd(total, own, both)
    return total // common, own // common, both // common
