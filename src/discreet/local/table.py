"""Tables for a mean: which output a device draws for which input, in whole numbers, and what each output stands for.

Inputs are G even places on [−1, 1], outputs y a grid on [−C, C], C = (e^{ε/2} + 1)/(e^{ε/2} − 1). The linear program

    least V:  Σ_y P(y|x) = 1,  Σ_y y P(y|x) = x,  Σ_y y² P(y|x) − x² ≤ V,  m(y) ≤ P(y|x) ≤ e^ε m(y)   for every x

has the least worst-case variance of all ε-DP unbiased mechanisms with these inputs and outputs. Its solution is a
float and promises nothing: it is rounded to multiples of 2^-40 within caps that keep every ratio below e^ε, by exact
rationals, and the values of the outputs are solved again so that every input is met.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidArgument
from ..frozen import frozen
from ..noise.exp import exp_neg
from .designs.design import Integers
from .estimates.estimate import Array

SCALE = 1 << 40
"""The weights of a row sum to 2^40; a value of v stands for v/2^40."""
_OUTPUTS = 161
_MOST_INPUTS = 41
_UNBIASED = Fraction(1, 10**9)  # of the range: what rounding to whole weights may leave
_LEAST_MASS = 1e-7  # a column lighter than this is left out


@frozen(eq=False)
class MeanTable:
    """Whole weights (a row for every input, each summing to 2^40) and the outputs' values in units of 2^-40."""

    weights: Integers
    values: Integers

    @property
    def inputs(self) -> Array:
        """The places of the inputs on [−1, 1]."""
        return np.linspace(-1, 1, len(self.weights))

    def variances(self) -> Array:
        """Return the variance of a report at every input; between two of them rounding adds at most (G − 1)^−2."""
        v = self.values / SCALE
        means = self.weights @ v / SCALE
        return np.asarray(self.weights @ v**2 / SCALE - means**2)

    @property
    def worst(self) -> float:
        """The largest variance of a report, for any input on [−1, 1].

        Between inputs the second moment runs straight, x² does not: the rest is at most a quarter of the step squared.
        """
        second = self.variances() + self.inputs**2
        step = 2 / (len(self.weights) - 1)
        best = second[:-1] - self.inputs[:-1] ** 2
        slope = np.diff(second) / step
        at = np.clip(slope / 2, self.inputs[:-1], self.inputs[1:])  # where second − x² is largest
        inner = second[:-1] + slope * (at - self.inputs[:-1]) - at**2
        return float(max(best.max(), inner.max()))


def check_table(table: MeanTable, epsilon: Fraction) -> MeanTable:
    """Check that every row is a law, that its mean is its input, and that no ratio exceeds e^ε, in exact numbers.

    Refuses a table that does not keep ε or is biased, whoever made it.
    """
    weights = table.weights
    if (
        table.values.ndim != 1
        or weights.ndim != 2
        or len(weights) < 2
        or weights.shape[1] != table.values.size
        or weights.shape[1] < 2
    ):
        raise InvalidArgument(
            "a table has at least two inputs and two outputs, and a value for every output"
        )
    if (weights < 1).any() or any(sum(row) != SCALE for row in weights.tolist()):
        raise InvalidArgument(
            "every row of a table must be weights of at least 1 that sum to 2**40"
        )
    most = _growth(epsilon)
    for least, greatest in zip(
        weights.min(axis=0).tolist(), weights.max(axis=0).tolist(), strict=True
    ):
        if greatest > most * least:
            raise InvalidArgument(
                "the table does not keep epsilon: two inputs differ too much in one output"
            )
    if any(abs(off) > _UNBIASED for off in _biases(table)):
        raise InvalidArgument("the table is biased: its values do not stand for its inputs")
    return table


def _biases(table: MeanTable) -> list[Fraction]:
    """Return, for every input, how far the mean of its report is off."""
    values, steps = table.values.tolist(), len(table.weights) - 1
    means = [
        Fraction(sum(w * v for w, v in zip(row, values, strict=True)), SCALE**2)
        for row in table.weights.tolist()
    ]
    return [mean - (Fraction(2 * at, steps) - 1) for at, mean in enumerate(means)]


@lru_cache(maxsize=64)
def make_table(epsilon: Fraction) -> MeanTable:
    """Solve the program for this ε and make it exact; Duchi's two outputs where they are as good.

    >>> from discreet.local.table import make_table
    >>> from fractions import Fraction
    >>> table = make_table(Fraction(1))
    >>> 3.98 < table.worst < 4.02
    True
    """
    duchi = _rounded(*_two_outputs(epsilon), epsilon)
    solved = _solve(epsilon)
    made = (
        duchi if solved is None else min((_rounded(*solved, epsilon), duchi), key=lambda t: t.worst)
    )
    return check_table(made, epsilon)


def _growth(epsilon: Fraction) -> Fraction:
    """Return a rational just below e^ε."""
    return Fraction(1 << 128, exp_neg(epsilon.numerator, epsilon.denominator, 128)[1])


