"""The device in JavaScript: the same bits give the same line as in Python; nothing else is needed to run it."""

from __future__ import annotations

import json
import shutil
import subprocess
from base64 import b64encode
from pathlib import Path

import pytest

import discreet as dp
from discreet.local.reports.parameters import device_parameters
from discreet.testing.bits import ScriptedBits

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
const { SKETCHES: mechanisms } = await import(process.argv[2] + "/discreet-sketches.js");
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


def test_each_file_is_small_and_names_no_other_host():
    for name in ("discreet-device.js", "discreet-sketches.js"):
        text = (DEVICE / name).read_bytes()
        assert len(text) < 8000
        assert b"http" not in text and b"Math.random" not in text and b"eval" not in text
