import math
from fractions import Fraction

from discreet.privacy.explain.why import MethodPrice, Why


def test_the_least_wins_and_of_equals_the_simplest():
    why = Why(
        Fraction(1, 100),
        (
            MethodPrice("basic", 2.0, "a"),
            MethodPrice("zCDP", 1.0, "b"),
            MethodPrice("Rényi", 1.0, "c"),
        ),
    )
    assert why.winner.method == "zCDP"
    assert [line[0] for line in repr(why).splitlines()] == ["ε", " ", "→", " "]


def test_numbers_are_printed_upwards():
    rows = (
        MethodPrice("basic", 0.1 + 0.2, "a"),
        MethodPrice("zCDP", math.inf, "b"),
        MethodPrice("Rényi", 0.4, "c"),
    )
    text = repr(Why(Fraction(1, 3), rows))
    assert "0.300001" in text
    assert " inf " in text
    assert " 0.4 " in text
    assert "0.3334" in text
