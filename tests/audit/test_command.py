"""A black-box program, from Python and from the command line."""

import json
import sys

import pytest
import typer
from typer.testing import CliRunner

from discreet.audit import audit as look
from discreet.audit import command_run
from discreet.audit.targets.command import TableFile
from discreet.audit.targets.runs import RaisedOutput
from discreet.cli.commands.audit import audit
from discreet.errors import InvalidArgument
from discreet.privacy.measures import PureDP

LOUD = f'{sys.executable} -I -S -c "import sys; print(sys.argv[1])" {{input}}'
NOISY = (
    f'{sys.executable} -c "import sys, random; '
    "[print(int(sys.argv[1]) if random.random() < float(sys.argv[3]) else 1 - int(sys.argv[1])) "
    'for _ in range(int(sys.argv[2]))]" {input} {size} '
)
CONSTANT = f'{sys.executable} -c "print(chr(10).join([chr(55)] * int({{size}})))" {{input}}'
app = typer.Typer()
app.command()(audit)


def run(*arguments):
    return CliRunner().invoke(app, list(arguments))


def test_outputs_of_a_command():
    assert command_run(LOUD)(7) == 7
    assert command_run(LOUD)('{"n": [1, 2]}') == {"n": [1, 2]}
    assert command_run(LOUD)("two words") == "two words"
    failing = command_run(
        f'{sys.executable} -c "import sys; sys.exit(chr(10) + sys.argv[1])" {{input}}'
    )
    assert failing("no") == RaisedOutput("exit 1", "no")


def test_many_at_once():
    assert command_run(NOISY + "1")(1, size=3) == [1, 1, 1]
    with pytest.raises(InvalidArgument, match="failed with exit code"):
        command_run(NOISY + "x")(1, size=3)


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("echo", "must contain"),
        ("no_such_program {input}", "no program"),
        ("echo '{input}", "cannot be read"),
    ],
)
def test_refuses_a_command_without_input(template, words):
    with pytest.raises(InvalidArgument, match=words):
        command_run(template)


def test_a_file_that_is_no_program_ends_the_audit(tmp_path):
    """Its error would name the input, which nobody's program told."""
    with pytest.raises(InvalidArgument, match="cannot be run"):
        look(
            command_run("{input}"),
            PureDP(1),
            (str(tmp_path / "a"), str(tmp_path / "b")),
            samples=100,
        )
    with pytest.raises(InvalidArgument, match="cannot be run"):
        look(
            command_run("{input} {size}"),
            PureDP(1),
            (str(tmp_path / "a"), str(tmp_path / "b")),
            samples=100,
        )


def test_a_slow_program_is_an_output_without_its_input():
    slow = command_run(f'{sys.executable} -c "import time; time.sleep(60)" {{input}}', timeout=0.05)
    assert slow(7) == slow(8) == RaisedOutput("timeout", "no answer in 0.05 seconds")


class TestFiles:
    """Two CSV files are checked to be neighbours; their names go into the command."""

    @pytest.fixture
    def files(self, tmp_path):
        rows = ["id,x", "ada,1", "ada,2", "bob,3"]
        for name, kept in (("all", rows), ("no_bob", rows[:3]), ("no_ada", [rows[0], rows[3]])):
            (tmp_path / f"{name}.csv").write_text("\n".join(kept) + "\n", encoding="utf-8")
        return lambda name: str(tmp_path / f"{name}.csv")

    def ask(self, *inputs, relation="add-remove", more=()):
        how = ("--epsilon", "1", "--samples", "100", "--neighbours", relation, *more)
        return run("--command", CONSTANT, "--inputs", *inputs, *how)

    def test_neighbours(self, files):
        seen = self.ask(files("all"), files("no_bob"))
        assert seen.exit_code == 3
        assert "every output was the same" in seen.output
        assert "no relation was named" not in seen.output
        assert self.ask(files("all"), files("no_ada"), more=("--unit", "id")).exit_code == 3

    def test_others(self, files, tmp_path):
        assert "not 'add-remove' neighbours" in self.ask(files("all"), files("no_ada")).output
        seen = self.ask(files("all"), str(tmp_path / "none.csv"))
        assert seen.exit_code == 2
        assert "cannot be read as a CSV file" in seen.output
        assert repr(TableFile("a.csv")) == "a.csv"
        alone = run("--command", CONSTANT, "--inputs", "0", "1", "--epsilon", "1", "--unit", "id")
        assert alone.exit_code == 2
        assert "--unit belongs to --neighbours" in alone.output

    def test_a_page_that_cannot_be_written(self, files, tmp_path):
        seen = self.ask(
            files("all"), files("no_bob"), more=("--html", str(tmp_path / "no" / "page.html"))
        )
        assert seen.exit_code == 2
        assert "cannot be written" in seen.output


@pytest.mark.statistical
class TestCommandLine:
    """Always the truth is missed as a leak with probability 0; a fair coin refutes ε = 2 with probability < 1e-11."""

    def test_refuted(self, tmp_path):
        page = tmp_path / "report.html"
        seen = run(
            "--command", NOISY + "1", "--inputs", "0", "1", "--epsilon", "1", "--html", str(page)
        )
        assert seen.exit_code == 1
        assert seen.stdout.startswith("REFUTED")
        assert "<svg" in page.read_text(encoding="utf-8")

    def test_not_refuted_as_json(self):
        how = ("--samples", "500", "--confidence", "0.99999999999", "--json")
        seen = run(
            "--command",
            NOISY + "0.5",
            "--inputs",
            "0",
            "1",
            "--epsilon",
            "2",
            "--delta",
            "1e-3",
            *how,
        )
        assert seen.exit_code == 0
        assert json.loads(seen.stdout)["verdict"] == "not refuted"

    def test_not_tested(self):
        seen = run(
            "--command",
            "echo {input}",
            "--inputs",
            "same ",
            "same",
            "--rho",
            "1",
            "--samples",
            "100",
        )
        assert seen.exit_code == 3
        assert "NOT TESTED" in seen.output

    def test_other_measures(self):
        seen = run("--command", NOISY + "1", "--inputs", "0", "1", "--mu", "1", "--samples", "200")
        assert seen.exit_code == 1

    @pytest.mark.parametrize(
        "claim",
        [
            (),
            ("--epsilon", "1", "--rho", "1"),
            ("--rho", "1", "--delta", "0.1"),
            ("--epsilon", "x"),
        ],
    )
    def test_bad_claims(self, claim):
        seen = run("--command", LOUD, "--inputs", "0", "1", *claim)
        assert seen.exit_code == 2

    def test_a_program_that_does_not_exist(self):
        seen = run(
            "--command", "no_such_program {input} {size}", "--inputs", "0", "1", "--epsilon", "1"
        )
        assert seen.exit_code == 2
