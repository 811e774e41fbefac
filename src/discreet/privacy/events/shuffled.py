"""Event of the shuffle model: local reports without their senders, in random order."""

from __future__ import annotations

from fractions import Fraction
from math import gcd

from ...arithmetic.rational import Number, positive, whole
from ...errors import InvalidArgument
from ...frozen import fill, frozen
from ..neighbours import REPLACE, Neighbours


@frozen(init=False)
class Shuffled:
    """Shuffled reports of at least n people, each ε-DP by itself; neighbours are "replace".

    A two-level mechanism has three sizes, stored in lowest terms: outputs |Y|, `inside` |S_v|,
    `shared` |S_u ∩ S_v|, the same for all u ≠ v. Without them only ε is known. Everything random in
    a report goes through the shuffler, and n counts honest reports only, a public lower bound.

    >>> from discreet.privacy import Shuffled
    >>> Shuffled(1, 10_000, outputs=20, inside=2, shared=0).outputs
    10

    Refuses: InvalidArgument for add/remove neighbours, and for sizes that no two-level mechanism
        has.
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
        all_outputs, own, both = _read_sizes(outputs, inside, shared)
        fill(self, epsilon=positive(epsilon, "epsilon"), n=whole(n, "n", least=1))
        fill(self, outputs=all_outputs, inside=own, shared=both, neighbours=REPLACE)


def _read_sizes(
    outputs: int | None, inside: int | None, shared: int | None
) -> tuple[int | None, int | None, int | None]:
    if outputs is None and inside is None and shared is None:
        return None, None, None
    if outputs is None or inside is None or shared is None:
        raise InvalidArgument("give outputs, inside and shared together, or none of them")
    total = whole(outputs, "outputs", least=2)
    own = whole(inside, "inside", least=1, most=total - 1)
    both = whole(shared, "shared", most=own - 1)
    # |S_u ∪ S_v| = 2|S_v| − |S_u ∩ S_v| must fit into Y.
    if 2 * own - both > total:
        raise InvalidArgument(
            "two sets of this size that share so little do not fit among the outputs"
        )
    # Lowest terms: the law of the counts depends on the ratios only.
    common = gcd(total, own, both)
    return total // common, own // common, both // common
