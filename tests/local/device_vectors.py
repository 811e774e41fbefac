"""Make tests/vectors/device_v1.json: bits, and the line that a device sends for them.

Run `python tests/local/device_vectors.py` to add the cases that the file does not have yet. What it has stays as it is:
devices with these parameters are out there, and another solver makes another table of `Number`.
"""

from __future__ import annotations

import json
from hashlib import shake_128
from pathlib import Path

from discreet.local import Choice, Histogram, Number
from discreet.local.deployments.bit_flip import BitFlip
from discreet.local.deployments.hadamard_sketch import HadamardCountMeanSketch
from discreet.local.deployments.one_bit import OneBitMean
from discreet.local.deployments.rappor import Rappor
from discreet.local.deployments.sketch import CountMeanSketch
from discreet.local.reports.parameters import device_parameters
from discreet.local.reports.report import LocalReport, pack
from discreet.local.search.words import WordRound, Words
from discreet.privacy import PureDP

FILE = Path(__file__).parents[1] / "vectors" / "device_v1.json"


class Recorded:
    """Bits of a seed behind a few given bytes, and how many of them were taken."""

    def __init__(self, seed: str, first: bytes = b"") -> None:
        self.stream = first + shake_128(seed.encode()).digest(1 << 17)
        self.used = 0

    def take(self, count: int, /) -> bytes:
        self.used += count
        return self.stream[self.used - count : self.used]


