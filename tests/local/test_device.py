"""The device in JavaScript: the same bits give the same line as in Python; nothing else is needed to run it."""

from __future__ import annotations

import hashlib
import json
import math
import shutil
import subprocess
from base64 import b64encode
from fractions import Fraction
from pathlib import Path

import pytest

import discreet as dp
from discreet.errors import InvalidArgument
from discreet.local.reports.parameters import canonical, device_parameters
from discreet.testing.bits import ScriptedBits
from local.hostile_envelopes import GOOD, hostile

HERE = Path(__file__).parent
DEVICE = Path(dp.local.__file__).parent / "device"
VECTORS = json.loads((HERE.parent / "vectors" / "device_v1.json").read_text(encoding="utf-8"))[
    "vectors"
]

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed here")


def node(script, given, *arguments):
    command = ["node", script, *map(str, arguments)]
    done = subprocess.run(
        command, input=json.dumps(given), capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_python_still_gives_these_lines():
    """The vectors are only ever added to: whatever changes them breaks devices that are out there."""
    for vector in VECTORS:
        envelope, bits = vector["envelope"], ScriptedBits(bytes.fromhex(vector["bits"]))
        mechanism = dp.local.read_mechanism(json.loads(envelope["parameters"]))
        assert device_parameters(mechanism, metric=envelope["metric"]) == envelope
        report = mechanism.randomize(vector["value"], bits=bits)
        plain = list(report) if isinstance(report, tuple) else report
        assert (
            dp.local.pack(dp.local.LocalReport(envelope["metric"], envelope["params"], plain))
            == vector["line"]
        )
        assert bits.left == 0


@needs_node
def test_the_same_bits_give_the_same_line_in_node():
    """Every design, prime and prime-power fields, words that must be settled with more bits, words drawn again."""
    told = [
        json.loads(line) for line in node(HERE / "replay_device.mjs", {"vectors": VECTORS}, DEVICE)
    ]
    assert [reply["line"] for reply in told] == [vector["line"] for vector in VECTORS]
    assert all(reply["left"] == 0 for reply in told)  # and as many bits are read


SIGNED = """
import { readFileSync } from "node:fs";
const { load } = await import(process.argv[2] + "/discreet-device.js");
const { envelope, key, other } = JSON.parse(readFileSync(0, "utf8"));
const tries = [[envelope, { key }], [envelope, {}], [envelope, { key: other }], [{ ...envelope, metric: "x" }, { key }],
  [{ ...envelope, parameters: envelope.parameters.replace("2", "9") }, { key }], [{ ...envelope, signature: undefined }, { key }]];
for (const [given, how] of tries) console.log(await load(given, how).then((m) => m.line("a").length > 0, () => false));
"""


@needs_node
def test_parameters_are_checked_by_their_signature(tmp_path):
    ed25519 = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ed25519")
    key, other = ed25519.Ed25519PrivateKey.generate(), ed25519.Ed25519PrivateKey.generate()
    choice = dp.local.Choice(["a", "b"], dp.PureDP(2))
    envelope = device_parameters(
        choice, metric="é", sign=lambda text: b64encode(key.sign(text)).decode()
    )
    script = tmp_path / "signed.mjs"
    script.write_text(SIGNED, encoding="utf-8")
    public = [b64encode(k.public_key().public_bytes_raw()).decode() for k in (key, other)]
    given = {"envelope": envelope, "key": public[0], "other": public[1]}
    assert node(script, given, DEVICE) == ["true", "true", "false", "false", "false", "false"]


REFUSED = """
import { readFileSync } from "node:fs";
const { load } = await import(process.argv[2] + "/discreet-device.js");
const { SKETCHES } = await import(process.argv[2] + "/discreet-sketches.js");
const { HISTOGRAM } = await import(process.argv[2] + "/discreet-histogram.js");
const mechanisms = { ...SKETCHES, ...HISTOGRAM };
for (const { envelope, wrong } of JSON.parse(readFileSync(0, "utf8"))) {
  const metric = await load(envelope, { mechanisms });
  for (const value of [...wrong, undefined, NaN, null, {}]) {
    try { metric.line(value); console.log("taken", envelope.metric, JSON.stringify(value)); }
    catch (refusal) { if (!(refusal instanceof RangeError)) console.log("broke", envelope.metric, refusal.message); }
  }
}
console.log("done");
"""


@needs_node
def test_bad_values_are_refused_on_the_device(tmp_path):
    spend = dp.PureDP(1)
    cases = [
        (dp.local.Choice(["a", "b"], spend), ["c", 0, "length"]),
        (dp.local.Choice(3, spend), [3, -1, 0.5, "1"]),
        (dp.local.OneBitMean(0, 1, spend), ["0.5"]),
        (dp.local.Number(0, 1, spend), ["0.5"]),
        (dp.local.Histogram(0, 1, 4, spend), ["0.5", True]),
        (dp.local.BitFlip(spend, buckets=4, sample=2), [4, -1, 0.5, "1"]),
        (dp.local.CountMeanSketch(spend, rows=2, width=4, key="k"), [1, "\ud800"]),
    ]
    given = [
        {"envelope": device_parameters(m, metric=str(i)), "wrong": wrong}
        for i, (m, wrong) in enumerate(cases)
    ]
    script = tmp_path / "refused.mjs"
    script.write_text(REFUSED, encoding="utf-8")
    assert node(script, given, DEVICE) == ["done"]


LYING = """
import { readFileSync } from "node:fs";
const { load } = await import(process.argv[2] + "/discreet-device.js");
const { SKETCHES } = await import(process.argv[2] + "/discreet-sketches.js");
const { HISTOGRAM } = await import(process.argv[2] + "/discreet-histogram.js");
const mechanisms = { ...SKETCHES, ...HISTOGRAM };
for (const [envelope, most] of JSON.parse(readFileSync(0, "utf8")))
  console.log(await load(envelope, { mechanisms, most }).then(() => "taken", (refusal) =>
    refusal instanceof RangeError || refusal instanceof SyntaxError ? refusal.message : `broke ${refusal.stack}`));
"""


class TestADeviceTrustsNobody:
    """What a server sends is checked before anything is drawn by it, as Python checks it."""

    def _told(self, tmp_path, envelopes):
        script = tmp_path / "lying.mjs"
        script.write_text(LYING, encoding="utf-8")
        return node(script, envelopes, DEVICE)

    @needs_node
    def test_the_device_and_python_refuse_every_lie_in_the_same_words(self, tmp_path):
        lies = list(hostile())
        assert len(lies) >= 80
        told = self._told(tmp_path, [[_envelope(given)] for _, _, given in lies])
        for (name, lie, given), words in zip(lies, told, strict=True):
            with pytest.raises(InvalidArgument) as refused:
                pytest.fail(f"{name} {lie}: {dp.local.read_mechanism(given)}")
            # Python reads exponents, and knows True from 1.
            if lie in ({"epsilon": "1e3"}, {"version": True}):
                assert words != "taken" and "broke" not in words
            else:
                assert words == str(refused.value), (name, lie)

    @needs_node
    def test_what_says_the_truth_is_taken_up_to_what_is_allowed(self, tmp_path):
        good = list(GOOD.values())
        told = self._told(tmp_path, [[_envelope(given)] for given in good])
        assert set(told) == {"taken"}
        assert set(self._told(tmp_path, [[_envelope(given), "200/99"] for given in good])) == {
            "taken"
        }
        dear = self._told(
            tmp_path,
            [[_envelope(given), "99/50"] for given in good if given["mechanism"] != "rappor"],
        )
        assert set(dear) == {"a report costs more than the epsilon of 99/50 that is allowed here"}
        [rappor] = [given for given in good if given["mechanism"] == "rappor"]
        epsilon = float(dp.local.read_mechanism(rappor).epsilon)
        limits = [str(Fraction(epsilon * part).limit_denominator(10**6)) for part in (1.001, 0.999)]
        taken, refused = self._told(tmp_path, [[_envelope(rappor), most] for most in limits])
        assert taken == "taken" and "costs more" in refused

    @needs_node
    def test_the_hash_is_that_of_the_parameters(self, tmp_path):
        envelope = _envelope(GOOD["choice"])
        changed = [
            {**envelope, "params": "0" * 16},
            {**envelope, "params": '","report":0,"x":"'},
            {**envelope, "parameters": envelope["parameters"].replace('"2"', '"9"')},
            {**envelope, "parameters": envelope["parameters"] + " "},
        ]
        told = self._told(tmp_path, [[one] for one in changed])
        assert set(told) == {"the hash of the parameters is another one"}

    @needs_node
    def test_tables_are_checked_to_the_last_weight(self, tmp_path):
        """Of each table the largest ratio decides: at ε just below its logarithm it is refused."""
        table = dict(GOOD["number"])
        ratio = max(max(column) / min(column) for column in zip(*table["weights"], strict=True))
        just = Fraction(math.log(ratio)).limit_denominator(10**9)
        above, below = just + Fraction(1, 10**7), just - Fraction(1, 10**7)
        told = self._told(
            tmp_path, [[_envelope({**table, "epsilon": str(one)})] for one in (above, below)]
        )
        assert told == [
            "taken",
            "the table does not keep epsilon: two inputs differ too much in one output",
        ]


def _envelope(given):
    text = canonical(given)
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    return {"metric": "m", "parameters": text, "params": digest}


def test_each_file_is_small_and_names_no_other_host():
    for name in (
        "discreet-device.js",
        "discreet-sketches.js",
        "discreet-checks.js",
        "discreet-histogram.js",
        "discreet-sketch-checks.js",
        "discreet-ledger.js",
    ):
        text = (DEVICE / name).read_bytes()
        assert len(text) < 8000
        assert b"http" not in text and b"Math.random" not in text and b"eval" not in text
