"""The local room beside published formulas and the libraries people use.

    python benchmarks/local.py                          formulas, decoding, shuffling
    python benchmarks/local.py --peers PYTHON           also pure-ldp and multi-freq-ldpy, in the interpreter that has them

Variances are exact, by the formulas that the tests hold against enumeration; times are CPU seconds of one process, the
best of three, and ratios carry over between machines. The peers' interpreter comes from the dependency group
`bench-local` in an environment of its own: their pins do not fit ours.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import time
from fractions import Fraction

import numpy as np

from discreet.local import Choice, pack_block, params_hash, unpack_block
from discreet.local.choose import choose
from discreet.local.designs.subset import subset_facts
from discreet.local.law import TwoLevelLaw
from discreet.local.table import make_table
from discreet.privacy import PureDP, Shuffled, compose

EPSILONS = ("0.25", "0.5", "0.75", "1", "1.04", "1.5", "2", "2.5", "3", "3.5", "4")
SMALL = {"n": 20_000, "options": 1_000, "epsilon": 1.0}

PEER = """
import json, sys, time, warnings
warnings.filterwarnings("ignore")
import numpy as np
tool, n, d, eps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
values = (np.random.default_rng(1).zipf(1.5, n) - 1) % d
clock = time.process_time
if tool == "multi-freq-ldpy subset":
    from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Client, SS_Aggregator_MI
    SS_Client(0, d, eps)
    t = clock(); reports = [SS_Client(int(v), d, eps) for v in values]; drawn = clock() - t
    t = clock(); found = SS_Aggregator_MI(reports, d, eps); counted = clock() - t
else:
    if tool == "pure-ldp OUE":
        from pure_ldp.frequency_oracles.unary_encoding import UEClient, UEServer
        client, server = UEClient(eps, d, use_oue=True), UEServer(eps, d, use_oue=True)
    elif tool == "pure-ldp Hadamard":
        from pure_ldp.frequency_oracles.hadamard_response import HadamardResponseClient, HadamardResponseServer
        server = HadamardResponseServer(eps, d); client = HadamardResponseClient(eps, d, server.get_hash_funcs())
    else:
        from pure_ldp.frequency_oracles.local_hashing import LHClient, LHServer
        client, server = LHClient(eps, d, use_olh=True), LHServer(eps, d, use_olh=True)
    t = clock(); reports = [client.privatise(int(v) + 1) for v in values]; drawn = clock() - t
    t = clock(); server.aggregate_all(reports)
    found = np.array([server.estimate(v + 1, suppress_warnings=True) for v in range(d)]) / n; counted = clock() - t
truth = np.bincount(values, minlength=d) / n
print(json.dumps([drawn, counted, float(((found - truth) ** 2).mean() * n)]))
"""


def best(work, rounds=3):
    """Return the least CPU time of a few rounds, and the last result."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        found = work()
        times.append(time.process_time() - start)
    return min(times), found


def best_subset(options, epsilon):
    middle = options / (math.exp(epsilon) + 1)
    near = {max(1, math.floor(middle)), max(1, math.ceil(middle))}
    return min(TwoLevelLaw(subset_facts(options, k), epsilon).total_variance for k in near)


def variances():
    print(
        "\nVariance of the member taken against subset selection (the optimum); target at most 1.02"
    )
    print(f"{'ε':>6}" + "".join(f"{d:>14,}" for d in (1_000, 10_000)) + f"{'bits':>8}")
    worst = 0.0
    for text in EPSILONS:
        epsilon = Fraction(text)
        taken = [choose(d, epsilon).taken for d in (1_000, 10_000)]
        ratios = [t.variance / best_subset(t.facts.options, epsilon) for t in taken]
        worst = max(worst, *ratios)
        cells = "".join(
            f"{f'{r:.4f} (q={t.parameter})':>14}" for r, t in zip(ratios, taken, strict=True)
        )
        print(f"{text:>6}{cells}{taken[1].facts.bits:>8}")
    print(f"worst: {worst:.4f}")


def decoding():
    print("\n10^6 reports over 10^4 options; target 0.1 s CPU and 3 bytes a report at every ε")
    print(f"{'ε':>6}{'member':>14}{'bytes':>8}{'drawn s':>9}{'decoded from bytes s':>22}")
    values = np.minimum(np.random.default_rng(1).zipf(1.3, 10**6) - 1, 9_999)
    for text in EPSILONS:
        choice = Choice(10_000, PureDP(Fraction(text)))
        drawn, reports = best(lambda choice=choice: choice.randomize(values), 1)
        params = params_hash(choice.to_json())
        width = choice.taken.facts.width
        block = pack_block(reports, metric="m", params=params, width=width)
        choice.family.counts(reports)  # the tables of the field are made once

        def decode(choice=choice, block=block, params=params, width=width):
            rows = unpack_block(block, params=params, metric="m")
            numbers = rows[:, 0].astype(np.int64)
            for at in range(1, width):
                numbers |= rows[:, at].astype(np.int64) << (8 * at)
            return choice.family.counts(numbers)

        counted, _ = best(decode)
        member = f"{choice.taken.facts.member} {choice.taken.parameter}"
        print(
            f"{text:>6}{member:>14}{len(block) / reports.size:>8.3f}{drawn:>9.2f}{counted:>22.4f}"
        )
    whole, _ = best(lambda: choice.estimate(reports), 1)
    print(f"with 10,000 exact intervals {whole:.2f} s")


