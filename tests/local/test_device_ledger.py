"""The ledger of a device in JavaScript: the same bits give the same history of lines as in Python; the npm package."""

from __future__ import annotations

import json
import shutil
import subprocess
from hashlib import shake_128
from pathlib import Path

import pytest

import discreet as dp
from discreet.errors import InvalidArgument
from discreet.local.reports.parameters import device_parameters

DEVICE = Path(dp.local.__file__).parent / "device"

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed here")


class Recorded:
    """Bits of a seed, and how many of them were taken."""

    def __init__(self, seed):
        self.stream = shake_128(seed.encode()).digest(1 << 16)
        self.used = 0

    def take(self, count, /):
        self.used += count
        return self.stream[self.used - count : self.used]


ONE = dp.PureDP(1)
SHAPE = {"bits": 16, "hashes": 2, "cohorts": 64, "f": "1/2", "p": "1/2", "q": "3/4"}
HISTORIES = {
    "choice": (dp.local.Choice(["a", "b", "c"], ONE), ["a", "b", "a", "c", "a", "b"], "a"),
    "subset": (dp.local.Choice(70, ONE, member="subset"), [3, 69, 3, 5, 69, 3], 0),
    "number": (dp.local.Number(0, 100, ONE), [3.5, 99, 3.5, 50, 99, -7], 0),
    "one bit": (dp.local.OneBitMean(0, 1440, ONE, gamma="1/5"), [90, 90.5, 90, 7, 1e9, 0], 0),
    "bit flip": (
        dp.local.BitFlip(ONE, buckets=32, sample=4, gamma="1/5"),
        [0, 31, 0, 5, 31, 7],
        0,
    ),
    "RAPPOR": (dp.local.Rappor(**SHAPE, key="page"), ["x", "é", "x", "y", "z", "é"], "x"),
    "sketch": (
        dp.local.CountMeanSketch(ONE, rows=8, width=16, key="k"),
        ["x", "é", "x", "y", "z", "é"],
        "x",
    ),
}
TERMS = (
    {"mode": "fresh", "most_reports": 6},
    {"mode": "memoised", "slots": 2},
    {"mode": "memoised", "slots": 9, "per_day": 6},
)


def _python(mechanism, values, terms, name):
    """Return the bits, the lines and the promises of Python's device."""
    bits = Recorded(name)
    device = dp.local.Device(mechanism, **terms, bits=bits)
    envelope = device_parameters(mechanism, metric=name)
    lines = []
    for value in values:
        drawn = device.report(value)
        plain = list(drawn) if isinstance(drawn, tuple) else drawn
        lines.append(dp.local.pack(dp.local.LocalReport(name, envelope["params"], plain)))
    promises = []
    for period in ("day", "year", "ever"):
        promise = device.lifetime(period)
        promises.append([promise.epsilon, promise.neighbours])
    given = {"envelope": envelope, "values": values, "terms": terms}
    return given | {"bits": bits.stream[: bits.used].hex()}, lines, promises


REPLAY = """
import { readFileSync } from "node:fs";
const at = process.argv[2];
const { Bits, load } = await import(at + "/discreet-device.js");
const { SKETCHES: mechanisms } = await import(at + "/discreet-sketches.js");
const { open } = await import(at + "/discreet-ledger.js");
for (const { envelope, values, terms, bits } of JSON.parse(readFileSync(0, "utf8"))) {
  const kept = new Map(), store = { getItem: (key) => kept.get(key) ?? null, setItem: (key, text) => kept.set(key, text) };
  const metric = await load(envelope, { mechanisms });
  const script = new Bits(() => Uint8Array.from(Buffer.from(bits, "hex")));
  const lines = [];
  for (const value of values) {
    // Opened again before every report: all that matters is in the store.
    const device = open(metric, { ...terms, store, bits: script });
    lines.push(device.line(value));
  }
  const device = open(metric, { ...terms, store });
  const promises = ["day", "year", "ever"].map((period) => {
    const { epsilon, between } = device.lifetime(period);
    return [epsilon === Infinity ? null : epsilon, between];
  });
  console.log(JSON.stringify({ lines, promises, left: script.words?.length ?? 0, sent: device.sent() }));
}
"""


