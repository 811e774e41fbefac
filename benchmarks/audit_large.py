"""The auditor at large n: `python benchmarks/audit_large.py` (or `make audit`); about twenty-five minutes on one core.

    broken      every broken mechanism of the zoo is refuted, with at most a million runs each
    mechanisms  the project's own mechanisms, local randomisers among them, are not
    questions   its SQL, every statistic on the worst neighbours, is not
    curator     whole answers of a curator are not
    sound       no sound one of the zoo is, in 100 repeats at 99.9 %
    alarms      ten thousand whole audits of a mechanism that spends all it claims raise no more alarms than stated

Name some of them to run just those; --quick runs less of each. Exits with 1 if anything is not as it should be.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np

from discreet.audit import Report, audit
from discreet.privacy.measures import PureDP
from discreet.testing.zoo import BROKEN, SOUND, Specimen

sys.path.remove(str(Path(__file__).parent))  # its audit.py has the name of the folder of tests
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from audit.own_curator import CASES as CURATED
from audit.own_mechanisms import CASES as MECHANISMS
from audit.own_questions import CASES as QUESTIONS

SURE = 1 - 1e-9


def look(s: Specimen, samples: int | None = None):
    how = {"neighbours": s.neighbours, "assume": s.assume}
    return audit(s.run, s.claim, s.inputs, samples=samples or s.samples, **how)


def broken_ones() -> int:
    missed = 0
    for specimen in BROKEN:
        report = look(specimen)
        missed += not report.refuted
        print(
            f"{specimen.name:24} {report.verdict:12} ε ≥ {report.epsilon:7.3f}  {report.event[:80]}",
            flush=True,
        )
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
    print(
        f"{alarms} false alarms in {audits} audits at {confidence:.0%} (stated: at most {stated:.0f} expected)"
    )
    return int(alarms > stated + 6 * math.sqrt(stated))


def told(name: str, report: Report) -> int:
    print(f"{name:44} {report.verdict:12} ε ≥ {report.epsilon:6.3f} of {report.claim}", flush=True)
    return int(report.verdict != "not refuted")


def own_mechanisms(times: int) -> int:
    return sum(
        told(
            case.name,
            audit(case.run, case.claim, case.inputs, samples=times * case.samples, confidence=SURE),
        )
        for case in MECHANISMS
    )


def own_questions(times: int) -> int:
    caught = 0
    for case in QUESTIONS:
        how = {"neighbours": case.neighbours, "unit": case.person, "confidence": SURE}
        caught += told(
            case.name, audit(case.run, case.spend, case.inputs, samples=times * case.samples, **how)
        )
    return caught


def own_curator(samples: int) -> int:
    how = {"neighbours": "add-remove", "unit": "id", "confidence": SURE, "samples": samples}
    return sum(told(f"curator, {name}", audit(*case, **how)) for name, case in CURATED.items())


def main(quick: bool, wanted: list[str]) -> int:
    parts = {
        "broken": broken_ones,
        "mechanisms": lambda: own_mechanisms(2 if quick else 25),
        "questions": lambda: own_questions(2 if quick else 20),
        "curator": lambda: own_curator(200 if quick else 5000),
        "sound": lambda: sound_ones(5 if quick else 100),
        "alarms": lambda: false_alarms(300 if quick else 10_000),
    }
    wrong = {name: part() for name, part in parts.items() if name in wanted or not wanted}
    print(", ".join(f"{name}: {count} wrong" for name, count in wrong.items()))
    return int(any(wrong.values()))


if __name__ == "__main__":
    sys.exit(
        main("--quick" in sys.argv, [word for word in sys.argv[1:] if not word.startswith("-")])
    )
