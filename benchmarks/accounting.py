"""Price the jobs of the accounting design with discreet and with its peers, in one interleaved run.

    python benchmarks/accounting.py             every job, every tool that is installed
    python benchmarks/accounting.py --quick     without the jobs and settings that take a peer minutes

Each measurement is a process of its own: the answer, its CPU time (imports and a small warm-up apart) and the growth of
its largest resident size; ratios carry over between machines, milliseconds do not. Tools take turns, the best of the
rounds counts. δ = 1e-6 throughout. Peers: dp_accounting as it comes (grid 1e-4) and tuned (the coarsest grid that stays
within about 1e-3), prv_accountant, OpenDP (zCDP, converted). Not installed is not run.
"""

from __future__ import annotations

import importlib.util
import json
import math
import resource
import subprocess
import sys
import time
from fractions import Fraction

DELTA = 1e-6
MOST = 6 * 2**30
"""Bytes of address space a measurement may take."""
JOBS = {
    "gauss-1e3": "Gaussian σ=10, k=1000 (each one on the ring)",
    "gauss-1e5": "Gaussian σ=10, k=1e5 (each one on the ring)",
    "laplace-1e5": "Laplace ε0=.1, k=1e5",
    "mixed": "500 Laplace (.005–.02) + 500 discrete Gaussian (σ 50–200) + 20 pure .05",
    "dp-sgd": "DP-SGD σ=.8 q=.01 T=1e4",
    "boxes": "(.1, 1e-10) × 1000",
}
TUNED = {
    "gauss-1e3": 5e-3,
    "gauss-1e5": 5e-3,
    "laplace-1e5": 5e-3,
    "mixed": 2e-5,
    "dp-sgd": 1e-3,
    "boxes": 0.1,
}
SLOW = {
    ("dp_accounting", "gauss-1e5"),
    ("dp_accounting", "laplace-1e5"),
    ("dp_accounting tuned", "mixed"),
}


def laplaces():
    return [0.005 + 0.015 * i / 499 for i in range(500)]


def deviations():
    return [50 + 150 * i / 499 for i in range(500)]


def discreet_price(job, gap):
    from discreet.privacy.events import (
        DiscreteGaussianNoise,
        GaussianNoise,
        LaplaceNoise,
        Promise,
        Repeated,
        Sampled,
    )
    from discreet.privacy.measures import ApproxDP, PureDP
    from discreet.privacy.numerical.accountant import numerical
    from discreet.privacy.numerical.direction import DirectionBounds
    from discreet.privacy.pairs.gauss import Gauss

    if job.startswith("gauss"):  # the closed form would be unfair: compose them like any other law
        found = DirectionBounds(((Gauss(0.1), 1000 if job == "gauss-1e3" else 100_000),)).epsilon(
            Fraction(1, 10**6), gap
        )
        return found.upper, found.lower
    events = {
        "laplace-1e5": lambda: [Repeated(LaplaceNoise(10, 1), 100_000)],
        "mixed": lambda: (
            [LaplaceNoise(1 / e, 1) for e in laplaces()]
            + [DiscreteGaussianNoise(round(s * s, 3), 1) for s in deviations()]
            + [Promise(PureDP("0.05"))] * 20
        ),
        "dp-sgd": lambda: [Repeated(Sampled(GaussianNoise("0.64", 1), "0.01"), 10_000)],
        "boxes": lambda: [Promise(ApproxDP("0.1", "1e-10"))] * 1000,
        "warm": lambda: [
            Repeated(Sampled(GaussianNoise(1, 1), "0.1"), 2),
            Repeated(Promise(PureDP(1)), 2),
        ],
    }[job]()
    price = numerical(events, gap=gap)
    return price.epsilon(DELTA), price.lower_epsilon(DELTA)


def dp_accounting_price(job, interval):
    from dp_accounting.pld import privacy_loss_distribution as pld

    if job == "warm":
        return pld.from_laplace_mechanism(1.0).self_compose(2).get_epsilon_for_delta(DELTA), None
    if job.startswith("gauss"):
        one = pld.from_gaussian_mechanism(10.0, value_discretization_interval=interval)
        total = one.self_compose(1000 if job == "gauss-1e3" else 100_000)
    elif job == "laplace-1e5":
        total = pld.from_laplace_mechanism(
            10.0, value_discretization_interval=interval
        ).self_compose(100_000)
    elif job == "dp-sgd":
        one = pld.from_gaussian_mechanism(
            0.8, sampling_prob=0.01, value_discretization_interval=interval
        )
        total = one.self_compose(10_000)
    elif job == "boxes":
        one = pld.from_privacy_parameters(
            _parameters(0.1, 1e-10), value_discretization_interval=interval
        )
        total = one.self_compose(1000)
    else:
        total = pld.from_privacy_parameters(
            _parameters(0.05, 0.0), value_discretization_interval=interval
        )
        total = total.self_compose(20)
        for e in laplaces():
            total = total.compose(
                pld.from_laplace_mechanism(1 / e, value_discretization_interval=interval)
            )
        for s in deviations():
            total = total.compose(
                pld.from_discrete_gaussian_mechanism(s, 1, value_discretization_interval=interval)
            )
    return total.get_epsilon_for_delta(DELTA), None


