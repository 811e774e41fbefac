"""The deployments of the local model, measured: RAPPOR's decoding, Apple's sketches, words, the device in node.

python benchmarks/local_deployments.py [rappor] [sketches] [words] [device]
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from discreet.local import Choice, Number
from discreet.local.deployments.bit_reports import BitReports
from discreet.local.deployments.hadamard_sketch import HadamardCountMeanSketch
from discreet.local.deployments.hashing import fingerprints
from discreet.local.deployments.one_bit import OneBitMean
from discreet.local.deployments.rappor import Rappor
from discreet.local.deployments.sketch import CountMeanSketch
from discreet.local.reports.parameters import device_parameters
from discreet.local.search.words import Words
from discreet.privacy import PureDP

HERE = Path(__file__).parent
DEVICE = HERE.parent / "src" / "discreet" / "local" / "device"
RUNS, SEARCHES = 50, 20


def rappor() -> None:
    """Decode 1,000 candidates, 300 of which occur, with exponentially falling frequencies; 50 runs."""
    print(
        "RAPPOR           n  (f, p, q)        ε₁ / ε∞      found   false   joint 95 %  each 95 %  decode CPU s"
    )
    for n, runs, shares in ((10**6, RUNS, (0.5, 0.5, 0.75)), (10**5, RUNS, (0.25, 0.35, 0.65))):
        made = Rappor(
            bits=32, hashes=2, cohorts=64, f=shares[0], p=shares[1], q=shares[2], key="benchmark"
        )
        rows = np.array([_decode(made, n, seed) for seed in range(runs)])
        price = f"{float(made.epsilon):.2f} / {float(made.epsilon_for_ever):.2f}"
        found, false, joint, each, cpu = rows.mean(axis=0)
        print(
            f"1,000 names {n:>8}  {shares!s:<16} {price:<12} {found:>5.1f}  {100 * false:>4.1f} %  {100 * joint:>8.0f} %  {100 * each:>7.1f} %  {cpu:>8.2f}"
        )


def _decode(made: Rappor, n: int, seed: int) -> tuple[float, ...]:
    rng = np.random.default_rng(seed)
    names = [f"value {i}" for i in range(1000)]
    weights = np.exp(-np.arange(300) / 50)
    counts = np.r_[rng.multinomial(n, weights / weights.sum()), np.zeros(700, dtype=int)]
    reports = _simulated(made, names, counts, rng)
    start = time.process_time()
    found = made.find(reports, names)
    cpu = time.process_time() - start
    every = made.estimate(reports, names)
    truth = dict(zip(names, counts / n, strict=True))
    true = np.array([truth[name] for name in found.names])
    inside = (found.low <= true) & (true <= found.high)
    covered = (every.low <= counts / n) & (counts / n <= every.high)
    return (
        len(true),
        float((true == 0).mean()) if len(true) else 0.0,
        float(inside.all()),
        float(covered.mean()),
        cpu,
    )


def _simulated(
    made: Rappor, names: list[str], counts: np.ndarray, rng: np.random.Generator
) -> BitReports:
    """Draw reports of their law by floats, in bulk: 10^6 reports of 32 bits would need 10^8 exact coins."""
    prints, who = fingerprints(names, made.key), np.repeat(np.arange(len(names)), counts)
    cohorts = rng.integers(0, made.cohorts, who.size)
    p, q = map(float, made.shown)
    parts = []
    for at in range(0, who.size, 100_000):
        marks = made.marks(cohorts[at : at + 100_000], prints[who[at : at + 100_000]])
        parts.append(
            np.packbits(rng.random(marks.shape) < np.where(marks, q, p), axis=1, bitorder="little")
        )
    return BitReports(cohorts, np.concatenate(parts), made.bits)


def sketches() -> None:
    """Estimate 2,600 emoji, Zipf 1.2: measured variance a person against the formula, and coverage."""
    print(
        "\nsketch                        n   ε   variance a person, measured / predicted   interval holds   server CPU s"
    )
    names = [f"emoji {i}" for i in range(2600)]
    weights = np.arange(1, 2601) ** -1.2
    for make, epsilon, n in (
        (CountMeanSketch, 4, 100_000),
        (HadamardCountMeanSketch, 4, 1_000_000),
        (HadamardCountMeanSketch, 1, 1_000_000),
    ):
        made = make(PureDP(epsilon), rows=1024, width=1024, key="benchmark")
        counts = np.random.default_rng(0).multinomial(n, weights / weights.sum())
        reports = made.randomize(np.repeat(np.array(names), counts))
        start = time.process_time()
        found = made.estimate(reports, names)
        cpu = time.process_time() - start
        measured = float(((found.values - counts / n) ** 2).mean() * n)
        predicted = n * made.variance(n=n, others=float(((counts / n) ** 2).sum()))
        holds = float(((found.low <= counts / n) & (counts / n <= found.high)).mean())
        print(
            f"{make.__name__:<24}{n:>9}  {epsilon:>2}  {measured:>18.3f} / {predicted:.3f}  {100 * holds:>28.1f} %  {cpu:>10.2f}"
        )


def words() -> None:
    """Find the top 20 of 10^5 words of 48 bits, Zipf 1.5, among 10^6 people: other words and people in every run."""
    print(
        "\nwords of 48 bits, n = 1,000,000     rounds                     recall of the top 20      CPU s a search"
    )
    for epsilon in (1, 2, 4):
        made = Words(bits=48, spend=PureDP(epsilon), top=20)
        start = time.process_time()
        recalls = np.array([_recall(made, seed) for seed in range(SEARCHES)])
        cpu = (time.process_time() - start) / SEARCHES
        error = recalls.std(ddof=1) / np.sqrt(SEARCHES)
        print(
            f"ε = {epsilon}                               {made.lengths!s:<25}  {recalls.mean():.3f} ± {error:.3f} of {SEARCHES} runs  {cpu:>8.1f}"
        )


def _recall(made: Words, seed: int) -> float:
    rng = np.random.default_rng(seed)
    weights = np.arange(1, 10**5 + 1) ** -1.5
    codes = rng.integers(0, 1 << 48, 10**5)
    held = codes[rng.choice(10**5, size=10**6, p=weights / weights.sum())]
    values, counts = np.unique(held, return_counts=True)
    top = set(values[np.argsort(-counts)[:20]].tolist())
    names = made.find(held).names
    got = {
        int(name, 16) if name.startswith("0x") else int(made.read(np.array([name]))[0])
        for name in names
    }
    return len(got & top) / 20


def device() -> None:
    """Time reports in node, in microseconds of user CPU."""
    spend, shape = PureDP(2), {"rows": 1024, "width": 1024, "key": "k"}
    rappor_shape = {
        "bits": 128,
        "hashes": 2,
        "cohorts": 64,
        "f": 0.5,
        "p": 0.5,
        "q": 0.75,
        "key": "k",
    }
    cases = {
        "choice, 4 options (direct)": (Choice(4, spend), 1, 1),
        "choice, 100 options (subset)": (Choice(100, spend), 1, 1),
        "choice, 10,000 options (geometry)": (Choice(10_000, spend), 1, 1),
        "choice, 10,000 options, ε = 1 (q = 4)": (Choice(10_000, PureDP(1)), 1, 1),
        "number": (Number(0, 100, spend), 40.5, 1),
        "one-bit mean": (OneBitMean(0, 1440, spend), 90.5, 1),
        "Hadamard sketch": (HadamardCountMeanSketch(spend, **shape), "example.org", 1),
        "count-mean sketch, a bit": (CountMeanSketch(spend, **shape), "x", 1024),
        "RAPPOR, a coin": (Rappor(**rappor_shape), "x", 3 * 128),
    }
    given = {
        name: {"envelope": device_parameters(made, metric=name), "value": value, "unit": unit}
        for name, (made, value, unit) in cases.items()
    }
    told = subprocess.run(
        ["node", HERE / "device.mjs", DEVICE],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=True,
    )
    print("\nin node, µs of CPU")
    for name, micros in json.loads(told.stdout).items():
        print(f"{name:<40}{micros:>8.2f}")
    for file in sorted(DEVICE.glob("*.js")):
        print(f"{file.name:<40}{file.stat().st_size:>8} bytes")


if __name__ == "__main__":
    known = {"rappor": rappor, "sketches": sketches, "words": words, "device": device}
    for name in sys.argv[1:] or known:
        known[name]()
