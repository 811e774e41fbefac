"""The attacks of the learning corner work without privacy and fail with it; other lessons show what theory says."""

from __future__ import annotations

import pytest

from discreet.service.pages.lessons.choice import choice_lesson
from discreet.service.pages.lessons.clipping import PEOPLE, clipping_lesson
from discreet.service.pages.lessons.differencing import differencing_lesson
from discreet.service.pages.lessons.floats import floats_lesson
from discreet.service.pages.lessons.reconstruction import RHO, reconstruction_lesson
from discreet.service.pages.lessons.sparse import sparse_lesson


def numbers(lesson):
    return [fact.number for fact in lesson.facts]


def share(word):
    return float(word.removesuffix(" %")) / 100


@pytest.mark.statistical
def test_secrets_are_found_without_noise_and_not_with_it():
    """60 bits by 240 counts. At ρ = 500 a bit is wrong with a chance below 1e-30. At ρ = 0.02 the estimate of a bit has a
    deviation above 7, so that at most 33 of 60 guesses are right on average: 58 or more have a chance below 1e-9.
    """
    assert numbers(reconstruction_lesson({"rho": str(len(RHO.values) - 1)}))[2] == "100 %"
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


def test_a_best_bound_rises_with_the_number_of_people():
    best = [
        float(
            numbers(clipping_lesson({"people": str(place)}))[2].replace("\u202f", "").replace("10⁶", "1e6").split()[0]
        )
        for place in range(len(PEOPLE.values) - 1)
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
        assert found <= said <= (1, 2, 3, 5)[alarms] and (int(days) == 60 or said == (1, 2, 3, 5)[alarms])
