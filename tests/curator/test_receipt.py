"""Receipts: true to the byte, signed by whom they say, and standing in the ledger."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace

import pytest

import discreet as dp
from curator.cases import COUNT, MEAN, curator, opened
from discreet.arithmetic.canonical import canonical_json, hash_json


@pytest.fixture(scope="module")
def world():
    """Two answers of one curator, with signed receipts."""
    signer = dp.Signer.create()
    asked = curator(who="ana", signer=signer)
    return (
        asked,
        asked.sql(COUNT, spend=dp.PureDP(1), why="report ✓"),
        asked.sql(MEAN, spend=dp.PureDP(1)),
    )


def _one(receipt, **change):
    return replace(receipt, asked=(replace(receipt.asked[0], **change),))


SAYS = "something else than the receipt: "
LIES = [
    (f"{SAYS}number$", lambda r, _: replace(r, number=9)),
    (f"{SAYS}charge$", lambda r, _: replace(r, charge="0" * 64)),
    (f"{SAYS}time$", lambda r, _: replace(r, time="2020-01-01T00:00:00.000000Z")),
    (f"{SAYS}who$", lambda r, _: replace(r, who="eve")),
    (f"{SAYS}why$", lambda r, _: replace(r, why="nothing")),
    (f"{SAYS}part$", lambda r, _: replace(r, part="N")),
    (f"{SAYS}part$", lambda r, _: replace(r, part=False)),
    (f"{SAYS}event$", lambda r, s: replace(r, event=s.event)),
    (f"{SAYS}price$", lambda r, _: replace(r, price=dp.PureDP("1/2"))),
    (f"{SAYS}charged$", lambda r, _: replace(r, charged=dp.PureDP("1/2"))),
    (f"{SAYS}promise$", lambda r, _: replace(r, promise=dp.PureDP(1))),
    (f"{SAYS}neighbours$", lambda r, _: replace(r, neighbours="replace")),
    (f"{SAYS}tables$", lambda r, _: replace(r, tables=(("people", "2"),))),
    (f"{SAYS}tables$", lambda r, _: replace(r, tables=())),
    (f"{SAYS}asked$", lambda r, _: _one(r, text="SELECT COUNT(*) AS n FROM people")),
    (f"{SAYS}asked$", lambda r, _: _one(r, fingerprint="0" * 64)),
    (f"{SAYS}asked$", lambda r, s: _one(r, answer=s.asked[0].answer)),
    (f"{SAYS}asked$", lambda r, _: _one(r, name="other")),
    (f"{SAYS}asked$", lambda r, s: replace(r, asked=(*r.asked, *s.asked))),
    (f"{SAYS}asked$", lambda r, _: replace(r, asked=())),
    ("no such answer", lambda r, _: replace(r, stored_as="0" * 64)),
    (f"{SAYS}number, charge, time", lambda r, s: replace(r, stored_as=s.stored_as)),
]


class TestAReceipt:
    def test_is_verified_in_all_its_forms(self, world, tmp_path):
        asked, answer, _ = world
        path = tmp_path / "receipt.json"
        path.write_text(answer.receipt.to_json() + "\n")
        for form in (answer.receipt, answer.receipt.to_json(), path):
            found = dp.verify_receipt(
                form, answer=answer, key=asked.signer.public, ledger=asked.ledger
            )
            assert found == answer.receipt

    def test_is_refused_with_any_changed_byte(self, world):
        text = world[1].receipt.to_json()
        for place in range(len(text)):
            for other in {chr(ord(text[place]) ^ 1), chr(ord(text[place]) ^ 32), "\u00e9"} - {
                text[place]
            }:
                with pytest.raises(dp.ClaimRefuted):
                    dp.verify_receipt(text[:place] + other + text[place + 1 :])
            with pytest.raises(dp.ClaimRefuted):
                dp.verify_receipt(text[:place] + text[place + 1 :])

    @pytest.mark.parametrize("more", [" ", "\n", "\ufeff", "{}"])
    def test_is_refused_with_any_byte_more(self, world, more):
        for text in (world[1].receipt.to_json() + more, more + world[1].receipt.to_json()):
            with pytest.raises(dp.ClaimRefuted):
                dp.verify_receipt(text)

    def test_with_a_new_hash_needs_a_new_signature(self, world):
        forged = replace(world[1].receipt, who="eve")
        with pytest.raises(dp.ClaimRefuted, match="signature"):
            dp.verify_receipt(forged)
        unsigned = replace(forged, signature="", key="")
        assert dp.verify_receipt(unsigned) == unsigned  # a hash alone shows no more than that
        with pytest.raises(dp.ClaimRefuted, match="not signed"):
            dp.verify_receipt(unsigned, key=world[0].signer.public)
        with pytest.raises(dp.ClaimRefuted, match="something else than the receipt: who$"):
            dp.verify_receipt(unsigned, ledger=world[0].ledger)

    def test_signed_by_another_is_refused(self, world):
        other = dp.Signer.create()
        with pytest.raises(dp.ClaimRefuted, match="another key"):
            dp.verify_receipt(world[1].receipt.signed(other), key=world[0].signer.public)
        with pytest.raises(dp.ClaimRefuted, match="signature"):
            dp.verify_receipt(replace(world[1].receipt, key=other.public))
        with pytest.raises(dp.ClaimRefuted, match="half of a signature"):
            dp.verify_receipt(replace(world[1].receipt, key=""))

    def test_belongs_to_one_answer(self, world):
        _, first, second = world
        with pytest.raises(dp.ClaimRefuted, match="the answer is not the one"):
            dp.verify_receipt(first.receipt, answer=second)

    def test_stands_in_one_ledger(self, world):
        with pytest.raises(dp.ClaimRefuted, match="no such answer"):
            dp.verify_receipt(world[1].receipt, ledger=opened())

    @pytest.mark.parametrize(
        ("fact", "lie"), LIES, ids=[f"{fact} {n}" for n, (fact, _) in enumerate(LIES)]
    )
    def test_is_compared_with_the_ledger_in_every_fact(self, world, fact, lie):
        """Without a signature everyone can write a receipt; the ledger tells."""
        asked, first, second = world
        forged = lie(replace(first.receipt, signature="", key=""), second.receipt)
        assert dp.verify_receipt(forged) == forged
        with pytest.raises(dp.ClaimRefuted, match=fact):
            dp.verify_receipt(forged, ledger=asked.ledger)

    def test_forged_in_any_field_is_listed_above(self, world):
        """A field that is added to receipts needs its lie."""
        listed = {fact.split("receipt: ")[-1].split("$")[0] for fact, _ in LIES}
        assert world[1].receipt.facts().keys() - {"receipt"} <= listed | {"stored_as"}

    def test_shows_itself(self, world):
        shown = str(world[1].receipt)
        assert (
            "ana, for report ✓" in shown
            and "people version 1" in shown
            and "ε = 1 of ε = 10" in shown
        )
        assert "report ✓" in world[1].receipt._repr_html_()

    def test_is_canonical_json(self, world):
        text = world[1].receipt.to_json()
        assert text == canonical_json(json.loads(text)) and text.isascii()
        assert (
            json.loads(text)["hash"] == world[1].receipt.hash == hash_json(world[1].receipt.facts())
        )

    def test_of_a_part_says_so(self):
        ledger = opened(
            neighbours="add-remove", parts=dp.Parts("people", "region", ["N", "S", "E"])
        )
        answer = curator(ledger).sql(
            "SELECT COUNT(*) AS n FROM people WHERE region = 'N'", spend=dp.PureDP(1)
        )
        assert dp.verify_receipt(answer.receipt.to_json(), ledger=ledger).part == "N"
        ones = opened(neighbours="add-remove", parts=dp.Parts("people", "ward", [1, 2, 3, 4]))
        receipt = (
            curator(ones)
            .sql("SELECT COUNT(*) AS n FROM people WHERE ward = 1", spend=dp.PureDP(1))
            .receipt
        )
        assert dp.verify_receipt(receipt, ledger=ones).part == 1
        with pytest.raises(dp.ClaimRefuted, match="part$"):
            dp.verify_receipt(replace(receipt, part=True), ledger=ones)
        assert ["part", "N"] in [line.split() for line in str(answer.receipt).splitlines()]


class TestWhatIsNoReceipt:
    @pytest.mark.parametrize(
        "text", ["", "[]", "3", "null", "{", "[" * 10_000, '{"receipt":1}'], ids=range(7)
    )
    def test_is_refused(self, text):
        with pytest.raises(dp.ClaimRefuted, match="no receipt of discreet"):
            dp.verify_receipt(text)

    @pytest.mark.parametrize(
        ("field", "value"),
        [("who", 3), ("number", "2"), ("tables", []), ("asked", {}), ("part", [])],
    )
    def test_a_field_of_another_type(self, world, field, value):
        data = json.loads(world[1].receipt.to_json()) | {field: value, "signature": "", "key": ""}
        del data["hash"]
        facts = {name: data[name] for name in data if name not in ("signature", "key")}
        with pytest.raises(dp.ClaimRefuted):
            dp.verify_receipt(canonical_json(data | {"hash": hash_json(facts)}))

    def test_a_file_that_is_not_there(self, tmp_path):
        with pytest.raises(dp.ClaimRefuted, match="cannot be read"):
            dp.verify_receipt(tmp_path / "nothing.json")
        (tmp_path / "binary").write_bytes(b"\xff\xfe")
        with pytest.raises(dp.ClaimRefuted, match="cannot be read"):
            dp.verify_receipt(tmp_path / "binary")

    @pytest.mark.parametrize("thing", [None, 3, b"{}"])
    def test_another_type(self, thing):
        with pytest.raises(dp.InvalidArgument, match="a receipt is"):
            dp.verify_receipt(thing)


class TestASigner:
    def test_is_kept_in_a_file_of_its_owner(self, tmp_path):
        signer = dp.Signer.create()
        signer.save(tmp_path / "key")
        assert (tmp_path / "key").stat().st_mode & 0o777 == 0o600
        assert dp.Signer.load(tmp_path / "key").public == signer.public
        with pytest.raises(dp.InvalidArgument, match="there already"):
            signer.save(tmp_path / "key")

    @pytest.mark.parametrize("content", ["", "x", "QUJD"])
    def test_a_file_without_a_key(self, tmp_path, content):
        (tmp_path / "key").write_text(content)
        with pytest.raises(dp.InvalidArgument, match="holds no key"):
            dp.Signer.load(tmp_path / "key")

    def test_keeps_its_secret(self):
        signer = dp.Signer.create()
        assert repr(signer) == f"<Signer {signer.public}>"
        with pytest.raises(dp.InvalidArgument, match="not pickled"):
            pickle.dumps(signer)

    @pytest.mark.parametrize("key", ["", "x", "QUJD", None, 3, "é"])
    def test_a_public_key_is_checked(self, world, key):
        if key is not None:
            with pytest.raises(dp.InvalidArgument, match="public key"):
                dp.verify_receipt(world[1].receipt, key=key)
        else:
            assert dp.verify_receipt(world[1].receipt, key=key)

    def test_without_the_package_the_way_is_told(self, monkeypatch):
        monkeypatch.setitem(
            __import__("sys").modules, "cryptography.hazmat.primitives.asymmetric.ed25519", None
        )
        with pytest.raises(dp.InvalidArgument, match=r"discreet\[sign\]"):
            dp.Signer.create()

    def test_a_curator_takes_no_other(self):
        with pytest.raises(dp.InvalidArgument, match="signer must be a Signer"):
            curator(signer="secret")


def test_a_receipt_speaks_in_the_measure_of_the_spend():
    """Under an (ε, δ) ledger nobody wrote a μ, whatever the noise."""
    table = dp.Schema("t", dp.Rows(), {"x": dp.Integer(0, 9), "w": dp.Text(3)})
    store, budget = dp.Memory({"t": [{"x": 1, "w": "a"}] * 99}), dp.ApproxDP(1, "1e-6")
    sums = ", ".join(f"SUM(x * {n}) AS s{n}" for n in range(1, 13))
    said = {
        "SELECT COUNT(*) AS n FROM t": "(ε, δ) = (0.999999, 1e-06) of (ε, δ) = (1, 1e-06)",
        "SELECT w, COUNT(*) AS n FROM t GROUP BY w": "(ε, δ) = (1, 1e-06) of (ε, δ) = (1, 1e-06)",
        f"SELECT {sums} FROM t": ", 1e-06) of (ε, δ) = (1, 1e-06)",
    }
    for sql, words in said.items():
        answer = dp.Curator(store, [table], dp.open_ledger(":memory:", budget)).sql(
            sql, spend=budget
        )
        assert words in str(answer.receipt) and "μ" not in str(answer.receipt)
        spent = str(answer).splitlines()[-1].split("(ε, δ) = (")[1].split(",")[0]
        assert float(spent) <= 1
