"""Privacy loss between two runs, and its sum against a claim, by the auditor's own arithmetic.

| release | loss |
|---|---|
| Laplace noise of scale b, moved by Δ ≥ 0 | Δ/b: the log-ratio reached in the tail |
| normal noise of scale σ, moved by Δ | μ² = Δ²/σ² |
| scale or probabilities that move | two discrete laws, P and Q |

Promises of δ are judged by the privacy loss distribution: losses are rounded down to a grid and
summed by FFT. So every number from laws is at most the true one, and a refutation by it is sound.
A price that a library's own map states (OpenDP, Tumult) is taken at its word.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...arithmetic.special import log_ndtr
from ...frozen import frozen, replace
from ...privacy.measures import ZCDP, ApproxDP, GaussianDP, Measure, PureDP, RenyiDP
from ..evidence.claim import gaussian_delta

Floats = NDArray[np.float64]
Laws = tuple[Floats, Floats]

# Excess over a claim that honest rounding explains (OpenDP rounds the price of a float sum up by 1e-8).
TOLERANCE = 1e-6
_CELLS = 2**14
_ORDERS = 1 + np.geomspace(1e-3, 1e3, 121)


@frozen
class Loss:
    """Loss of one release or of many, between the run on D and the run on D'.

    | field | holds |
    |---|---|
    | `laplace` | log-ratios Δ/b of Laplace releases, one each |
    | `squared_mu` | sum of Δ²/σ² over normal releases |
    | `laws` | pairs of discrete laws on D and on D' |
    | `stated` | sum of the δ that mechanisms state |
    | `certain` | a number moves without noise |
    | `unbounded` | no log-ratio has a bound: a scale moves, or the noise is discrete Gaussian |
    """

    laplace: tuple[float, ...] = ()
    squared_mu: float = 0.0
    laws: tuple[Laws, ...] = ()
    stated: float = 0.0
    certain: bool = False
    unbounded: bool = False

    def __add__(self, other: Loss) -> Loss:
        return Loss(
            self.laplace + other.laplace,
            self.squared_mu + other.squared_mu,
            self.laws + other.laws,
            self.stated + other.stated,
            self.certain or other.certain,
            self.unbounded or other.unbounded,
        )

    @property
    def epsilon(self) -> float:
        """The largest log-ratio of an outcome; infinite if normal noise or a scale moves."""
        if self.certain or self.unbounded or self.squared_mu > 0:
            return math.inf
        return math.fsum(self.laplace) + math.fsum(_largest_ratio(laws) for laws in self.laws)

    @property
    def nothing(self) -> bool:
        """Whether nothing moved."""
        moved = self.certain or self.stated > 0 or self.squared_mu > 0
        return not moved and not any(self.laplace) and not self.laws


@frozen
class Judged:
    """Sum of the losses in the claim's own number (`seen`), and whether it is above the claim.

    For (ε, δ) that number is δ at the claim's ε.
    """

    seen: float
    text: str
    above: bool


def judge(loss: Loss, claim: Measure) -> Judged:
    """Compare the sum of losses with a claim.

    >>> import discreet as dp
    >>> from discreet.audit.playback.loss import Loss, judge
    >>> judge(Loss(laplace=(1.0, 1.0)), dp.PureDP(1)).text
    'ε = 2, claimed 1'
    >>> judge(Loss(squared_mu=4.0), dp.ZCDP(1)).text
    'ρ = 2, claimed 1'

    Guarantee: the loss is never overstated. It is `above` a claim only beyond 1 + 1e-6 times it.
    Law: `tests/audit/playback/test_loss.py::TestSoundSums`
    """
    if loss.nothing:
        return Judged(0.0, "nothing moves", above=False)
    match claim:
        case PureDP():
            return _judged("ε", loss.epsilon, float(claim.epsilon))
        case ApproxDP():
            delta = max(_delta(way, float(claim.epsilon)) for way in _both_ways(loss))
            name = f"δ at ε = {float(claim.epsilon):g}"
            return _judged(name, delta, float(claim.delta))
        case GaussianDP():
            return _judged("μ", _gaussian(loss, math.sqrt(claim.squared)), math.sqrt(claim.squared))
        case ZCDP():
            rho = max(_renyi(loss, alpha) / alpha for alpha in _ORDERS.tolist())
            return _judged("ρ", rho, float(claim.rho))
        case RenyiDP():
            return _renyi_judged(loss, claim)


def laplace_loss(move: float, scale: float) -> Loss:
    """Return the loss of Laplace noise whose input moves; a move of 1e9 scales is told by one look."""
    if move and not abs(move) <= 1e9 * scale:
        return Loss(certain=True)
    return Loss(laplace=(abs(move) / scale,)) if move else Loss()


def normal_loss(move: float, scale: float) -> Loss:
    """Return the loss of normal noise whose input moves by this distance."""
    if move and not abs(move) <= 1e9 * scale:
        return Loss(certain=True)
    return Loss(squared_mu=(move / scale) ** 2) if move else Loss()


def _judged(name: str, seen: float, claimed: float) -> Judged:
    text = f"{name} = {seen:.6g}, claimed {claimed:.6g}"
    return Judged(seen, text, above=not seen <= claimed * (1 + TOLERANCE))


def _renyi_judged(loss: Loss, claim: RenyiDP) -> Judged:
    """Judge the first order whose promise is exceeded; the first of all if none is."""
    orders = [(float(alpha), float(most)) for alpha, most in claim.orders]
    found = [_judged(f"ε({alpha:g})", _renyi(loss, alpha), most) for alpha, most in orders]
    worst = [judged for judged in found if judged.above]
    return (worst or found)[0]


def _both_ways(loss: Loss) -> tuple[Loss, Loss]:
    """Return the loss of D against D' and of D' against D; only laws that move are not symmetric."""
    swapped = tuple((second, first) for first, second in loss.laws)
    other = replace(loss, laws=swapped)
    return loss, other


def _largest_ratio(laws: Laws) -> float:
    """Return the largest log-ratio of two discrete laws, in either direction."""
    first, second = laws
    here = (first > 0) | (second > 0)
    with np.errstate(divide="ignore"):
        ratios = np.log(first[here]) - np.log(second[here])
    return float(np.max(np.abs(ratios)))


def _gaussian(loss: Loss, mu: float) -> float:
    """Return the μ of normal noise; else infinity if δ at some ε exceeds that of `mu`, or 0."""
    if loss.certain:
        return math.inf
    if not any(loss.laplace) and not loss.laws:
        return math.sqrt(loss.squared_mu)
    for epsilon in (0.0, mu / 2, mu, 2 * mu, 3 * mu):
        delta = max(_delta(way, epsilon) for way in _both_ways(loss))
        # The margin is that of the discrete Fourier transform.
        if delta > gaussian_delta(mu, epsilon) * (1 + TOLERANCE) + 1e-12:
            return math.inf
    return 0.0


def _renyi(loss: Loss, alpha: float) -> float:
    """Return the Rényi divergence of order α: it adds up over releases."""
    if loss.certain:
        return math.inf
    total = alpha * loss.squared_mu / 2
    for epsilon in loss.laplace:
        total += _renyi_laplace(epsilon, alpha)
    ways = [math.fsum(_renyi_laws(laws, alpha) for laws in way.laws) for way in _both_ways(loss)]
    return total + max(ways)


def _renyi_laplace(epsilon: float, alpha: float) -> float:
    """Return the divergence of Laplace laws that are ε scales apart (Mironov 2017, Proposition 6)."""
    if epsilon == 0:
        return 0.0
    near = math.log(alpha / (2 * alpha - 1)) + (alpha - 1) * epsilon
    far = math.log((alpha - 1) / (2 * alpha - 1)) - alpha * epsilon
    return float(np.logaddexp(near, far)) / (alpha - 1)


def _renyi_laws(laws: Laws, alpha: float) -> float:
    """Return the Rényi divergence of order α of the first discrete law from the second."""
    first, second = laws
    here = first > 0
    if np.any(second[here] == 0):
        return math.inf
    logs = alpha * np.log(first[here]) + (1 - alpha) * np.log(second[here])
    return max(0.0, float(np.logaddexp.reduce(logs)) / (alpha - 1))


def _delta(loss: Loss, epsilon: float) -> float:
    """Return a lower bound on δ(ε) of the sum, from the privacy loss distribution."""
    if loss.certain:
        return 1.0
    if not any(loss.laplace) and not loss.laws:
        return gaussian_delta(math.sqrt(loss.squared_mu), epsilon) + loss.stated
    # Probability that no outcome gives the input away.
    certain = 1.0
    for first, second in loss.laws:
        # Outcomes that the second law never shows count fully.
        certain *= 1.0 - float(np.sum(first[second == 0]))
    top = _range(loss)
    step = 2 * top / _CELLS
    edges: Floats = (np.arange(_CELLS + 1, dtype=np.float64) - _CELLS // 2) * step
    spectrum = np.ones(_CELLS // 2 + 1, dtype=complex)
    for masses, times in _distributions(loss, edges):
        # The grid starts at −top: the middle cell is moved to the front, where loss 0 belongs.
        spectrum *= np.fft.rfft(np.fft.ifftshift(masses)) ** times
    total = np.fft.fftshift(np.fft.irfft(spectrum, _CELLS))
    at = edges[:-1]
    above = at > epsilon
    # Rounding errors of the transform are about 1e-16 a cell; negative masses lower the sum.
    share = float(np.sum(total[above] * -np.expm1(epsilon - at[above])))
    return max(0.0, share - 1e-12) + (1.0 - certain) + loss.stated


def _range(loss: Loss) -> float:
    """Return a loss that the sum of all parts hardly exceeds."""
    mu = math.sqrt(loss.squared_mu)
    top = math.fsum(loss.laplace) + loss.squared_mu / 2 + 10 * mu
    for first, second in loss.laws:
        here = (first > 0) & (second > 0)
        top += float(np.max(np.abs(np.log(first[here] / second[here])), initial=0.0))
    return 1.01 * top + 1e-9


def _distributions(loss: Loss, edges: Floats) -> list[tuple[Floats, int]]:
    """Return the masses of each part on the grid, rounded down, and how often it occurs."""
    # Equal losses are transformed once and raised to a power.
    found = []
    for epsilon, times in _grouped(loss.laplace):
        found.append((_rounded_down(_laplace_survival(epsilon, edges)), times))
    if loss.squared_mu:
        mu = math.sqrt(loss.squared_mu)
        survival = np.exp(log_ndtr((loss.squared_mu / 2 - edges) / mu))
        found.append((_rounded_down(survival), 1))
    for first, second in loss.laws:
        found.append((_law_masses(first, second, edges), 1))
    return found


def _grouped(values: Sequence[float], levels: int = 64) -> list[tuple[float, int]]:
    """Return losses with how often each occurs; many different ones are rounded down to a few."""
    losses = np.array([value for value in values if value > 0])
    if len(np.unique(losses)) > levels:
        width = losses.max() / levels
        losses = np.floor(losses / width) * width
    distinct, numbers = np.unique(losses, return_counts=True)
    return list(zip(distinct.tolist(), numbers.tolist(), strict=True))


def _laplace_survival(epsilon: float, edges: Floats) -> Floats:
    """Return P[loss ≥ edge]: the loss is ε in one tail, −ε in the other, and between them moves evenly."""
    inner = 1 - np.exp(-(epsilon - edges) / 2) / 2
    survival = np.where(edges <= -epsilon, 1.0, inner)
    # At its largest value the loss has the mass 1/2; the edge just above it has none.
    return np.where(edges > epsilon, 0.0, survival)


def _rounded_down(survival: Floats) -> Floats:
    """Return the mass of each cell, put at its lower edge."""
    return survival[:-1] - survival[1:]


def _law_masses(first: Floats, second: Floats, edges: Floats) -> Floats:
    """Return the masses of the losses of two discrete laws on the grid, rounded down."""
    here = (first > 0) & (second > 0)
    losses = np.log(first[here] / second[here])
    cells = np.clip(np.searchsorted(edges, losses, side="right") - 1, 0, len(edges) - 2)
    masses: Floats = np.bincount(cells, weights=first[here], minlength=len(edges) - 1)  # type: ignore[assignment]
    return masses


def moved_scale(law: str, move: float, before: float, after: float) -> Loss:
    """Return the loss where the scale itself moves: two laws, cut into cells of equal outputs.

    Cutting is post-processing, so the loss of the cells is at most that of the laws.
    """
    low = min(before, after)
    high = max(before, after)
    # Scales this far apart are told apart by one look; so is a move that is no number.
    if low == 0 or not high <= 1e9 * low or not abs(move) <= 1e9 * low:
        return Loss(certain=True)
    # Beyond 60 scales there is no mass that a double can tell from 0.
    reach = 60 * high + abs(move)
    cuts = np.sinh(np.linspace(-1, 1, 4001) * math.asinh(reach / low))
    cuts *= low
    first = _cells(law, cuts / before)
    second = _cells(law, (cuts - move) / after)
    return Loss(laws=((first, second),), unbounded=True)


def _cells(law: str, cuts: Floats) -> Floats:
    """Return the mass of each cell between cuts, both tails included."""
    if law == "laplace":
        below = np.where(cuts < 0, np.exp(-np.abs(cuts)) / 2, 0.0)
        above = np.where(cuts < 0, 0.0, np.exp(-np.abs(cuts)) / 2)
    else:
        below = np.where(cuts < 0, np.exp(log_ndtr(cuts)), 0.0)
        above = np.where(cuts < 0, 0.0, np.exp(log_ndtr(-cuts)))
    # Differences of tails: of the lower one left of 0, of the upper one right of it.
    inner = np.where(cuts[1:] < 0, np.diff(below), -np.diff(above))
    middle = (cuts[:-1] < 0) & (cuts[1:] >= 0)
    inner = np.where(middle, 1.0 - below[:-1] - above[1:], inner)
    return np.concatenate([below[:1], np.maximum(inner, 0.0), above[-1:]])
