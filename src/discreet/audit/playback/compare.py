"""Comparison of two runs: how far each input moved, what that costs, and what else differs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...frozen import frozen, replace
from ..targets.inputs import plain as as_text
from .loss import Loss, moved_scale
from .tape import MechanismCall, Node, Step, Values
from .tracked import Operators, plain

# Relative difference of two scales that rounding explains.
_ROUNDING = 1e-9
# A move by so many scales is told by one look.
_CERTAIN = 1e9


@frozen
class Row:
    """One line of code that releases: its law and scale, how far its input moved, what that costs."""

    place: str
    law: str
    scale: str
    move: float
    loss: Loss
    declared: str = ""
    reason: str = ""
    """Why there is no price, if there is none."""


class DrawMoves:
    """Moves of every noise draw so far, in units of the draw.

    A draw that is used twice is paid for once if it hides the same move both times.
    """

    def __init__(self) -> None:
        self.moves: dict[int, float] = {}

    def is_new(self, draw: int, move: float) -> bool | None:
        """Note the move that a draw hides; return whether the draw is new.

        `draw` is the id of the draw, `move` the move of the input in units of the draw. None means
        that the draw was used before to hide another move: the difference of the two has no noise.
        """
        known = self.moves.setdefault(draw, move)
        if known is move:
            return True
        # Multiples of one release move alike, up to rounding.
        close = math.isclose(known, move, rel_tol=1e-6, abs_tol=1e-12)
        if close:
            return False
        return None


def rows_of(before: list[Step], after: list[Step], *, told: bool = False) -> list[Row]:
    """Return the releases of two runs, one row for each line of code and law.

    With `told`, only values that are numbers of the answer count. A noisy value that the program
    only compares with others may tell less than its full loss.
    """
    rows: dict[tuple[str, str], Row] = {}
    draws = DrawMoves()
    for first, second in zip(before, after, strict=False):
        row = None
        if isinstance(first, Node) and isinstance(second, Node):
            row = _node_row(first, second, draws, told=told)
        elif isinstance(first, MechanismCall) and isinstance(second, MechanismCall):
            row = _release_row(first, second)
        if row is not None:
            key = (row.place, row.law)
            rows[key] = _merged(rows[key], row) if key in rows else row
    return list(rows.values())


def _merged(row: Row, more: Row) -> Row:
    """Join two releases of one line of code: their losses add up, and the larger move is shown."""
    scale = "several"
    if row.scale == more.scale:
        scale = row.scale
    move = max(row.move, more.move)
    reason = row.reason or more.reason
    return replace(row, scale=scale, move=move, loss=row.loss + more.loss, reason=reason)


def counted(first: Node, second: Node, *, told: bool) -> Values:
    """Return which elements of a step are released.

    These have an input. They are used in no further tracked sum, or the program looked at them in
    either run. With `told`, the answer must tell them too.
    """
    if first.input is None or second.input is None:
        return np.zeros(first.ids.shape, dtype=bool)
    # A value that went on into a further sum is not released by itself.
    last = ~(first.consumed & second.consumed)
    released: Values = last | first.seen | second.seen
    if told:
        return released & first.shown
    return released


def _node_row(first: Node, second: Node, draws: DrawMoves, *, told: bool) -> Row | None:
    """Return the row of a step of tracked noise in both runs; None if nothing is released there."""
    here = np.flatnonzero(counted(first, second, told=told))
    if not here.size:
        return None
    loss = Loss()
    largest = 0.0
    laplace: list[float] = []
    for index in here.tolist():
        move, scale, other_scale = element(first, second, index)
        largest = max(largest, abs(move))
        new = draws.is_new(int(first.ids[index]), _unit_move(first, index, move))
        far = bool(move) and not abs(move) <= _CERTAIN * scale
        if new is None or (new and far):
            loss += Loss(certain=True)
        elif new and not math.isclose(scale, other_scale, rel_tol=_ROUNDING):
            loss += moved_scale(first.law, move, scale, other_scale)
        elif new and first.law == "laplace":
            laplace.append(abs(move) / scale if move else 0.0)
        elif new and move:
            loss += Loss(squared_mu=(move / scale) ** 2)
    loss += Loss(laplace=tuple(laplace))
    return Row(first.place, first.law, _scales(first, second, here), largest, loss)


def element(first: Node, second: Node, index: int) -> tuple[float, float, float]:
    """Return how far one element moves, and its scale in either run; a NaN move is infinite."""
    assert first.input is not None and second.input is not None  # noqa: S101, PT018 - `counted` says so
    before = first.input[index]
    after = second.input[index]
    move = 0.0
    if as_text(before) != as_text(after):
        # Differences of exact integers are exact.
        move = float(after - before)
    if math.isnan(move):
        move = math.inf
    scale = abs(float(first.factor[index])) * float(first.scale[index])
    other_scale = abs(float(second.factor[index])) * float(second.scale[index])
    return move, scale, other_scale


def _unit_move(node: Node, index: int, move: float) -> float:
    """Return the move in units of the draw: all multiples of one draw must have the same."""
    factor = float(node.factor[index])
    if factor:
        return move / factor
    return math.inf


def _scales(first: Node, second: Node, here: Values) -> str:
    """Print the scales of a release; with an arrow if they move."""
    before = np.abs(first.factor[here].astype(float)) * first.scale[here]
    after = np.abs(second.factor[here].astype(float)) * second.scale[here]
    text = _range_text(before)
    if np.allclose(before, after, rtol=_ROUNDING, atol=0):
        return text
    return f"{text} → {_range_text(after)}"


def _range_text(values: Values) -> str:
    low, high = float(values.min()), float(values.max())
    if math.isclose(low, high, rel_tol=1e-6):
        return f"{low:.6g}"
    return f"{low:.4g} to {high:.4g}"


def _release_row(first: MechanismCall, second: MechanismCall) -> Row:
    """Price the move of a library's own mechanism as its adapter says."""
    priced = first.price(first.input, second.input)
    # Settings that follow from the data are shown with an arrow.
    declared = first.declared
    if declared != second.declared:
        declared += f" → {second.declared}"
    if isinstance(priced, str):
        return Row(first.place, first.name, "", math.nan, Loss(), declared, priced)
    move, scale, loss = priced
    return Row(first.place, first.name, scale, move, loss, declared)


