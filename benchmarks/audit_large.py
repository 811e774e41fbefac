"""The auditor at large n: `python benchmarks/audit_large.py` (or `make audit`); about ten minutes on one core.

1. Every broken mechanism of the zoo is refuted, with at most a million runs in all.
2. No sound one is, in 100 repeats at 99.9 %.
3. Ten thousand whole audits of a mechanism that spends all it claims raise no more false alarms than stated.
4. The project's own mechanisms at large n.

Exits with 1 if anything is not as it should be.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np

from discreet.audit import audit
from discreet.privacy.measures import PureDP
from discreet.testing.zoo import BROKEN, SOUND, Specimen

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "audit"))
from own_mechanisms import CASES


def look(s: Specimen, samples: int | None = None):
    how = {"neighbours": s.neighbours, "assume": s.assume}
    return audit(s.run, s.claim, s.inputs, samples=samples or s.samples, **how)


def broken_ones() -> int:
    missed = 0
    for specimen in BROKEN:
        report = look(specimen)
        missed += not report.refuted
        print(f"{specimen.name:24} {report.verdict:12} ε ≥ {report.epsilon:7.3f}  {report.event[:80]}", flush=True)
    print(f"{missed} of {len(BROKEN)} broken mechanisms missed")
    return missed


def sound_ones(repeats: int) -> int:
    alarms = 0
    for specimen in SOUND:
        caught = sum(look(specimen).refuted for _ in range(repeats))
        alarms += caught
        print(f"{specimen.name:24} refuted {caught} times in {repeats}", flush=True)
    return alarms


def false_alarms(audits: int, confidence: float = 0.9) -> int:
    """Audit randomized response that spends all of ε = 1; the stated rate is 10 %."""
    rng = np.random.default_rng()

    def run(x: int, size: int) -> np.ndarray:
        return np.where(rng.random(size) < math.e / (1 + math.e), x, 1 - x)

    how = {"inputs": (0, 1), "samples": 200, "confidence": confidence}
    alarms = sum(audit(run, PureDP(1), **how).refuted for _ in range(audits))
    stated = audits * (1 - confidence)
    print(f"{alarms} false alarms in {audits} audits at {confidence:.0%} (stated: at most {stated:.0f} expected)")
    return int(alarms > stated + 6 * math.sqrt(stated))


def own_mechanisms(times: int) -> int:
    caught = 0
    for case in CASES:
        report = audit(case.run, case.claim, case.inputs, samples=times * case.samples, confidence=1 - 1e-9)
        caught += report.verdict != "not refuted"
        print(f"{case.name:24} {report.verdict:12} ε ≥ {report.epsilon:6.3f} of {case.claim}", flush=True)
    return caught


def main(quick: bool) -> int:
    wrong = broken_ones()
    wrong += own_mechanisms(2 if quick else 25)
    wrong += sound_ones(5 if quick else 100)
    wrong += false_alarms(300 if quick else 10_000)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(quick="--quick" in sys.argv))
