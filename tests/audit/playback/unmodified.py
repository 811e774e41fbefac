"""Zoo of published violations: each in about ten lines of our own, with a mended twin. No line of the libraries is here.

The functions know nothing of the audit: they draw noise as programs do.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field

import numpy as np

from discreet.privacy.measures import ApproxDP, GaussianDP, PureDP

rng = np.random.default_rng()
ROWS = [1.0, 2.0, 3.0, 40.0, 50.0]
TABLE = [{"kind": "a", "x": 3.0}, {"kind": "b", "x": 7.0}, {"kind": "a", "x": 9.0}]
WORDS = ["a", "b", "a"]


@dataclass(frozen=True)
class Case:
    name: str
    published: str
    broken: object
    mended: object
    example: object = field(default_factory=lambda: list(ROWS))
    claim: object = field(default_factory=lambda: PureDP(1))
    neighbours: str = "add-remove"
    rank: int = 1
    skip: tuple[str, ...] = ("none against",)


def clipped(rows, low=0.0, high=100.0):
    """Return rows within bounds; NaN becomes the lower bound."""
    return np.clip(np.nan_to_num(np.asarray(rows, dtype=float), nan=low), low, high)


# diffprivlib, issue 105: the intercept's sensitivity follows from the wrong bounds, and is 0.
def centre(rows, width):
    return clipped(rows).sum() + rng.laplace(scale=width)


def regression_broken(rows):
    return centre(rows, width=100 - 100)


def regression_mended(rows):
    return centre(rows, width=100)


# diffprivlib: classes are taken from the data, and the budget is divided by their number.
def classes_broken(rows):
    counts = {word: rows.count(word) for word in sorted(set(rows))}
    return {word: n + np.random.laplace(scale=len(counts)) for word, n in counts.items()}


def classes_mended(rows):
    return {word: rows.count(word) + np.random.laplace(scale=1) for word in ("a", "b", "c")}


# Several libraries: NaN passes a clip.
def nan_broken(rows):
    return np.clip(np.asarray(rows, dtype=float), 0, 100).sum() + rng.laplace(scale=100)


def nan_mended(rows):
    return clipped(rows).sum() + rng.laplace(scale=100)


# smartnoise-synth, issue 622: a covariance whose values are not held to their bounds.
def covariance_broken(rows):
    values = np.nan_to_num(np.asarray(rows, dtype=float))
    with np.errstate(over="ignore"):
        return (values**2).sum() + np.random.laplace(0, 100**2)


def covariance_mended(rows):
    return (clipped(rows) ** 2).sum() + np.random.laplace(0, 100**2)


# Opacus: the gradient sum is divided by a batch size that follows from the size of the data.
def gradient(rows, batch):
    total = np.clip(np.asarray(rows, dtype=float) / 100, -1, 1)
    return (np.nan_to_num(total).sum() + rng.normal(0, 1)) / batch


def batch_broken(rows):
    return gradient(rows, batch=max(1.0, 0.5 * len(rows)))


def batch_mended(rows):
    return gradient(rows, batch=2.5)


# dpmm, issue 18: without a declared domain, the domain is that of the data.
def domain_broken(rows):
    domain = sorted(set(np.nan_to_num(rows).tolist()))
    counts = np.array([np.sum(np.asarray(rows) == value) for value in domain], dtype=float)
    return dict(zip(domain, counts + rng.laplace(size=len(domain)), strict=True))


def domain_mended(rows):
    counts, _ = np.histogram(clipped(rows), bins=[0, 25, 50, 75, 100])
    return counts + rng.laplace(size=4)


# synthcity's PrivBayes: noise on counts is divided by the number of rows, and is nothing.
def shares_broken(rows):
    shares = np.histogram(clipped(rows), bins=[0, 50, 100])[0] / 1000
    return shares * 1000 + np.random.laplace(0, 2 / 1000, size=2)


def shares_mended(rows):
    return np.histogram(clipped(rows), bins=[0, 50, 100])[0] + np.random.laplace(0, 2, size=2)


# An odometer that reports less than ten releases cost. SmartNoise's (issue 621) errs on the safe side.
def odometer(rows, scale):
    return [len(rows) + rng.laplace(0, scale) for _ in range(10)]


def odometer_broken(rows):
    return odometer(rows, scale=10 / math.sqrt(10))


def odometer_mended(rows):
    return odometer(rows, scale=10)


# MOSTLY AI: the whole budget is spent on each of two steps.
def twice_broken(rows):
    first = len(rows) + rng.laplace(scale=1)
    return first, clipped(rows).sum() + rng.laplace(scale=100)


def twice_mended(rows):
    first = len(rows) + rng.laplace(scale=2)
    return first, clipped(rows).sum() + rng.laplace(scale=200)


# Programs of our own.
def no_clip(rows):
    return sum(rows) + rng.laplace(scale=100)


def true_n(rows):
    return (clipped(rows).sum() + rng.laplace(scale=100)) / len(rows)


def scale_from_data(rows):
    return clipped(rows).sum() + rng.laplace(scale=clipped(rows).max())


def scale_given(rows):
    return clipped(rows).sum() + rng.laplace(scale=100)


def noisy_mean(rows):
    total = clipped(rows).sum() + rng.laplace(scale=200)
    return total / max(1.0, len(rows) + rng.laplace(scale=2))


def one_draw_for_two(rows):
    noise = rng.laplace(scale=200)
    return len(rows) + noise, clipped(rows).sum() + noise


def two_draws(rows):
    return len(rows) + rng.laplace(scale=2), clipped(rows).sum() + rng.laplace(scale=200)


def at_most_n(rows):
    return min(len(rows) + rng.laplace(scale=1), len(rows))


def at_most_ten(rows):
    return min(len(rows) + rng.laplace(scale=1), 10.0)


def refuses_minors(rows):
    if min(rows) < 0.5:
        raise ValueError("somebody is too young")
    return len(rows) + rng.laplace(scale=1)


def counts_all(rows):
    return len(rows) + rng.laplace(scale=1)


def by_hand(value, scale):
    """Return a value with Laplace noise made of one uniform number."""
    u = random.random() - 0.5
    return value - scale * math.copysign(math.log1p(-2 * abs(u)), u) * -1.0


def by_hand_broken(rows):
    return by_hand(len(rows), 0.1)


def by_hand_mended(rows):
    return by_hand(len(rows), 1)


def gaussian_broken(rows):
    return len(rows) + random.gauss(0, 0.5)


def gaussian_mended(rows):
    return len(rows) + random.gauss(0, 1)


def classic_gaussian(rows, sigma):
    return (clipped(rows) / 100).sum() + rng.normal(0, sigma)


CASES = (
    Case("regression bounds", "diffprivlib issue 105", regression_broken, regression_mended),
    Case(
        "classes from data",
        "diffprivlib",
        classes_broken,
        classes_mended,
        example=list(WORDS),
        skip=(),
    ),
    Case("NaN passes a clip", "several", nan_broken, nan_mended),
    Case(
        "covariance without clip",
        "smartnoise-synth issue 622",
        covariance_broken,
        covariance_mended,
    ),
    Case("batch size from data", "Opacus", batch_broken, batch_mended, claim=GaussianDP(1)),
    Case("domain from data", "dpmm issue 18", domain_broken, domain_mended),
    Case("noise divided by n", "synthcity", shares_broken, shares_mended),
    Case("odometer", "SmartNoise issue 621, turned round", odometer_broken, odometer_mended),
    Case("double spending", "MOSTLY AI", twice_broken, twice_mended),
    Case("no clip", "", no_clip, scale_given),
    Case("true n", "", true_n, noisy_mean),
    Case("scale from data", "", scale_from_data, scale_given),
    Case("one draw for two", "", one_draw_for_two, two_draws),
    Case("clamp to the true size", "", at_most_n, at_most_ten),
    Case("an exception tells", "", refuses_minors, counts_all),
    Case("noise made by hand", "", by_hand_broken, by_hand_mended, rank=2),
    Case("too little Gaussian noise", "", gaussian_broken, gaussian_mended, claim=GaussianDP(1)),
    Case(
        "classic Gaussian at ε = 4",
        "Balle and Wang 2018",
        lambda rows: classic_gaussian(rows, math.sqrt(2 * math.log(1.25e2)) / 8),
        lambda rows: classic_gaussian(rows, 1.0),
        claim=ApproxDP(4, "1e-2"),
    ),
)


def histogram(rows):
    return np.histogram(clipped(rows), bins=[0, 10, 50, 100])[0] + rng.laplace(size=3)


def in_place(rows):
    counts = np.histogram(clipped(rows), bins=[0, 10, 50, 100])[0].astype(float)
    counts += rng.laplace(size=3)
    return np.maximum(np.round(counts), 0)


def one_by_one(rows):
    counts = np.histogram(clipped(rows), bins=[0, 10, 50, 100])[0]
    return [max(0, round(n + noise)) for n, noise in zip(counts, rng.laplace(size=3), strict=True)]


def starts_with_noise(rows):
    total = rng.laplace(scale=100)
    for value in clipped(rows):
        total += value
    return total


def located(rows):
    return rng.laplace(loc=len(rows), scale=1)


def summed_normals(rows):
    noise = (rng.normal(0, 1) + rng.normal(0, 1)) / math.sqrt(2)
    return len(rows) + noise


def noisy_max(rows):
    """Six counts that all move: the vector would cost three times what the winner does."""
    counts = np.full(6, len(rows), dtype=float)
    return int(np.argmax(counts + rng.laplace(scale=2, size=6)))


def noisy_max_of_normals(rows):
    """The vector has μ = √6/2; the winner is the same for every number of rows."""
    counts = np.full(6, len(rows), dtype=float)
    return int(np.argmax(counts + rng.normal(scale=2, size=6)))


def above_threshold(rows):
    bar = 3 + rng.laplace(scale=2)
    return [bool(len(rows) + rng.laplace(scale=4) > bar) for _ in range(1)]


def randomized_response(rows):
    truth = len(rows) % 2 == 0
    return truth if random.random() < math.e / (1 + math.e) else not truth


def shuffled(rows):
    order = rng.permutation(len(rows))
    return clipped(rows)[order].sum() + rng.laplace(scale=100)


def two_steps(rows):
    """The second question follows from the first answer."""
    big = len(rows) + rng.laplace(scale=2) > 3
    bound = 100.0 if big else 10.0
    return bool(big), clipped(rows, 0, bound).sum() + rng.laplace(scale=2 * bound)


SOUND = (
    (histogram, PureDP(1)),
    (in_place, PureDP(1)),
    (one_by_one, PureDP(1)),
    (starts_with_noise, PureDP(1)),
    (located, PureDP(1)),
    (summed_normals, GaussianDP(1)),
    (noisy_max, PureDP(1)),
    (above_threshold, PureDP(1)),
    (randomized_response, PureDP(1)),
    (shuffled, PureDP(1)),
    (two_steps, PureDP(1)),
    (noisy_mean, PureDP(1)),
)