def _node(tmp_path, script, given, *arguments):
    file = tmp_path / "script.mjs"
    file.write_text(script, encoding="utf-8")
    done = subprocess.run(
        ["node", file, *map(str, arguments)],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@needs_node
def test_the_same_bits_give_the_same_history(tmp_path):
    """Fresh, memoised, and with more values than slots; opened anew at every report; equal promises."""
    cases = []
    for name, (mechanism, values, default) in HISTORIES.items():
        for index, terms in enumerate(TERMS):
            start = {} if terms["mode"] == "fresh" else {"default": default}
            cases.append(_python(mechanism, values, terms | start, f"{name} {index}"))
    told = _node(tmp_path, REPLAY, [given for given, _, _ in cases], DEVICE)
    for line, (given, lines, promises) in zip(told, cases, strict=True):
        found = json.loads(line)
        assert found["lines"] == lines, given["envelope"]["metric"]
        assert (found["left"], found["sent"]) == (0, 6)
        for (epsilon, between), (exact, histories) in zip(found["promises"], promises, strict=True):
            assert between == histories
            if exact == float("inf"):
                assert epsilon is None
            else:
                # The promise of the device is never below Python's, and hardly above.
                assert exact * (1 - 1e-15) <= epsilon <= exact * (1 + 1e-8)


LIMITS = """
import { readFileSync } from "node:fs";
const at = process.argv[2];
const { load } = await import(at + "/discreet-device.js");
const { open, alphaPoint } = await import(at + "/discreet-ledger.js");
const { envelope, other, number } = JSON.parse(readFileSync(0, "utf8"));
const metric = await load(envelope), another = await load(other), minutes = await load(number);
const why = (act) => { try { act(); return "taken"; } catch (refusal) { return refusal instanceof RangeError ? refusal.message : `broke ${refusal}`; } };
const kept = new Map(), store = { getItem: (key) => kept.get(key) ?? null, setItem: (key, text) => kept.set(key, text) };
const memoised = { mode: "memoised", slots: 2, default: "a" };
for (const terms of [{}, { mode: "both" }, { mode: "memoised" }, { mode: "memoised", slots: 2 }, { ...memoised, slots: 0 },
  { ...memoised, slots: 1.5 }, { ...memoised, most_reports: 3 }, { mode: "fresh", slots: 2 }, { ...memoised, default: "z" },
  { mode: "fresh", most: 5 }, { ...memoised, most: 1.999 }, { ...memoised, most: 2 }, { mode: "fresh", most_reports: 3, most: 2.9 }])
  console.log(why(() => open(metric, terms)));
const device = open(metric, { ...memoised, store, per_day: 2 });
device.line("b");
console.log(why(() => device.line("z")), device.sent());
device.line("b");
console.log(why(() => device.line("z")), why(() => device.line("b")));
device.new_day();
console.log(why(() => device.line("b")), device.sent());
console.log(why(() => open(metric, { ...memoised, slots: 3, store, per_day: 2 })), why(() => open(another, { ...memoised, store, per_day: 2 })));
const full = { getItem: () => null, setItem: () => { throw new RangeError("the store is full"); } };
console.log(why(() => open(metric, { ...memoised, store: full }).line("a")));
const grid = { low: 0, high: 60, step: 30, resolution: 30, alpha: 7 }, round = alphaPoint(grid).value;
console.log([-5, 0, 22, 23, 59, 99].map(round).join(" "), why(() => round(NaN)), why(() => alphaPoint({ low: 0, high: 60, step: 7 })));
const steady = open(minutes, { mode: "memoised", slots: 3, default: 0, grid: { low: 0, high: 60, step: 30 } });
const once = open(metric, { mode: "fresh", most_reports: 1 }), used = open(metric, { ...memoised, slots: 1 });
once.line("a");
used.line("b");
// Also where all slots are used a value that is no option is refused: the refusal tells nothing of earlier values.
console.log(why(() => once.line("a")), why(() => used.line("z")), why(() => used.line("a")));
console.log(Math.round(open(metric, { mode: "fresh", per_day: 1 }).lifetime("year").epsilon));
const ones = { below: (end) => end - 1 };
console.log(alphaPoint({ low: 0, high: 60, step: 30, resolution: 30 }, ones).state.alpha);
console.log(new Set([0, 0.001, 0.002].map((x) => steady.line(x))).size, JSON.parse(steady.state()).kept.length);
"""


@needs_node
def test_limits_and_refusals_of_a_device(tmp_path):
    """Refused in the words of Python; a refused value is not counted; a state that cannot be kept sends nothing."""
    two = dp.local.Choice(["a", "b"], ONE)
    envelope = device_parameters(two, metric="m")
    other = device_parameters(dp.local.Choice(["a", "b"], dp.PureDP("1/2")), metric="m")
    number = device_parameters(dp.local.OneBitMean(0, 60, ONE), metric="minutes")
    told = _node(tmp_path, LIMITS, {"envelope": envelope, "other": other, "number": number}, DEVICE)
    mode = "mode must be fresh or memoised; they promise different things"
    needs = "a memoised device needs slots, the most values it answers for, and a public default"
    dear = "this device would cost more than the epsilon of {} that is allowed here"
    elsewhere = "this was kept under other parameters or terms; begin a new device"
    assert told == [
        mode,
        mode,
        needs,
        needs,
        "slots must be a whole number, at least 1",
        "slots must be a whole number, at least 1",
        "a memoised device never falls silent; most_reports belongs to fresh ones",
        "slots and default belong to memoised devices",
        "no option",
        dear.format(5),
        dear.format(1.999),
        "taken",
        dear.format(2.9),
        "no option 1",
        "this device has sent the reports of a day; new_day() begins the next "
        "this device has sent the reports of a day; new_day() begins the next",
        "taken 3",
        f"{elsewhere} {elsewhere}",
        "the store is full",
        "0 0 0 30 60 60 a value must be a finite number "
        "step must divide the range from low to high into whole parts",
        "this device has sent all the reports it may no option taken",
        "366",
        "29",
        "1 1",
    ]
    grid = dp.local.AlphaPoint(0, 60, step=30, resolution=30, alpha=7)
    assert [int(grid.value(x)) for x in (-5, 0, 22, 23, 59, 99)] == [0, 0, 0, 30, 60, 60]
    device = dp.local.Device(two, mode="memoised", slots=2, default="a")
    with pytest.raises(InvalidArgument, match="memoised"):
        dp.local.Device(two, mode="both")
    assert device.lifetime("ever").epsilon == 2


SIGNED = """
import { readFileSync } from "node:fs";
const { load } = await import(process.argv[2] + "/discreet-device.js");
const { envelope, key, other } = JSON.parse(readFileSync(0, "utf8"));
for (const [given, by] of [[envelope, key], [envelope, other], [{ ...envelope, metric: "x" }, key]])
  console.log(await load(given, { key: by }).then((metric) => metric.metric, (refusal) => refusal.message));
"""


@needs_node
def test_a_signer_makes_what_a_device_takes(tmp_path):
    pytest.importorskip("cryptography")
    signer, other = dp.Signer.create(), dp.Signer.create()
    browser = dp.local.Choice(["a", "b"], ONE)
    envelope = dp.local.to_device(browser, metric="é", key=signer)
    given = {"envelope": envelope, "key": signer.public, "other": other.public}
    wrong = "the signature is wrong"
    assert _node(tmp_path, SIGNED, given, DEVICE) == ["é", wrong, wrong]
    # A receipt's signature is for another purpose.
    text = f'discreet device parameters, version 1\n"é"\n{envelope["parameters"]}'.encode()
    forged = {**envelope, "signature": signer.sign(text)}
    assert _node(tmp_path, SIGNED, given | {"envelope": forged}, DEVICE)[0] == wrong
    with pytest.raises(InvalidArgument, match=r"dp\.Signer"):
        dp.local.to_device(browser, metric="m", key="secret")


USED = """
import { load } from "discreet-device";
import { SKETCHES } from "discreet-device/sketches";
import { open } from "discreet-device/ledger";
const metric = await load(JSON.parse(process.argv[2]), { mechanisms: SKETCHES, most: "1" });
console.log(open(metric, { mode: "fresh", most_reports: 1 }).line("a").length > 0);
"""


@needs_node
def test_the_package_installs_from_its_tarball(tmp_path):
    """Packed and installed by npm, without network; versions agree, types name what there is."""
    project = tmp_path / "project"
    project.mkdir()
    copy = tmp_path / "package"
    shutil.copytree(DEVICE, copy)
    run = {"capture_output": True, "text": True, "timeout": 60}
    packed = subprocess.run(["npm", "pack", "--silent", copy], check=True, cwd=tmp_path, **run)
    tarball = tmp_path / packed.stdout.split()[-1]
    quiet = ["--offline", "--no-audit", "--no-fund", "--no-package-lock", "--silent"]
    subprocess.run(["npm", "install", *quiet, tarball], check=True, cwd=project, **run)
    installed = project / "node_modules" / "discreet-device"
    told = json.loads((installed / "package.json").read_text(encoding="utf-8"))
    assert told["version"] == dp.__version__
    assert {file.name for file in installed.glob("*.js")} == {f.name for f in DEVICE.glob("*.js")}
    for entry in told["exports"].values():
        for file in entry.values():
            assert (installed / file).is_file()
    (project / "used.mjs").write_text(USED, encoding="utf-8")
    envelope = json.dumps(device_parameters(dp.local.Choice(["a", "b"], ONE), metric="m"))
    done = subprocess.run(["node", "used.mjs", envelope], check=True, cwd=project, **run)
    assert done.stdout == "true\n"