def means():
    print("\nWorst-case variance of a mean on [−1, 1], rounding between inputs included")
    print(f"{'ε':>6}{'Duchi':>12}{'PM':>12}{'hybrid':>12}{'ours':>12}{'ours/hybrid':>12}")
    for text in (
        "0.05",
        "0.1",
        "0.25",
        "0.5",
        "0.61",
        "0.75",
        "1",
        "1.5",
        "2",
        "2.5",
        "3",
        "4",
        "5",
        "6",
        "8",
    ):
        e = float(text)
        half, duchi = math.exp(e / 2), 1 / math.tanh(e / 2) ** 2
        pm = 1 / (half - 1) + (half + 3) / (3 * (half - 1) ** 2)
        hybrid = duchi if e <= 0.61 else (half + 3) / (3 * half * (half - 1)) + duchi / half
        ours = make_table(Fraction(text)).worst
        print(
            f"{text:>6}{duchi:>12.5g}{pm:>12.5g}{hybrid:>12.5g}{ours:>12.5g}{ours / hybrid:>12.4f}"
        )


def shuffling():
    print(
        "\nShuffled: ε at δ = 1e-6, certified from above and below; target 0.45 × clones (10 options, n = 10^4, ε0 = 1)"
    )
    print(
        f"{'n':>9}{'ε0':>4} {'mechanism':<16}{'clones':>10}{'upper':>10}{'lower':>10}{'bracket':>9}{'/clones':>9}{'CPU s':>7}"
    )
    for n in (10_000, 1_000_000):
        for e in (1, 4):
            clones = compose(Shuffled(e, n)).epsilon(1e-6)
            for options, member in ((2, "direct"), (3, "direct"), (10, "direct"), (100, "direct"), (1000, "geometry"),
                                    (1000, "subset"), (1000, "hadamard")):  # fmt: skip
                price = Choice(options, PureDP(e), member=member).shuffled(n)
                spent, upper = best(lambda price=price: price.epsilon(delta=1e-6), 1)
                lower = price.lower.epsilon(1e-6)
                print(
                    f"{n:>9}{e:>4} {member + ' ' + str(options):<16}{clones:>10.5f}{upper:>10.5f}{lower:>10.5f}"
                    f"{upper / lower - 1:>9.2%}{upper / clones:>9.3f}{spent:>7.2f}"
                )


def peers(python):
    n, d, e = SMALL["n"], SMALL["options"], SMALL["epsilon"]
    print(
        f"\n{n:,} reports over {d:,} options at ε = {e:g}: seconds to draw, to estimate, n × mean squared error"
    )
    choice = Choice(d, PureDP(1))
    values = (np.random.default_rng(1).zipf(1.5, n) - 1) % d
    choice.family.counts(choice.randomize(values))
    drawn, reports = best(lambda: choice.randomize(values))
    counted, counts = best(lambda: choice.family.counts(reports))
    found = (counts / n - choice.law.q) / choice.law.spread
    error = float(((found - np.bincount(values, minlength=d) / n) ** 2).mean() * n)
    print(
        "(multi-freq-ldpy clips and rescales its estimates: smaller errors where nobody is, bias where somebody is)"
    )
    print(f"{'discreet (geometry)':<26}{drawn:>9.3f}{counted:>9.4f}{error:>9.3f}")
    for tool in ("pure-ldp OUE", "pure-ldp Hadamard", "pure-ldp OLH", "multi-freq-ldpy subset"):
        run = subprocess.run(
            [python, "-c", PEER, tool, str(n), str(d), str(e)],
            capture_output=True,
            text=True,
            check=False,
        )
        if run.returncode:
            print(f"{tool:<26} does not run: {(run.stderr.strip().splitlines() or ['?'])[-1][:80]}")
            continue
        theirs = json.loads(run.stdout.splitlines()[-1])
        print(
            f"{tool:<26}{theirs[0]:>9.3f}{theirs[1]:>9.4f}{theirs[2]:>9.3f}   estimate × {theirs[1] / counted:,.0f}"
        )


def main():
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--peers", help="an interpreter with pure-ldp and multi-freq-ldpy")
    chosen = options.parse_args()
    variances()
    decoding()
    means()
    shuffling()
    if chosen.peers:
        peers(chosen.peers)


if __name__ == "__main__":
    main()
