"""The room stands alone: on a device there is no engine, no command line, no scipy.stats."""

import subprocess
import sys

import pytest

from discreet.errors import InvalidArgument
from discreet.local import FrequencyQuestion, MeanQuestion, compare_trust
from discreet.privacy.measures import ZCDP, ApproxDP, PureDP

ALONE = """
import sys
BLOCKED = {"duckdb", "sqlglot", "typer", "rich", "pandas", "polars", "pyarrow", "starlette", "httpx"}

class Gate:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in BLOCKED or name.startswith("scipy.stats"):
            raise ModuleNotFoundError(f"{name} is not on this device")

sys.meta_path.insert(0, Gate())
import discreet.local as local
assert not any(name == "scipy" or name.startswith("scipy.") for name in sys.modules), "scipy at import"
rooms = {name.split(".")[1] for name in sys.modules if name.startswith("discreet.") and name.count(".") >= 1}
assert rooms <= {"local", "noise", "mechanisms", "privacy", "arithmetic", "show", "optional", "errors", "lazy", "frozen"}, rooms
from discreet.privacy import PureDP
choice = local.Choice(["a", "b", "c"], PureDP(1))
choice.estimate([choice.randomize("a") for _ in range(50)])
number = local.Number(0, 1, PureDP(1))
number.estimate(number.randomize([0.1, 0.2]))
choice.shuffled(100).epsilon(delta=1e-6)
"""


def test_stands_alone():
    subprocess.run([sys.executable, "-c", ALONE], check=True, timeout=120)


class TestTrust:
    """Trust pays: the curator's noise is smallest, nobody's the largest."""

    @pytest.mark.parametrize("question", [FrequencyQuestion(2), MeanQuestion(0, 100)])
    def test_order(self, question):
        table = compare_trust(question, ApproxDP(1, 1e-6), 150)
        assert table["central"] < table["shuffled"] < table["local"]
        assert "a shuffler" in str(table) and "<td>central</td>" in table._repr_html_()

    def test_without_delta_a_shuffler_hides_nothing(self):
        table = compare_trust(FrequencyQuestion(3), PureDP(1), 400)
        assert table["shuffled"] == table["local"]

    def test_refusals(self):
        for question, spend, n in (
            ("count", PureDP(1), 10),
            (FrequencyQuestion(2), ZCDP(1), 10),
            (FrequencyQuestion(2), PureDP(1), 1),
        ):
            with pytest.raises(InvalidArgument):
                compare_trust(question, spend, n)
