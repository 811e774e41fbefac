import math
from fractions import Fraction

from discreet.privacy.explain.why import Row, Why


def test_the_least_wins_and_of_equals_the_simplest():
    why = Why(Fraction(1, 100), (Row("basic", 2.0, "a"), Row("zCDP", 1.0, "b"), Row("Rényi", 1.0, "c")))
    assert why.winner.method == "zCDP"
    assert [line[0] for line in repr(why).splitlines()] == ["ε", " ", "→", " "]


def test_numbers_are_printed_upwards():
    rows = (Row("basic", 0.1 + 0.2, "a"), Row("zCDP", math.inf, "b"), Row("Rényi", 0.4, "c"))
    text = repr(Why(Fraction(1, 3), rows))
    assert "0.300001" in text
    assert " inf " in text
    assert " 0.4 " in text
    assert "0.3334" in text
