"""Readers of a filter's options: its kind, the part of δ for leaks, and its Rényi orders.

A leak is the δ of an event that may show everything with that probability, such as the selection of
unknown keys.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Literal, TypeAlias, assert_never, get_args

from ...arithmetic.rational import Number, rational
from ...arithmetic.rounding import shown
from ...errors import InvalidArgument
from ..measures import ZCDP, ApproxDP, GaussianDP, Measure, PureDP, RenyiDP
from .basic_composition import APPROXIMATE, PURE
from .gdp import GAUSSIAN, RESIDUE
from .renyi import RENYI, best_order
from .rule import FilterTerms, Orders, Rule
from .zcdp import ADVANCED, CONCENTRATED

FilterKind: TypeAlias = Literal[
    "pure", "approximate", "zcdp", "advanced", "renyi", "gdp", "residue"
]
# Least positive float: a tail below it still needs some order, and gets no capacity.
_MIN_TAIL = 5e-324


def rule_of(kind: FilterKind) -> Rule:
    """Return the rule of a kind; each is in its own file, with its proof."""
    match kind:
        case "pure":
            return PURE
        case "approximate":
            return APPROXIMATE
        case "zcdp":
            return CONCENTRATED
        case "advanced":
            return ADVANCED
        case "renyi":
            return RENYI
        case "gdp":
            return GAUSSIAN
        case "residue":
            return RESIDUE
        case _:
            assert_never(kind)


def read_kind(budget: Measure, kind: FilterKind | None) -> FilterKind:
    """Read the kind of a filter; None chooses the kind that usually admits most.

    Refuses: InvalidArgument for an unknown kind, and for one that cannot promise the budget.
    """
    if kind is None:
        return _default_kind(budget)
    kinds = get_args(FilterKind)
    if kind not in kinds:
        raise InvalidArgument(f"kind must be one of {', '.join(kinds)}; got {kind!r}")
    budgets = rule_of(kind).budgets
    if not isinstance(budget, budgets):
        takes = " or ".join(measure.__name__ for measure in budgets)
        got = type(budget).__name__
        raise InvalidArgument(
            f"a filter of kind {kind!r} promises {takes}, not {got}; open such a one"
        )
    return kind


def _default_kind(budget: Measure) -> FilterKind:
    """Return the kind that is opened by default: the one that usually admits most."""
    match budget:
        case PureDP():
            return "pure"
        case ZCDP():
            return "zcdp"
        case RenyiDP():
            return "renyi"
        # Without a δ there is no tail to convert.
        case ApproxDP(delta=0):
            return "approximate"
        case ApproxDP() | GaussianDP():
            return "residue"
        case _:
            assert_never(budget)


def read_delta(budget: Measure, kind: FilterKind, delta: Number | None) -> Fraction:
    """Read the part of a budget's δ that is kept for leaks.

    Refuses: InvalidArgument where no tail shares the δ, and for a part outside [0, δ).
    """
    if kind == "approximate" and isinstance(budget, ApproxDP) and delta is None:
        return budget.delta
    leak = Fraction()
    if delta is not None:
        leak = rational(delta, "delta")
    if leak and (kind == "approximate" or not isinstance(budget, ApproxDP)):
        raise InvalidArgument(
            f"delta is kept from an ApproxDP budget, by a kind with a tail; {kind!r} takes none"
        )
    # Strictly below δ: the tail needs a positive remainder.
    if isinstance(budget, ApproxDP) and kind != "approximate" and not 0 <= leak < budget.delta:
        raise InvalidArgument(
            f"delta must be at least 0 and below the budget's {shown(budget.delta)}, got {delta}"
        )
    return leak


def read_orders(
    budget: Measure, kind: FilterKind, orders: Number | Iterable[Number] | None, leak: Fraction
) -> Orders:
    """Read the Rényi orders of a filter.

    Refuses: InvalidArgument for orders that the kind does not take, and for several orders over
        an ApproxDP budget (`renyi` says why that is not sound).
    """
    if isinstance(budget, RenyiDP) and orders is None:
        return budget.alphas
    if kind != "renyi" or isinstance(budget, RenyiDP):
        if orders is not None:
            raise InvalidArgument(
                "orders are for kind='renyi' over an ApproxDP budget; "
                "a RenyiDP budget lists its own"
            )
        return ()
    if orders is None:
        terms = FilterTerms(budget, leak, ())
        tail = max(float(terms.tail), _MIN_TAIL)
        return (best_order(float(terms.epsilon), tail),)
    listed = (orders,) if isinstance(orders, Number) else tuple(orders)
    alphas = tuple(rational(order, "orders") for order in listed)
    if len(alphas) != 1 or alphas[0] <= 1:
        raise InvalidArgument(
            "a renyi filter over ApproxDP fixes one order greater than 1 "
            "(which of several orders passes would depend on the answers); give one"
        )
    return alphas
