"""A configuration is read strictly, and refused by path and key."""

from __future__ import annotations

import pytest

import discreet as dp
from discreet.errors import InvalidArgument
from discreet.service.config import read_config

GOOD = """
[service]
url = "https://curator.example"
store = "postgresql://db/curator"
grid = "0.5"
proxies = ["10.0.0.1"]
signing_key = "key"
log = "audit.log"
[limits]
body_bytes = 1000
[datasets.people]
schema = "people.toml"
ledger = "host=db dbname=ledger"
budget = { epsilon = "3", delta = "1e-6" }
kind = "zcdp"
delta = "1e-7"
window = "month"
allowances = { ana = { rho = "1/8" } }
postgres = "host=db dbname=company"
tables = { people = "hr.staff" }
[datasets.files]
schema = "files.toml"
ledger = "files.ledger"
duckdb = { people = "people.csv" }
[datasets.company]
schema = "files.toml"
ledger = ":memory:"
duckdb = "company.duckdb"
[datasets.lake]
schema = "files.toml"
ledger = "lake.ledger"
spark = { people = "people.parquet" }
"""


@pytest.fixture
def read(tmp_path):
    def write_and_read(text):
        (tmp_path / "curator.toml").write_text(text)
        return read_config(tmp_path / "curator.toml")

    return write_and_read


def test_everything_that_can_be_said(read, tmp_path):
    config = read(GOOD)
    assert (config.url, config.host, config.secure, config.grid) == (
        "https://curator.example",
        "curator.example",
        True,
        0.5,
    )
    assert config.store == "postgresql://db/curator"
    assert config.bounds.body_bytes == 1000
    assert config.proxies == ("10.0.0.1",)
    people, files, company, lake = config.datasets.values()
    assert people.terms["budget"] == dp.ApproxDP(3, "1e-6")
    assert people.terms["allowances"] == {"ana": dp.ZCDP("1/8")}
    assert (people.terms["kind"], people.terms["window"]) == ("zcdp", "month")
    assert people.ledger == "host=db dbname=ledger"
    assert people.source.places == {"people": "hr.staff"}
    assert files.source.tables == {"people": str(tmp_path / "people.csv")}
    assert files.schema == tmp_path / "files.toml"
    assert company.source.tables == str(tmp_path / "company.duckdb")
    assert company.ledger == ":memory:"
    assert lake.source.engine == "spark"


def test_little_needs_to_be_said(read):
    config = read('[datasets.a]\nschema = "a.toml"\nledger = "a"\nduckdb = "a.duckdb"\n')
    assert (config.url, config.grid, config.secure) == ("http://127.0.0.1:8000", 0.25, False)


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        ("[service]", "[servce]", "'servce' is not known"),
        ("grid =", "gird =", "service.gird is not known"),
        ('grid = "0.5"', 'grid = "0"', "service.grid must be greater than 0"),
        ('grid = "0.5"', 'grid = "soon"', "service.grid"),
        ("body_bytes = 1000", "body_bytes = 0", "limits.body_bytes"),
        ("body_bytes = 1000", "body_bites = 1", "limits.body_bites is not known"),
        ('url = "https://curator.example"', 'url = "ftp://x"', "service.url"),
        ('url = "https://curator.example"', 'url = "https://a@b"', "service.url"),
        ('url = "https://curator.example"', 'url = "https://a/b"', "service.url"),
        ('url = "https://curator.example"', "url = 3", "service.url"),
        ('proxies = ["10.0.0.1"]', 'proxies = "10.0.0.1"', "service.proxies"),
        ("[datasets.people]", '[datasets."a b"]', "identifier"),
        ('schema = "people.toml"', "schema = 1", "datasets.people.schema"),
        ('ledger = "host=db dbname=ledger"', "", "datasets.people.ledger"),
        ('budget = { epsilon = "3", delta = "1e-6" }', "budget = 3", "datasets.people.budget"),
        ('allowances = { ana = { rho = "1/8" } }', "allowances = 1", "datasets.people.allowances"),
        ('window = "month"', "window = 1", "datasets.people.window"),
        ('postgres = "host=db dbname=company"', "", "datasets.people needs one store"),
        (
            'duckdb = { people = "people.csv" }',
            'duckdb = { people = "p.csv" }\ntables = { a = "b" }',
            "belongs to postgres",
        ),
        ('duckdb = { people = "people.csv" }', "duckdb = 3", "datasets.files.duckdb"),
    ],
)
def test_refusals_name_the_key(read, old, new, word):
    assert old in GOOD
    with pytest.raises(InvalidArgument, match=word):
        read(GOOD.replace(old, new, 1))


def test_no_data_set_is_refused(read):
    with pytest.raises(InvalidArgument, match="datasets is empty"):
        read("")


def test_what_is_no_toml_or_not_there_is_refused(read, tmp_path):
    with pytest.raises(InvalidArgument, match="no TOML"):
        read("[service")
    with pytest.raises(InvalidArgument, match="cannot be read"):
        read_config(tmp_path / "none.toml")
