"""The attacks of the learning corner work without privacy and fail with it; other lessons show what theory says."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.lessons.attacks import (
    RECONSTRUCTION_RHO,
    differencing_lesson,
    floats_lesson,
    linkage_lesson,
    membership_lesson,
    reconstruction_lesson,
)
from discreet.lessons.many_answers import filters_lesson, sparse_lesson
from discreet.lessons.one_answer import (
    CLIPPED_PEOPLE,
    TABLE,
    choice_lesson,
    clipping_lesson,
    neighbours_lesson,
    process,
    processing_lesson,
)


def numbers(lesson):
    return [fact.number for fact in lesson.facts]


def share(word):
    return float(word.removesuffix(" %")) / 100


@pytest.mark.statistical
def test_secrets_are_found_without_noise_and_not_with_it():
    """60 bits by 240 counts. At ρ = 500 a bit is wrong with a chance below 1e-30. At ρ = 0.02 the estimate of a bit has a
    deviation above 7, so that at most 33 of 60 guesses are right on average: 58 or more have a chance below 1e-9.
    """
    assert (
        numbers(reconstruction_lesson({"rho": str(len(RECONSTRUCTION_RHO.values) - 1)}))[2]
        == "100 %"
    )
    assert share(numbers(reconstruction_lesson({"rho": "0"}))[2]) < 58 / 60


@pytest.mark.statistical
def test_floats_of_a_textbook_tell_and_whole_steps_do_not():
    """Of 4,000 results about 1,500 have a digit that the other number cannot have: fewer than 200 have a chance of 1e-100."""
    assert numbers(floats_lesson({}))[2] == "broken"
    assert numbers(floats_lesson({"sampler": "1"}))[2] == "kept"


@pytest.mark.statistical
def test_differences_are_guessed_no_better_than_promised():
    """2,000 tries, true chance of 56 %: seven deviations are 8 points, chance below 1e-11."""
    exact, most, found = map(share, numbers(differencing_lesson({})))
    assert exact == 1 and most == 0.731 and 0.48 < found < 0.64


@pytest.mark.statistical
def test_members_are_named_by_exact_shares_and_not_by_noisy_ones():
    """Exact shares are always the same: two thousand of them name nearly all. At ρ = 0.02 a score is moved by 0.1 of its
    deviation, so that each of 200 is named with about 6 %, given the noise: 60 or more have a chance below 1e-20.
    """
    assert share(numbers(membership_lesson({"means": "3"}))[0]) > 0.9
    assert share(numbers(membership_lesson({"means": "3", "rho": "0"}))[0]) < 0.3


def test_coarser_columns_hide_more_people():
    alone = [share(numbers(linkage_lesson({"birth": str(place)}))[0]) for place in range(4)]
    assert alone == sorted(alone, reverse=True) and alone[0] > 0.9 and alone[3] == 0


def test_a_person_with_many_rows_is_promised_less_unless_the_person_is_the_unit():
    row, person = (numbers(neighbours_lesson({"rows": "4", "unit": unit})) for unit in "01")
    assert (row[0], person[0]) == ("ε = 10", "ε = 1") and int(row[1][2:]) < int(person[1][2:])
    replaced = neighbours_lesson({"relation": "1"}).facts[3]
    assert replaced.number == "0 and 40" and "public" in replaced.words


@pytest.mark.statistical
def test_what_comes_after_costs_nothing_and_helps():
    """Mean errors of 16,000 counts at ε = 0.05, noise of mean size 20: cutting off at 0 saves about 7, its deviation is 0.2."""
    for step in ("1", "2"):
        told, made = (
            float(word[2:])
            for word in numbers(processing_lesson({"epsilon": "0", "step": step}))[1:]
        )
        assert made < told
    tables = np.random.default_rng(0).normal(TABLE, 30, (500, len(TABLE)))
    made = process(tables, 2)
    assert made.min() >= 0 and np.allclose(made.sum(axis=1), TABLE.sum())
    assert (
        np.linalg.norm(made - TABLE, axis=1) <= np.linalg.norm(tables - TABLE, axis=1) + 1e-9
    ).all()  # a projection


def test_filters_admit_what_the_documents_say():
    assert numbers(filters_lesson({}))[:2] == ["100", "560"]


def test_a_best_bound_rises_with_the_number_of_people():
    best = [
        float(
            numbers(clipping_lesson({"people": str(place)}))[2]
            .replace("\u202f", "")
            .replace("10⁶", "1e6")
            .split()[0]
        )
        for place in range(len(CLIPPED_PEOPLE.values) - 1)
    ]
    assert best == sorted(best) and best[0] < best[-1]


def test_permute_and_flip_names_the_winner_at_least_as_often():
    for place in range(6):
        exponential, flipped, _ = numbers(choice_lesson({"lead": str(place)}))
        assert share(flipped) >= share(exponential)
    assert choice_lesson({}).table[1][0] == "Ana"


def test_a_watch_stops_when_its_alarms_are_used_up():
    for alarms in range(4):
        days, _, told = numbers(sparse_lesson({"alarms": str(alarms), "epsilon": "4"}))
        found, said = map(int, told.split(" of "))
        assert found <= said <= (1, 2, 3, 5)[alarms] and (
            int(days) == 60 or said == (1, 2, 3, 5)[alarms]
        )
