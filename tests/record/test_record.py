"""Records of all kinds of ledgers: valid entries of the registry, each sentence with its evidence."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

import discreet as dp
from discreet.ledger import import_ledger
from discreet.record.fields import FIELDS
from fixtures import world_0_1_0, world_before_0_2_0
from record import registry
from record.conftest import PEOPLE, SQL, WORDS, ask, made_rows

FIXTURES = Path(__file__).parents[1] / "fixtures"
OLD = sorted((FIXTURES / "ledger_0_1_0").glob("*.ledger"))
FORMER = sorted((FIXTURES / "before_0_2_0").glob("*.ledger.gz"))
BLOCKS = sorted((FIXTURES / "blocks_0_2_0").glob("*.jsonl"))
STREAMS = sorted((FIXTURES / "streams_0_2_0").glob("*.lines"))
QUICK = {"pure.ledger", "zcdp.ledger.gz", "stays.jsonl", "measured.lines"}


def _schemas(path):
    """The schemas of a stored ledger: those of its world that its entries name."""
    if path.parent.name == "ledger_0_1_0":
        return [world_0_1_0.PEOPLE, world_0_1_0.VISITS]
    if path.parent.name == "before_0_2_0":
        return _world(path)
    unit = dp.People("id", max_rows=3)
    days = {"day": dp.Date("2024-01-01", "2030-12-31")}
    relation = "replace" if path.name == "most.jsonl" else "add-remove"
    return [dp.Schema("visits", unit, days, neighbours=relation)]


def _world(path):
    kind = path.name.removesuffix(".ledger.gz")
    private = [
        schema
        for schema in vars(world_before_0_2_0).values()
        if isinstance(schema, dp.Schema) and not schema.public
    ]
    relation = "replace" if "replace" in kind else "add-remove"
    named = {schema.name: schema for schema in private if schema.neighbours == relation}
    public = {
        schema.name: schema
        for schema in vars(world_before_0_2_0).values()
        if isinstance(schema, dp.Schema) and schema.public
    }
    return list({**public, **named}.values())


def _open(path, tmp_path):
    if path.suffix in (".jsonl", ".lines"):
        import_ledger(path, tmp_path / "imported.ledger")
        return dp.open_ledger(tmp_path / "imported.ledger")
    copy = tmp_path / "copied.ledger"
    raw = path.read_bytes()
    copy.write_bytes(gzip.decompress(raw) if path.suffix == ".gz" else raw)
    return dp.open_ledger(copy)


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=[] if path.name in QUICK else [pytest.mark.slow], id=path.name)
        for path in (*OLD, *FORMER, *BLOCKS, *STREAMS)
    ],
)
def test_of_every_stored_ledger_is_valid(path, tmp_path):
    with _open(path, tmp_path) as ledger:
        made = dp.record(ledger, _schemas(path), WORDS)
        assert registry.check(made.files["registry.yaml"])["tier"] == made.tier == 3
        folder = made.write(tmp_path / "record")
        assert dp.check_record(folder, ledger).charges == len(ledger.history(kinds=["charge"]))
    if path in OLD:
        assert "not recorded" in made.files["registry.yaml"]


RENEWED = {
    "window": {"window": "month"},
    "parts": {"parts": dp.Parts("visits", "clinic", ["a", "b"]), "neighbours": "add-remove"},
}


@pytest.mark.parametrize("kind", RENEWED)
def test_of_a_ledger_with_windows_or_parts_is_valid(kind, tmp_path):
    columns = {"day": dp.Date("2024-01-01", "2030-12-31"), "clinic": dp.Category(["a", "b"])}
    visits = dp.Schema("visits", dp.People("id", max_rows=2), columns)
    ledger = dp.open_ledger(":memory:", dp.PureDP(1), **RENEWED[kind])
    rows = [{"id": n, "day": "2024-01-02", "clinic": "ab"[n % 2]} for n in range(50)]
    curator = dp.Curator(dp.Memory({"visits": rows}), visits, ledger, who="ann")
    sql = "SELECT COUNT(*) AS n FROM visits WHERE clinic = 'a'"
    curator.sql(sql, spend=dp.PureDP("1/4"))
    made = dp.record(ledger, visits, WORDS, questions=[2])
    assert registry.check(made.files["registry.yaml"])["tier"] == 3
    assert dp.check_record(made.write(tmp_path / "record"), ledger).charges == 1


def test_latex_quotes_and_yaml_in_words_stay_as_they_are(asked):
    notes = "$\\epsilon$ 'is' \"small\": # \\frac{1}{2}\n- %s {x}: &\n| @"
    made = dp.record(asked, PEOPLE, WORDS | {"notes": notes, "intended_use": notes[:9]})
    entry = registry.check(made.files["registry.yaml"])["deployment"]
    assert entry["administrative"]["notes"].strip() == notes
    assert entry["basic"]["intended_use"] == notes[:9]


BUDGETS = {
    "pure": (dp.PureDP("0.1"), {"epsilon": 0.1}, "Pure DP"),
    "third": (dp.PureDP("1/3"), {"epsilon": 0.333333333334}, "Pure DP"),
    "box": (dp.ApproxDP(1, "1e-6"), {"epsilon": 1.0, "delta": 1e-6}, "Approximate DP"),
    "no delta": (dp.ApproxDP(2, 0), {"epsilon": 2.0}, "Pure DP"),
    "rho": (dp.ZCDP("0.015"), {"rho": 0.015}, "Zero-concentrated DP"),
    "mu": (dp.GaussianDP(1), None, "Custom"),
    "renyi": (dp.RenyiDP({2: 1, 8: 4}), None, "Renyi DP"),
}


@pytest.mark.parametrize("kind", BUDGETS)
def test_every_measure_has_its_name_and_parameters(kind):
    budget, numbers, name = BUDGETS[kind]
    made = dp.record(dp.open_ledger(":memory:", budget), PEOPLE, WORDS)
    entry = registry.check(made.files["registry.yaml"])["deployment"]
    assert entry["dp_variant"]["variant_name"] == name
    found = entry["privacy_loss"]["privacy_parameters"]
    if numbers is None:
        # Restated at one δ, and never below what it implies there.
        assert found["delta"] == 1e-6
        assert found["epsilon"] >= dp.compose(dp.privacy.Promise(budget)).epsilon(1e-6)
        assert found["epsilon"] < 1.001 * dp.compose(dp.privacy.Promise(budget)).epsilon(1e-6)
    else:
        assert found == numbers
    if kind in ("rho", "mu", "renyi"):
        assert "At δ = 1e-09 it is ε = " in entry["privacy_loss"]["privacy_parameters_details"]


def test_every_unit_is_named():
    def unit(*units, words=None):
        schemas = [
            dp.Schema(f"t{n}", one, {"day": dp.Date("2024-01-01", "2024-12-31")})
            for n, one in enumerate(units)
        ]
        ledger = dp.open_ledger(":memory:", dp.PureDP(1))
        made = dp.record(ledger, schemas, WORDS | ({"unit": words} if words else {}))
        return registry.check(made.files["registry.yaml"])["deployment"]["privacy_loss"][
            "privacy_unit"
        ]

    people = dp.People("id", max_rows=2)
    assert unit(dp.Rows()) == "Record-level"
    assert unit(dp.Rows(), words="Household") == "Household-level"
    assert unit(people) == "Person-level"
    assert unit(dp.People("id", who="user", max_rows=2, window=("day", "day"))) == "User-day-level"
    assert unit(people, dp.Rows()) == "Person-level; Record-level"


def test_every_sentence_has_evidence(asked):
    numbers = [entry.number for entry in asked.history(kinds=["charge"])]
    made = dp.record(asked, PEOPLE, WORDS, questions=numbers)
    evidence = json.loads(made.files["evidence.json"])["sentences"]
    known = {one["text"] for one in evidence}
    for one in evidence:
        assert one["text"] and one["rests_on"] and all(one["rests_on"]), one
    entry = yaml.safe_load(made.files["registry.yaml"])["deployment"]
    for field in FIELDS:
        value = entry.get(field.section, {}).get(field.name)
        if isinstance(value, str) and not field.allowed and field.type == "text":
            stated = WORDS.get(field.name)
            lines = [stated] if stated else [line.removeprefix("- ") for line in value.splitlines()]
            for line in lines:
                assert line in known, (field.name, line)
    for page in ("people.md", "people.de.md"):
        for line in made.files[page].splitlines():
            assert not line.endswith("  ") or line.strip() in known, line
    # Evidence in the proof is in the proof.
    lines = len(made.files["proof.lines"].splitlines())
    for one in evidence:
        for source in one["rests_on"]:
            kind, _, place = source.partition(": line ")
            assert kind != "proof.lines" or 1 <= int(place) <= lines


def test_no_doi_host_or_person_is_invented(asked):
    files = dp.record(asked, PEOPLE, WORDS).files
    for name, text in files.items():
        assert "://" not in text.replace("http://www.w3.org/2000/svg", ""), name
        assert "10." not in text or "doi" not in text, name
    stated = dp.record(asked, PEOPLE, WORDS | {"doi": "10.1234/5", "url": "https://data.example"})
    assert "doi: '10.1234/5'" in stated.files["CITATION.cff"]
    assert json.loads(stated.files["datacite.json"])["doi"] == "10.1234/5"


KNOWN = {
    "wikimedia_current_usage_data.yaml": {
        "budget": dp.ZCDP("0.015"),
        "unit": dp.People("device", max_rows=10, window=("day", "day")),
        "window": "day",
        "words": {"unit": "Device"},
    },
    "covid19_search_trends_symptoms.yaml": {
        "budget": dp.PureDP("1.68"),
        "unit": dp.People("user_id", who="user", max_rows=3, window=("day", "day")),
        "window": "day",
        "words": {},
    },
    "census_redistricting_data.yaml": {
        "budget": dp.ZCDP("2.63"),
        "unit": dp.Rows(),
        "window": None,
        "words": {},
    },
}
COMPARED = {
    "basic": ["data_product_type"],
    "dp_variant": ["variant_name"],
    "privacy_loss": ["privacy_unit", "privacy_parameters"],
    "deployment_model": ["model_name", "release_type", "data_source_type", "access_type"],
}
"""The 8 fields of an entry that are listed or numbers: 24 of three entries."""
EXPECTED = {
    "wikimedia_current_usage_data.yaml": ("Zero-concentrated DP", "Device-day-level", {"rho": 0.015}, "Many releases", "Dynamic"),
    "covid19_search_trends_symptoms.yaml": ("Pure DP", "User-day-level", {"epsilon": 1.68}, "Many releases", "Dynamic"),
    "census_redistricting_data.yaml": ("Zero-concentrated DP", "Record-level", {"rho": 2.63}, "One release", "Static"),
}  # fmt: skip


def _rebuilt(name):
    facts = KNOWN[name]
    columns = {"day": dp.Date("2023-02-01", "2023-12-31"), "place": dp.Category(["a", "b"])}
    schema = dp.Schema("views", facts["unit"], columns)
    ledger = dp.open_ledger(":memory:", facts["budget"], window=facts["window"])
    rows = [{"device": 1, "user_id": 1, "day": "2023-02-02", "place": "a"}]
    curator = dp.Curator(dp.Memory({"views": rows}), schema, ledger, who="steward")
    budget = facts["budget"]
    curator.sql("SELECT place, COUNT(*) AS n FROM views GROUP BY place", spend=budget)
    return dp.record(ledger, schema, WORDS | facts["words"])


@pytest.mark.slow
@pytest.mark.parametrize("name", KNOWN)
def test_known_entries_rebuilt(name):
    entry = registry.check(_rebuilt(name).files["registry.yaml"])["deployment"]
    loss, model = entry["privacy_loss"], entry["deployment_model"]
    found = (
        entry["dp_variant"]["variant_name"],
        loss["privacy_unit"],
        loss["privacy_parameters"],
        model["release_type"],
        model["data_source_type"],
    )
    assert found == EXPECTED[name]


@pytest.mark.skipif(registry.SHARED is None, reason="the registry's entries are not here")
def test_known_entries_agree_with_the_registry_in_23_of_24_fields():
    equal, other = 0, []
    for name in KNOWN:
        theirs = yaml.safe_load((registry.SHARED / name).read_text(encoding="utf-8"))["deployment"]
        ours = yaml.safe_load(_rebuilt(name).files["registry.yaml"])["deployment"]
        for section, fields in COMPARED.items():
            for field in fields:
                if ours[section][field] == theirs[section][field]:
                    equal += 1
                else:
                    other.append((ours[section][field], theirs[section][field]))
    assert equal == 23
    assert other == [("Record-level", "Person-level; housing-unit-level")]


def test_products_and_access_follow_from_the_entries():
    def fields(ledger):
        entry = registry.check(dp.record(ledger, PEOPLE, WORDS).files["registry.yaml"])[
            "deployment"
        ]
        return entry["basic"]["data_product_type"], entry["deployment_model"]["access_type"]

    alone = dp.open_ledger(":memory:", dp.PureDP(3))
    ask(alone, SQL["means"])
    assert fields(alone) == ("Summary statistics", "Non-interactive")
    ask(alone, SQL["cube"], who="bob")
    assert fields(alone) == ("Interactive API", "Interactive")
    allowed = dp.open_ledger(":memory:", dp.PureDP(3), allowances={"*": dp.PureDP(1)})
    assert fields(allowed) == ("Interactive API", "Interactive")
    made = dp.open_ledger(":memory:", dp.ZCDP(3))
    curator = dp.Curator(dp.Memory({"people": made_rows(50)}), PEOPLE, made, who="ann")
    curator.synthesize("people", columns=["region", "age"], size=20, spend=dp.ZCDP(1))
    assert fields(made) == ("Synthetic data", "Non-interactive")


def test_versions_make_the_data_dynamic():
    ledger = dp.open_ledger(":memory:", dp.PureDP(3))
    store = dp.Memory({"people": made_rows(50)})
    for version in ("1", "2"):
        schema = dp.Schema.from_dict({**PEOPLE.to_dict(), "version": version})
        dp.Curator(store, schema, ledger, who="ann").sql(SQL["means"], spend=dp.PureDP(1))
    entry = registry.check(dp.record(ledger, PEOPLE, WORDS).files["registry.yaml"])["deployment"]
    assert entry["deployment_model"]["data_source_type"] == "Dynamic"


def test_the_service_says_its_grid_and_access(asked):
    service = {"grid": 0.25, "share_questions": False}
    made = dp.record(asked, PEOPLE, WORDS, service=service)
    assert "time grid of 0.25 seconds" in made.files["registry.yaml"]
    assert "may not see each other" in made.files["registry.yaml"]
    assert len(made.open) < len(dp.record(asked, PEOPLE, WORDS).open)


def test_the_function_has_the_name_of_its_package(asked):
    import discreet.record

    assert discreet.record(asked, PEOPLE, WORDS).tier == dp.record(asked, PEOPLE, WORDS).tier == 3
    folder = replace(dp.record(asked, PEOPLE, WORDS), open=())
    assert "not answered" not in str(folder) and folder._repr_html_().startswith("<svg")