# Nesting of an answer that is compared; deeper parts are compared as text.
_DEPTH = 6


def visible(value: Any, depth: int = _DEPTH) -> Any:  # noqa: ANN401 - any answer
    """Return an answer as plain values, as an analyst sees it.

    Tracked noise becomes plain numbers, frames and objects become dictionaries, and parts that are
    nested more than `depth` levels deep become text.
    """
    if isinstance(value, Operators):
        value = plain(value)
    if value is None or isinstance(value, bool | int | float | str | bytes | np.generic):
        return value
    # Objects may refer to themselves.
    if depth == 0:
        return as_text(value)
    if isinstance(value, np.ndarray):
        return [visible(part, depth - 1) for part in value.tolist()] if value.ndim else value.item()
    if isinstance(value, Mapping):
        return {str(key): visible(part, depth - 1) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [visible(part, depth - 1) for part in value]
    if isinstance(value, set | frozenset):
        return sorted(as_text(part) for part in value)
    return _visible_object(value, depth)


def _visible_object(value: Any, depth: int) -> Any:  # noqa: ANN401 - any object
    """Return a frame as its columns, a tensor as its numbers, any other object as its attributes."""
    for name in ("to_dict", "tolist"):
        method = getattr(value, name, None)
        if callable(method):
            return visible(method(), depth - 1)
    attributes = getattr(value, "__dict__", None)
    # A text with an address differs in every run: the attributes are compared instead.
    if attributes and " object at 0x" in repr(value):
        public = {name: part for name, part in attributes.items() if not name.startswith("_")}
        return visible(public, depth - 1)
    return as_text(value)


def numbers_of(value: Any) -> list[float]:  # noqa: ANN401 - a plain answer
    """Return all numbers of a plain answer."""
    if isinstance(value, dict):
        return [number for part in value.values() for number in numbers_of(part)]
    if isinstance(value, list):
        return [number for part in value for number in numbers_of(part)]
    if isinstance(value, int | float | np.number):
        return [float(value)]
    return []
