"""What a filter is opened with: its kind, the δ it keeps for leaks, its orders; each read and checked."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Literal, TypeAlias, assert_never, get_args

from ...arithmetic.rational import Number, rational
from ...arithmetic.rounding import shown
from ...errors import InvalidArgument
from ..measures import ZCDP, ApproxDP, GaussianDP, Measure, PureDP, RenyiDP
from .gdp import GAUSSIAN, RESIDUE
from .pure import APPROXIMATE, PURE
from .renyi import RENYI, best_order
from .rule import FilterTerms, Orders, Rule
from .zcdp import ADVANCED, CONCENTRATED

FilterKind: TypeAlias = Literal[
    "pure", "approximate", "zcdp", "advanced", "renyi", "gdp", "residue"
]


def rule_of(kind: FilterKind) -> Rule:
    """Return the rule of a kind; each stands in its own file, with its proof."""
    match kind:
        case "pure" | "approximate":
            return PURE if kind == "pure" else APPROXIMATE
        case "zcdp" | "advanced":
            return CONCENTRATED if kind == "zcdp" else ADVANCED
        case "renyi":
            return RENYI
        case "gdp" | "residue":
            return GAUSSIAN if kind == "gdp" else RESIDUE
        case _:
            assert_never(kind)


def read_kind(budget: Measure, kind: FilterKind | None) -> FilterKind:
    """Read the kind of a filter, or choose the one that admits most."""
    if kind is None:
        return _default(budget)
    if kind not in get_args(FilterKind):
        raise InvalidArgument(
            f"kind must be one of {', '.join(get_args(FilterKind))}; got {kind!r}"
        )
    if not isinstance(budget, rule_of(kind).budgets):
        takes = " or ".join(b.__name__ for b in rule_of(kind).budgets)
        raise InvalidArgument(
            f"a filter of kind {kind!r} promises {takes}, not {type(budget).__name__}; open such a one"
        )
    return kind


def _default(budget: Measure) -> FilterKind:
    match budget:
        case PureDP():
            return "pure"
        case ZCDP():
            return "zcdp"
        case RenyiDP():
            return "renyi"
        case ApproxDP(delta=0):
            return "approximate"
        case ApproxDP() | GaussianDP():
            return "residue"
        case _:
            assert_never(budget)


def read_delta(budget: Measure, kind: FilterKind, delta: Number | None) -> Fraction:
    """Read the part of a budget's δ that is kept for leaks."""
    if kind == "approximate" and isinstance(budget, ApproxDP) and delta is None:
        return budget.delta
    leak = Fraction() if delta is None else rational(delta, "delta")
    if leak and (kind == "approximate" or not isinstance(budget, ApproxDP)):
        raise InvalidArgument(
            f"delta is kept from an ApproxDP budget, by a kind with a tail; {kind!r} takes none"
        )
    if isinstance(budget, ApproxDP) and kind != "approximate" and not 0 <= leak < budget.delta:
        raise InvalidArgument(
            f"delta must be at least 0 and below the budget's {shown(budget.delta)}, got {delta}"
        )
    return leak


def read_orders(
    budget: Measure, kind: FilterKind, orders: Number | Iterable[Number] | None, leak: Fraction
) -> Orders:
    """Read the Rényi orders of a filter."""
    if isinstance(budget, RenyiDP) and orders is None:
        return budget.alphas
    if kind != "renyi" or isinstance(budget, RenyiDP):
        if orders is not None:
            raise InvalidArgument(
                "orders are for kind='renyi' over an ApproxDP budget; a RenyiDP budget lists its own"
            )
        return ()
    if orders is None:
        terms = FilterTerms(budget, leak, ())
        return (best_order(float(terms.epsilon), max(float(terms.tail), 5e-324)),)
    listed = (orders,) if isinstance(orders, Number) else tuple(orders)
    alphas = tuple(rational(a, "orders") for a in listed)
    if len(alphas) != 1 or alphas[0] <= 1:
        why = "which of several orders passes would depend on the answers"
        raise InvalidArgument(
            f"a renyi filter over ApproxDP fixes one order greater than 1 ({why}); give one"
        )
    return alphas
