"""An exact adversary against a ledger that decides event by event.

The adversary holds a menu of mechanisms, each at its worst pair of neighbours, with privacy losses on a lattice of
width `unit`. After every answer it knows the loss so far and may ask anything the ledger still admits, or stop. A
dynamic programme over (ledger, loss) maximises what it realises at the end, δ(ε) = E[(1 − e^(ε−L))₊] under D. Nothing
here is shared with the accounting: only `admits` and `after` of the ledger are called.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from discreet.privacy.events import Event


@dataclass(frozen=True)
class Attack:
    """An event, and the law of its loss under D at a worst pair of neighbours: whole units, chances, and a leak."""

    event: Event
    losses: tuple[int, ...]
    chances: tuple[float, ...]
    leak: float = 0.0

    def __post_init__(self):
        assert math.isclose(sum(self.chances) + self.leak, 1.0, rel_tol=1e-12)


def response(event, units, unit, leak=0.0):
    """The worst pair of an ε-DP mechanism (ε = units·unit), after an outright leak with some probability."""
    right = 1 / (1 + math.exp(-units * unit))
    return Attack(event, (units, -units), ((1 - leak) * right, (1 - leak) * (1 - right)), leak)


def ranged(event, units, unit, top):
    """A worst pair of bounded range units·unit: the loss is `top`, or `units` less; its reciprocal has mean 1."""
    high, low = math.exp(-top * unit), math.exp((units - top) * unit)
    upper = (low - 1) / (low - high)
    return Attack(event, (top, top - units), (upper, 1 - upper))


def lattice_laplace(event, steps, unit):
    """Two-sided geometric noise of scale 1/unit moved by `steps`: all its losses, of the same parity as `steps`."""
    base = 1 / (1 + math.exp(-unit))
    ends = {steps: base, -steps: base * math.exp(-steps * unit)}
    inner = {steps - 2 * j: math.tanh(unit / 2) * math.exp(-j * unit) for j in range(1, steps)}
    law = ends | inner
    return Attack(event, tuple(law), tuple(law.values()))


def realised(ledger, menu, *, epsilon, unit, reach):
    """Give the largest δ(ε) that adaptive asking and stopping realises; `epsilon` counts units, and so does `reach`.

    Losses beyond ±reach are taken at the edge, from above: a result is never too small if `reach` is.
    """
    losses = np.arange(-reach, reach + 1)
    stop = np.where(losses > epsilon, -np.expm1(-unit * np.maximum(losses - epsilon, 0.0)), 0.0)
    known = {}

    def value(state):
        if state not in known:
            known[state] = best = stop
            for attack in menu:
                if state.admits(attack.event):
                    best = np.maximum(best, _expected(value(state.after(attack.event)), attack))
            known[state] = best
        return known[state]

    return float(value(ledger)[reach])


def _expected(after, attack):
    total = np.full(after.shape, attack.leak)  # an outright leak is worth everything
    for loss, chance in zip(attack.losses, attack.chances, strict=True):
        moved = np.roll(after, -loss)
        if loss > 0:
            moved[-loss:] = 1.0
        elif loss < 0:
            moved[:-loss] = after[0]
        total += chance * moved
    return total


@dataclass(frozen=True)
class NaiveLedger:
    """Admits while the exact composed δ(ε) of the responses actually chosen is within δ: **not** a filter."""

    epsilon: int
    delta: float
    unit: float
    asked: tuple[int, ...]  # how many of 1, 2, 3 … units

    def admits(self, event):
        return composed(self._with(event), epsilon=self.epsilon, unit=self.unit) <= self.delta

    def after(self, event):
        return NaiveLedger(self.epsilon, self.delta, self.unit, self._with(event))

    def _with(self, event):
        units = round(float(event.epsilon) / self.unit)
        return tuple(n + (i + 1 == units) for i, n in enumerate(self.asked))


@cache
def _spaced(units, times, unit):
    """Give the law of the loss of so many responses of one size, on the lattice."""
    right = 1 / (1 + math.exp(-units * unit))
    law = np.zeros(2 * units * times + 1)
    law[:: 2 * units] = [
        math.comb(times, j) * right**j * (1 - right) ** (times - j) for j in range(times + 1)
    ]
    return law


def composed(counts, *, epsilon, unit):
    """Give the exact δ(ε) of counts[i] randomized responses of i + 1 units each: a convolution of binomials."""
    law = np.ones(1)
    for i, times in enumerate(counts):
        if times:
            law = np.convolve(law, _spaced(i + 1, times, unit))
    losses = np.arange(law.size) - (law.size - 1) // 2
    over = losses > epsilon
    return float(np.sum(law[over] * -np.expm1(-unit * (losses[over] - epsilon))))