def _two_outputs(epsilon: Fraction) -> tuple[Array, Array]:
    """Return the laws and values of Duchi, Jordan, Wainwright (2018): ±(e^ε + 1)/(e^ε − 1)."""
    reach = 1 / math.tanh(float(epsilon) / 2)
    up = (1 + np.array([-1.0, 1.0]) / reach) / 2
    return np.stack([1 - up, up], axis=1), np.array([-reach, reach])


def _solve(epsilon: Fraction) -> tuple[Array, Array] | None:
    """Solve the linear program for inputs 0 … 1; −x mirrors x. None where the solver finds no optimum."""
    from scipy.optimize import linprog

    e = float(epsilon)
    inputs = _inputs(e)
    outputs = np.linspace(-1, 1, _OUTPUTS) / math.tanh(e / 4)
    half, k = inputs // 2 + 1, _OUTPUTS
    program = _program(np.linspace(0, 1, half), outputs, math.exp(e))
    found = linprog(**program, bounds=(0, None), method="highs")
    if found.x is None:
        return None
    right = found.x[: half * k].reshape(half, k)
    return np.concatenate([right[:0:-1, ::-1], right]), outputs


def _inputs(epsilon: float) -> int:
    """Return how many inputs keep the rounding to them within about 2 % of the variance (which nears 4·4^−ε)."""
    near = max((1 / math.tanh(epsilon / 2)) ** 2 - 1, math.exp(-epsilon)) * 4
    return min(_MOST_INPUTS, 2 * math.ceil(max(5.0, math.sqrt(50 / near) / 2)) + 1)


def _program(x: Array, y: Array, e: float) -> dict[str, Any]:
    """Write the program in the columns P(y|x) for every x, then m(y) for y ≤ 0 (m(−y) = m(y)), then V."""
    from scipy.sparse import block_array, csr_array, eye_array, kron

    n, k = x.size, y.size
    half = k // 2 + 1
    every, ones = eye_array(n), np.ones((1, k))
    least = csr_array(
        (np.ones(k), (np.arange(k), np.minimum(np.arange(k), k - 1 - np.arange(k)))),
        shape=(k, half),
    )
    stacked = kron(np.ones((n, 1)), least)
    rows: list[Any] = [
        [eye_array(n * k), -e * stacked, None],
        [-eye_array(n * k), stacked, None],
        [kron(every, y[None, :] ** 2), None, csr_array(-np.ones((n, 1)))],
    ]
    caps: Any = block_array(rows)
    middle = csr_array(
        (np.ones(half - 1), (np.arange(half - 1), np.arange(half - 1))), shape=(half - 1, k)
    )
    other = csr_array(
        (np.ones(half - 1), (np.arange(half - 1), k - 1 - np.arange(half - 1))), shape=(half - 1, k)
    )
    level: Any = block_array([[middle - other, csr_array((half - 1, (n - 1) * k))]])
    blocks: list[Any] = [[kron(every, ones)], [kron(every, y[None, :])], [level]]
    laws: Any = block_array(blocks)
    equal: Any = block_array([[laws, csr_array((laws.shape[0], half + 1))]])
    return {
        "c": np.append(np.zeros(n * k + half), 1.0),
        "A_ub": caps.tocsr(), "b_ub": np.concatenate([np.zeros(2 * n * k), x**2]),
        "A_eq": equal.tocsr(), "b_eq": np.concatenate([np.ones(n), x, np.zeros(half - 1)]),
    }  # fmt: skip


def _rounded(laws: Array, outputs: Array, epsilon: Fraction) -> MeanTable:
    """Round the laws to whole weights within caps [m, ⌊e^ε m⌋] per output, then solve the values again."""
    kept = laws.min(axis=0) > _LEAST_MASS
    laws, outputs = laws[:, kept], outputs[kept]
    least = np.floor(laws.min(axis=0) * SCALE).astype(np.int64)
    most = np.array([math.floor(_growth(epsilon) * m) for m in least.tolist()])
    weights = np.clip(np.rint(laws * SCALE).astype(np.int64), least, most)
    for row in weights:
        _balance(row, least, most)
    return MeanTable(weights, _values(weights, outputs))


def _balance(row: NDArray[np.int64], least: Integers, most: Integers) -> None:
    """Move what the weights of a row lack to 2^40 into the outputs with the most room."""
    lack = SCALE - int(row.sum())
    room = (most - row) if lack > 0 else (row - least)
    for at in np.argsort(-room):
        moved = min(abs(lack), int(room[at]))
        row[at] += moved if lack > 0 else -moved
        lack -= moved if lack > 0 else -moved


def _values(weights: Integers, outputs: Array) -> Integers:
    """Return the values nearest to the outputs with which every input is met, in units of 2^-40.

    Solved twice in floats: the second time for what the first has left.
    """
    laws, wanted = weights / SCALE, np.linspace(-1, 1, len(weights))
    found = outputs.copy()
    for _ in range(2):
        found = found + np.linalg.lstsq(laws, wanted - laws @ found, rcond=1e-12)[0]
    return np.rint(found * SCALE).astype(np.int64)