def _parameters(epsilon, delta):
    from dp_accounting.pld import common

    return common.DifferentialPrivacyParameters(epsilon, delta)


def prv_price(job):
    from prv_accountant import LaplaceMechanism, PRVAccountant
    from prv_accountant.privacy_random_variables import (
        GaussianMechanism,
        PoissonSubsampledGaussianMechanism,
    )

    prv, times = {
        "warm": (GaussianMechanism(1.0), 2),
        "gauss-1e3": (GaussianMechanism(10.0), 1000),
        "laplace-1e5": (LaplaceMechanism(mu=0.1), 100_000),
        "dp-sgd": (
            PoissonSubsampledGaussianMechanism(sampling_probability=0.01, noise_multiplier=0.8),
            10_000,
        ),
    }[job]
    accountant = PRVAccountant(
        prvs=prv, max_self_compositions=times, eps_error=0.01, delta_error=1e-9
    )
    low, _, high = accountant.compute_epsilon(delta=DELTA, num_self_compositions=times)
    return float(high), float(low)


def opendp_price(job):
    import opendp.prelude as dp

    dp.enable_features("contrib")
    times = {"warm": 2, "gauss-1e3": 1000, "gauss-1e5": 100_000}[job]
    space = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
    rho = dp.m.make_gaussian(*space, scale=10.0).map(1.0) * times
    scale = math.sqrt(1 / (2 * rho))
    whole = dp.c.make_zCDP_to_approxDP(dp.m.make_gaussian(*space, scale=scale))
    return whole.map(1.0).epsilon(DELTA), None


TOOLS = {
    "discreet": ("discreet", lambda job: discreet_price(job, 1e-3)),
    "discreet 1e-4": ("discreet", lambda job: discreet_price(job, 1e-4)),
    "dp_accounting": ("dp_accounting", lambda job: dp_accounting_price(job, 1e-4)),
    "dp_accounting tuned": (
        "dp_accounting",
        lambda job: dp_accounting_price(job, TUNED.get(job, 1e-4)),
    ),
    "prv_accountant": ("prv_accountant", prv_price),
    "OpenDP zCDP": ("opendp", opendp_price),
}


def one(tool, job):
    """Measure one tool on one job in this process."""
    resource.setrlimit(resource.RLIMIT_AS, (MOST, MOST))  # a peer that wants more has no answer
    price = TOOLS[tool][1]
    price("warm")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    upper, lower = price(job)
    seconds = time.process_time() - start
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(json.dumps({"upper": upper, "lower": lower, "seconds": seconds, "megabytes": grown}))


def child(*arguments):
    done = subprocess.run(
        [sys.executable, __file__, *arguments], capture_output=True, text=True, check=False
    )
    return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else None


def main(quick):
    ready = {
        tool: importlib.util.find_spec(module) is not None for tool, (module, _) in TOOLS.items()
    }
    for tool in [tool for tool, there in ready.items() if not there]:
        print(f"{tool}: not installed")
    for job, words in JOBS.items():
        best = {}
        for turn in range(3):
            for tool in TOOLS:
                slow = (tool, job) in SLOW
                if not ready[tool] or (slow and (quick or turn > 0)) or best.get(tool, 0) is None:
                    continue
                found = child("one", tool, job)
                if found is None:
                    best[tool] = None
                elif tool not in best or found["seconds"] < best[tool]["seconds"]:
                    best[tool] = found
        print(f"\n{words}")
        base = best["discreet"]["seconds"]
        for tool, found in best.items():
            if found is None:
                print(f"  {tool:22s} no answer: not offered there, or beyond the memory allowed")
                continue
            gap = "" if not found["lower"] else f"gap {found['upper'] / found['lower'] - 1:.1e}"
            ratio = f"{found['seconds'] / base:8.1f}×"
            print(
                f"  {tool:22s} ε {found['upper']:11.6f} {gap:12s} {ratio} {1e3 * found['seconds']:9.1f} ms "
                f"{found['megabytes']:7.0f} MB"
            )
    print()


if __name__ == "__main__":
    if sys.argv[1:2] == ["one"]:
        one(*sys.argv[2:])
    else:
        main(quick="--quick" in sys.argv)
