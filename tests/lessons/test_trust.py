"""The lesson on trust shows what `compare_trust` says, at every place of its sliders."""

from __future__ import annotations

import pytest

from discreet.lessons.trust_models import BUDGET, PEOPLE, QUESTIONS, TRUST, cell_of, trust_lesson

QUICK = [("10", 100, "2"), ("1000", 100, "4"), ("mean", 10_000, "4")]
LONG = [pytest.param(cell, marks=pytest.mark.slow) for cell in sorted(set(TRUST) - set(QUICK))]


@pytest.mark.parametrize("cell", [*QUICK, *LONG])
def test_the_table_is_what_is_computed(cell):
    made = cell_of(*cell)
    assert TRUST[cell] == pytest.approx(
        (made.rows[1][2], *(made[m] for m in ("local", "shuffled", "central"))), rel=1e-3
    )


def test_less_trust_costs_more_and_every_place_is_there():
    assert len(TRUST) == len(QUESTIONS) * len(PEOPLE.values) * len(BUDGET.values)
    for _, local, shuffled, central in TRUST.values():
        assert central <= shuffled <= local


def test_the_lesson_reads_its_sliders_from_the_address():
    shown = trust_lesson({"question": "1", "n": "0", "e": "3"})
    assert [slide.spoken for slide in shown.slides] == [
        "the share of one of 10 answers",
        "n = 100",
        "ε = 4",
    ]
    assert [fact.number for fact in shown.facts] == ["± 0.0148", "± 0.013", "± 0.00708"]
    assert len(shown.table) == 6 and "nan" not in shown.picture
