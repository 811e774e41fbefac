"""Audit real peers, and time the auditor: `python benchmarks/audit.py` (or `make bench`, which installs the peers).

Prints one line for each mechanism: verdict, the lower bound on ε, the event that shows it. Then the time to judge a
million runs on each input, as a ratio to the time of drawing them. `--html DIR` writes a page for each.

Exits with 1 if a verdict is not the known one: float noise is refuted (NumPy, diffprivlib's Laplace, PyDP's Gaussian),
noise on a grid is not (PyDP's Laplace, OpenDP, discreet). A peer that is not installed is left out, and said to be.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from discreet.audit import audit
from discreet.privacy.measures import ApproxDP, PureDP

CLAIM = PureDP(1)
INPUTS = (0.0, 1.0)


FLOATS, GRID = "refuted", "not refuted"
"""What is known of noise that is added in floats, and of noise on a grid."""


def show(name: str, run: Callable[..., object], claim=CLAIM, *, samples: int, known: str) -> bool:
    """Audit one mechanism; say whether the verdict is the known one."""
    start = time.perf_counter()
    report = audit(run, claim, inputs=INPUTS, samples=samples, confidence=1 - 1e-6)
    took = time.perf_counter() - start
    seen = report.best.evidence
    rates = f"{seen.hits}/{seen.runs} against {seen.false_hits}/{seen.false_runs}"
    print(
        f"{name:26} {claim!s:21} {report.verdict:11} ε ≥ {report.epsilon:6.3f}  {report.event}  ({rates}, {took:.1f} s)"
    )
    if "--html" in sys.argv:
        folder = Path(sys.argv[sys.argv.index("--html") + 1])
        folder.mkdir(parents=True, exist_ok=True)
        report.html(folder / f"{name.replace(' ', '-')}.html")
    return report.verdict == known


def diffprivlib_laplace() -> bool:
    from diffprivlib.mechanisms import Laplace

    mechanism = Laplace(epsilon=1, sensitivity=1)
    return show("diffprivlib 0.6.6 Laplace", mechanism.randomise, samples=20_000, known=FLOATS)


def pydp_gaussian() -> bool:
    from pydp.algorithms.numerical_mechanisms import GaussianMechanism

    mechanism = GaussianMechanism(1.0, 1e-5, 1.0)
    return show(
        "PyDP 1.1.5 Gaussian",
        mechanism.add_noise,
        ApproxDP(1, "1e-5"),
        samples=100_000,
        known=FLOATS,
    )


def pydp_laplace() -> bool:
    from pydp.algorithms.numerical_mechanisms import LaplaceMechanism

    mechanism = LaplaceMechanism(1.0, 1.0)
    return show("PyDP 1.1.5 Laplace", mechanism.add_noise, samples=100_000, known=GRID)


def opendp_laplace() -> bool:
    import opendp.prelude as opendp

    opendp.enable_features("contrib")
    space = (
        opendp.vector_domain(opendp.atom_domain(T=float, nan=False)),
        opendp.l1_distance(T=float),
    )
    mechanism = opendp.m.make_laplace(*space, scale=1.0)

    def run(value: float, size: int) -> np.ndarray:
        return np.asarray(mechanism([value] * size))

    return show("OpenDP 0.16.0 Laplace", run, samples=50_000, known=GRID)


def opendp_gaussian() -> bool:
    import opendp.prelude as opendp

    opendp.enable_features("contrib")
    space = (
        opendp.vector_domain(opendp.atom_domain(T=float, nan=False)),
        opendp.l2_distance(T=float),
    )
    mechanism = opendp.m.make_gaussian(*space, scale=3.7306316348159)

    def run(value: float, size: int) -> np.ndarray:
        return np.asarray(mechanism([value] * size))

    return show("OpenDP 0.16.0 Gaussian", run, ApproxDP(1, "1e-5"), samples=20_000, known=GRID)


def own_laplace() -> bool:
    from discreet.mechanisms.additive.laplace import Laplace

    mechanism = Laplace.spending(PureDP(1), sensitivity=1)
    return show(
        "discreet Laplace",
        lambda x, size: mechanism.release(np.full(size, x)),
        samples=1_000_000,
        known=GRID,
    )


def textbook() -> bool:
    rng = np.random.default_rng()
    return show(
        "numpy Laplace on floats",
        lambda x, size: x + rng.laplace(size=size),
        samples=100_000,
        known=FLOATS,
    )


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
    print(
        f"judging {runs} runs on each input: {took - spent:.2f} s, drawing them {spent:.2f} s ({report.verdict})"
    )


PEERS = (
    textbook,
    diffprivlib_laplace,
    pydp_gaussian,
    pydp_laplace,
    opendp_laplace,
    opendp_gaussian,
    own_laplace,
)


def main() -> int:
    surprises = 0
    for peer in PEERS:
        try:
            surprises += not peer()
        except ImportError as missing:
            print(f"{peer.__name__}: not installed ({missing})")
    speed()
    print(f"{surprises} verdicts differ from what is known")
    return int(surprises > 0)


if __name__ == "__main__":
    sys.exit(main())
