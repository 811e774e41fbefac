"""Real accidents while a store is prepared: Ctrl-C, a disk without space. What was there before stays, nothing else does."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

PROGRAM = """
import resource, signal, sys
import discreet as dp
folder, kind, most = sys.argv[1:]
columns = {"a": dp.Integer(0, 10**6), "b": dp.Text(20)}
schema = dp.Schema("t", dp.Rows() if kind == "rows" else dp.People("id", max_rows=3), columns)
signal.signal(signal.SIGINT, signal.default_int_handler)
if int(most):
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a write beyond the limit is then refused, as on a full disk
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(most), int(most)))
try:
    dp.prepare({"t": f"{folder}/t.csv"}, [schema], f"{folder}/t.store")
except KeyboardInterrupt:
    sys.exit(130)
except dp.InvalidArgument as refusal:
    print(refusal)
    sys.exit(2)
"""

OLD = b"8 letters"[:8] + b"DUCK of another version"


@pytest.fixture(scope="module")
def lines():
    return "id,a,b\n" + "".join(f"u{i % 997},{i},text {i * 7919}\n" for i in range(400_000))


def started(folder, kind, most=0):
    command = [sys.executable, "-c", PROGRAM, str(folder), kind, str(most)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def names(folder):
    return sorted(place.name for place in folder.iterdir())


@pytest.mark.parametrize("kind", ["rows", "people"])
def test_ctrl_c_in_the_middle(tmp_path, lines, kind):
    (tmp_path / "t.csv").write_text(lines * 2 if kind == "rows" else lines)
    if kind == "rows":  # the header again is a record like others
        (tmp_path / "t.store").write_bytes(OLD)
    process = started(tmp_path, kind)
    while not any(
        (place / "store").exists()
        for place in tmp_path.iterdir()
        if place.name.startswith(".t.store-")
    ):
        assert process.poll() is None
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=120)[0]
    assert (process.returncode, said) == (130, "")
    assert names(tmp_path) == ["t.csv", "t.store"][: 2 if kind == "rows" else 1]
    assert kind != "rows" or (tmp_path / "t.store").read_bytes() == OLD


@pytest.mark.parametrize("kind", ["rows", "people"])
def test_a_full_disk(tmp_path, lines, kind):
    (tmp_path / "t.csv").write_text(lines)
    process = started(tmp_path, kind, 1 << 20)
    said = process.communicate(timeout=120)[0]
    assert process.returncode == 2, said
    assert "space on the disk" in said
    assert "text" not in said
    assert names(tmp_path) == ["t.csv"]