def cases():
    """Give (name, mechanism, values); every design, primes and prime powers, small and large ε, every deployment."""
    for member, options in (
        ("direct", 7),
        ("subset", 9),
        ("subset", 70),
        ("hadamard", 5),
        ("hadamard", 1000),
    ):
        yield (
            f"{member} {options}",
            Choice(options, PureDP("3/2"), member=member),
            [0, options // 2, options - 1],
        )
    for epsilon, options in (("1/4", 300), (1, 1000), (2, 5000), ("5/2", 40), (4, 200)):
        yield (
            f"geometry {epsilon}",
            Choice(options, PureDP(epsilon), member="geometry"),
            [0, 1, options // 3, options - 1],
        )
    yield "names", Choice(["chrome", "firefox", "edge"], PureDP(2)), ["chrome", "edge"]
    yield "large epsilon", Choice(3, PureDP(40), member="direct"), [0, 2]
    yield "one bit", OneBitMean(0, 1440, PureDP(1)), [0, 90.5, 1440, -3, 1e9]
    yield "one bit, negative", OneBitMean("-1/3", "2/3", PureDP("1/7"), gamma="1/5"), [0.1, -0.25]
    yield "number", Number(0, 100, PureDP(2)), [0, 33.25, 100, -7]
    yield "number, negative", Number("-1/2", "3/2", PureDP("1/2")), [0.1, 1.49]
    yield "words", Words(bits=16, spend=PureDP(2), top=3).open(), ["hi"]
    later = WordRound(Words(bits=32, spend=PureDP(3), top=3), 1, (1, 700, 1601))
    yield "words, later", later, ["cat", 3, "😂"]
    for epsilon, field, value in (
        (1, 3, "cat"),
        (2, 4, "catch"),
        (2, 4, "😂"),
        (2, 4, "none"),
        (4, 16, 3 << 12),
    ):
        asked = Words(bits=32, spend=PureDP(epsilon), top=3)
        apart = WordRound(asked, 3, (3, 0x63617, 0xF09F9), (0x63617400,), field)
        yield f"words, {field} apart, {value}", apart, [value]
    yield (
        "count-mean sketch",
        CountMeanSketch(PureDP(4), rows=65536, width=1024, key="emoji"),
        ["😂", "é"],
    )
    yield "small sketch", CountMeanSketch(PureDP(1), rows=3, width=4, key="k"), ["", "a" * 300]
    yield (
        "Hadamard sketch",
        HadamardCountMeanSketch(PureDP(8), rows=1024, width=32768, key="safari"),
        ["example.org"],
    )
    yield "bit flip", BitFlip(PureDP(1), buckets=32, sample=4, gamma="1/5"), [0, 31]
    yield "bit flip, all", BitFlip(PureDP(2), buckets=5, sample=5), [3]
    shape = {"bits": 16, "hashes": 2, "cohorts": 64, "f": 0.5, "p": 0.5, "q": 0.75}
    yield "RAPPOR", Rappor(**shape, key="homepage"), ["example.org", "", "日本"]
    yield (
        "RAPPOR, wide",
        Rappor(**shape | {"bits": 128, "f": "1/4", "p": "7/20", "q": "13/20"}, key="wide"),
        ["x"],
    )
    yield "two options", Choice(["yes", "no"], PureDP(1)), ["yes", "no"]
    yield "geometry, large field", Choice(600, PureDP(6), member="geometry"), [0, 599]
    long = Words(bits=62, spend=PureDP(4), top=1024)
    numbers = long.read(["é😂long", "é😂lonely", "another"])
    last = len(long.stages) - 1
    begun = sorted({int(word) >> (62 - long.stages[last - 1].known) for word in numbers})
    yield (
        "words, long",
        WordRound(long, last - 1, (*begun, begun[-1] + 1)),
        ["é😂lonely", "é😂long", "b"],
    )
    counted = WordRound(long, last, tuple(sorted({int(word) for word in numbers})))
    yield "words, counted", counted, ["é😂lonely", "another", "b"]
    yield "words, long, first", long.open(), ["é😂lonely", "zebra"]
    for epsilon in ("1/3", "1", "7/4", "3", "5"):
        for member, options in (
            ("direct", 2),
            ("direct", 33),
            ("subset", 5),
            ("subset", 16),
            ("hadamard", 3),
            ("hadamard", 64),
            ("geometry", 10),
            ("geometry", 100),
            ("geometry", 3000),
        ):
            made = Choice(options, PureDP(epsilon), member=member)
            yield f"{member} {options} at {epsilon}", made, [0, options // 2, options - 1]
    for epsilon in ("1/3", "4"):
        yield f"one bit at {epsilon}", OneBitMean(-7, 7, PureDP(epsilon)), [-7, 0, 6.5]
        yield (
            f"bit flip at {epsilon}",
            BitFlip(PureDP(epsilon), buckets=9, sample=3, gamma="1/8"),
            [0, 4, 8],
        )
        yield (
            f"sketch at {epsilon}",
            CountMeanSketch(PureDP(epsilon), rows=5, width=8, key="more"),
            ["a", "ü"],
        )
        yield (
            f"Hadamard sketch at {epsilon}",
            HadamardCountMeanSketch(PureDP(epsilon), rows=5, width=16, key="more"),
            ["a", "ü"],
        )
    for epsilon, bins in (("1/3", 16), ("1", 100), ("2", 2048), ("9/2", 7), (8, 12)):
        made = Histogram("-1/2", 120, bins, PureDP(epsilon))
        yield f"histogram {bins} at {epsilon}", made, [-0.5, 33.25, 120, -9, 1e300, 59.75]
    for member, parameter in (("hadamard", 0), ("geometry", 4)):
        levels = [{"member": "direct", "parameter": 0}, {"member": member, "parameter": parameter}]
        given = Histogram(0, 1, 60, PureDP(1)).to_json() | {"branch": 10, "levels": levels}
        yield f"histogram by {member}", Histogram.from_json(given), [0, 0.999, 0.5]
    yield "histogram of decimals", Histogram("1/10", "3/10", 5, PureDP(2)), [0.1, 0.2, 0.3, 0.14]


def edges(mechanism) -> list[bytes]:
    """Give first words that touch the bias of the first coin, so that more bits must be read; and a word to be drawn again."""
    found = [bytes([255]) * 8]
    if isinstance(mechanism, Choice):
        low, _ = mechanism.family.coin.bounds(64)
        tails = [bytes(8), bytes([255]) * 8]
        found += [low.to_bytes(8, "little") + tail for tail in tails]
        found.append((low - 1).to_bytes(8, "little"))
        deep, _ = mechanism.family.coin.bounds(128)
        found.append((deep >> 64).to_bytes(8, "little"))
    return found


def vectors() -> list[dict[str, object]]:
    made = []
    for name, mechanism, values in cases():
        envelope = device_parameters(mechanism, metric=name)
        starts = [b"", b"", *edges(mechanism)]
        for at, first in enumerate(starts):
            value = values[at % len(values)]
            bits = Recorded(f"{name}/{at}", first)
            report = mechanism.randomize(value, bits=bits)
            line = pack(
                LocalReport(
                    name, envelope["params"], list(report) if isinstance(report, tuple) else report
                )
            )
            made.append(
                {
                    "name": name,
                    "envelope": envelope,
                    "value": value,
                    "bits": bits.stream[: bits.used].hex(),
                    "line": line,
                }
            )
    return made


if __name__ == "__main__":
    kept = json.loads(FILE.read_text(encoding="utf-8"))["vectors"]
    names = {vector["name"] for vector in kept}
    added = [vector for vector in vectors() if vector["name"] not in names]
    text = json.dumps({"version": 1, "vectors": kept + added}, ensure_ascii=False, indent=0)
    FILE.write_text(text + "\n", encoding="utf-8")
