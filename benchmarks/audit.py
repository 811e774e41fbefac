"""Audit real peers, and time the auditor: `python benchmarks/audit.py` (peers are optional, see below).

    pip install diffprivlib==0.6.6 "scikit-learn<1.7" python-dp==1.1.5 opendp==0.16.0

Prints one line for each mechanism: verdict, the lower bound on ε, the event that shows it. Then the time to judge a
million runs on each input, as a ratio to the time of drawing them.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from discreet.audit import audit
from discreet.privacy.measures import ApproxDP, PureDP

CLAIM = PureDP(1)
INPUTS = (0.0, 1.0)


def show(name: str, run: Callable[..., object], claim=CLAIM, *, samples: int, inputs=INPUTS) -> None:
    start = time.perf_counter()
    report = audit(run, claim, inputs=inputs, samples=samples)
    took = time.perf_counter() - start
    seen = report.best.evidence
    rates = f"{seen.hits}/{seen.runs} against {seen.false_hits}/{seen.false_runs}"
    print(
        f"{name:26} {claim!s:21} {report.verdict:11} ε ≥ {report.epsilon:6.3f}  {report.event}  ({rates}, {took:.1f} s)"
    )


def diffprivlib_laplace() -> None:
    from diffprivlib.mechanisms import Laplace

    mechanism = Laplace(epsilon=1, sensitivity=1)
    show("diffprivlib 0.6.6 Laplace", mechanism.randomise, samples=20_000)


def pydp_gaussian() -> None:
    from pydp.algorithms.numerical_mechanisms import GaussianMechanism

    mechanism = GaussianMechanism(1.0, 1e-5, 1.0)
    show("PyDP 1.1.5 Gaussian", mechanism.add_noise, ApproxDP(1, "1e-5"), samples=100_000)


def pydp_laplace() -> None:
    from pydp.algorithms.numerical_mechanisms import LaplaceMechanism

    mechanism = LaplaceMechanism(1.0, 1.0)
    show("PyDP 1.1.5 Laplace", mechanism.add_noise, samples=100_000)


def opendp_laplace() -> None:
    import opendp.prelude as opendp

    opendp.enable_features("contrib")
    space = opendp.vector_domain(opendp.atom_domain(T=float, nan=False)), opendp.l1_distance(T=float)
    mechanism = opendp.m.make_laplace(*space, scale=1.0)

    def run(value: float, size: int) -> np.ndarray:
        return np.asarray(mechanism([value] * size))

    show("OpenDP 0.16.0 Laplace", run, samples=50_000)


def opendp_gaussian() -> None:
    import opendp.prelude as opendp

    opendp.enable_features("contrib")
    space = opendp.vector_domain(opendp.atom_domain(T=float, nan=False)), opendp.l2_distance(T=float)
    mechanism = opendp.m.make_gaussian(*space, scale=3.7306316348159)

    def run(value: float, size: int) -> np.ndarray:
        return np.asarray(mechanism([value] * size))

    show("OpenDP 0.16.0 Gaussian", run, ApproxDP(1, "1e-5"), samples=20_000)


def own_laplace() -> None:
    from discreet.mechanisms.laplace import Laplace

    mechanism = Laplace.spending(PureDP(1), sensitivity=1)
    show("discreet Laplace", lambda x, size: mechanism.release(np.full(size, x)), samples=1_000_000)


def textbook() -> None:
    rng = np.random.default_rng()
    show("numpy Laplace on floats", lambda x, size: x + rng.laplace(size=size), samples=100_000)


def speed(runs: int = 1_000_000) -> None:
    """Judge a million runs on each input of a mechanism that draws many at once."""
    rng, spent = np.random.default_rng(), 0.0

    def run(value: float, size: int) -> np.ndarray:
        nonlocal spent
        start = time.perf_counter()
        drawn = np.round((value + rng.laplace(size=size)) * 1024) / 1024
        spent += time.perf_counter() - start
        return drawn

    start = time.perf_counter()
    report = audit(run, CLAIM, inputs=INPUTS, samples=runs)
    took = time.perf_counter() - start
    print(f"judging {runs} runs on each input: {took - spent:.2f} s, drawing them {spent:.2f} s ({report.verdict})")


def main() -> None:
    for peer in (
        textbook,
        diffprivlib_laplace,
        pydp_gaussian,
        pydp_laplace,
        opendp_laplace,
        opendp_gaussian,
        own_laplace,
    ):
        try:
            peer()
        except ImportError as missing:
            print(f"{peer.__name__}: not installed ({missing})")
    speed()


if __name__ == "__main__":
    main()
