"""A black-box program, from Python and from the command line."""

import json
import sys

import pytest
import typer
from typer.testing import CliRunner

from discreet.audit import command_run
from discreet.audit.runs import Raised
from discreet.cli.audit import audit
from discreet.errors import InvalidArgument

LOUD = f'{sys.executable} -c "import sys; print(sys.argv[1])" {{input}}'
NOISY = (
    f'{sys.executable} -c "import sys, random; '
    "[print(int(sys.argv[1]) if random.random() < float(sys.argv[3]) else 1 - int(sys.argv[1])) "
    'for _ in range(int(sys.argv[2]))]" {input} {size} '
)
app = typer.Typer()
app.command()(audit)


def run(*arguments):
    return CliRunner().invoke(app, list(arguments))


def test_outputs_of_a_command():
    assert command_run(LOUD)(7) == 7
    assert command_run(LOUD)('{"n": [1, 2]}') == {"n": [1, 2]}
    assert command_run(LOUD)("two words") == "two words"
    failing = command_run(f'{sys.executable} -c "import sys; sys.exit(chr(10) + sys.argv[1])" {{input}}')
    assert failing("no") == Raised("exit 1", "no")


def test_many_at_once():
    assert command_run(NOISY + "1")(1, size=3) == [1, 1, 1]
    with pytest.raises(InvalidArgument, match="failed with exit code"):
        command_run(NOISY + "x")(1, size=3)


def test_refuses_a_command_without_input():
    with pytest.raises(InvalidArgument, match="must contain"):
        command_run("prog")


@pytest.mark.statistical
class TestCommandLine:
    """Always the truth is missed as a leak with probability 0; a fair coin refutes ε = 2 with probability < 1e-11."""

    def test_refuted(self, tmp_path):
        page = tmp_path / "report.html"
        seen = run("--command", NOISY + "1", "--inputs", "0", "1", "--epsilon", "1", "--html", str(page))
        assert seen.exit_code == 1
        assert seen.stdout.startswith("REFUTED")
        assert "<svg" in page.read_text(encoding="utf-8")

    def test_not_refuted_as_json(self):
        how = ("--samples", "500", "--confidence", "0.99999999999", "--json")
        seen = run("--command", NOISY + "0.5", "--inputs", "0", "1", "--epsilon", "2", "--delta", "1e-3", *how)
        assert seen.exit_code == 0
        assert json.loads(seen.stdout)["verdict"] == "not refuted"

    def test_not_tested(self):
        seen = run("--command", LOUD + " x", "--inputs", "same ", "same", "--rho", "1", "--samples", "100")
        assert seen.exit_code == 3
        assert "NOT TESTED" in seen.output

    def test_other_measures(self):
        seen = run("--command", NOISY + "1", "--inputs", "0", "1", "--mu", "1", "--samples", "200")
        assert seen.exit_code == 1

    @pytest.mark.parametrize(
        "claim", [(), ("--epsilon", "1", "--rho", "1"), ("--rho", "1", "--delta", "0.1"), ("--epsilon", "x")]
    )
    def test_bad_claims(self, claim):
        seen = run("--command", LOUD, "--inputs", "0", "1", *claim)
        assert seen.exit_code == 2

    def test_a_program_that_does_not_exist(self):
        seen = run("--command", "no_such_program {input} {size}", "--inputs", "0", "1", "--epsilon", "1")
        assert seen.exit_code == 2
