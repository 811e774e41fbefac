"""The learning corner: open to all, moved by the keyboard, and its numbers are right."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from discreet.lessons.routes import LESSONS

from .test_looks import look


def facts(page, lesson):
    return page.locator(f"#{lesson}-shown dd").all_inner_texts()


def test_sliders_move_pictures_and_numbers(town, window):
    page = window()
    page.goto(f"{town.url}/learn")
    expect(page.get_by_role("link", name="Sign in")).to_be_visible()
    assert facts(page, "noise") == ["± 6", "× 1.65", "62.3 %"]
    page.get_by_label("Budget for this answer").focus()
    page.keyboard.press("End")
    expect(page.locator("#noise output")).to_have_text("ε = 5")
    expect(page.locator("#noise-shown dd").first).to_have_text("± 0")

    page.get_by_label("Number of questions").focus()
    page.keyboard.press("Home")
    expect(page.locator("#sum-shown dd").first).to_have_text("ε = 0.2")
    basic, advanced, tightest = (float(word.removeprefix("ε = ")) for word in facts(page, "sum"))
    assert (
        tightest <= basic < advanced
    )  # for two questions the advanced rule asks more than the plain sum


def test_curve_says_what_theory_says(town, window):
    page = window()
    page.goto(f"{town.url}/learn?lesson=curve&spread=2")  # σ = 1
    page.get_by_text("The numbers").first.click()
    first = page.locator("#curve-shown tbody tr").first.locator("td").all_inner_texts()
    assert first == ["0", "0.507", "0.383"]  # 1 − e^(−√2/2) and 2Φ(1/2) − 1, rounded up
    expect(page.locator("#curve-shown dd").first).to_have_text("ε = 1.42")  # √2, rounded up


@pytest.mark.statistical
def test_randomized_response_draws_anew(town, window):
    """Of 10,000 answers at ε = 1 the estimate has a deviation of 0.0096: 0.07 off is 7.2 of them, chance below 1e-12."""
    page = window()
    page.goto(f"{town.url}/learn")
    assert facts(page, "response")[0] == "73.1 %"
    page.get_by_label("People asked").focus()
    page.keyboard.press("End")
    expect(page.locator("#response output").last).to_have_text("n = 10\u202f000")
    expect(page.locator("#response-shown circle")).to_have_count(101)
    page.goto(f"{town.url}/learn?lesson=response&people=4")
    assert abs(float(facts(page, "response")[2].removesuffix(" %")) - 30) < 7


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(LESSONS))
def test_every_lesson_at_every_end_of_its_dials(town, window, axe, name):
    """On a desk and on a phone, in light and in dark, as its link would show it to somebody without a script."""
    page = window(bypass_csp=True)
    for place in ("0", "999"):
        asked = "&".join(f"{slide.name}={place}" for slide in LESSONS[name]({}).slides)
        page.goto(f"{town.url}/learn?lesson={name}&{asked}#{name}")
        spoken = [
            slide.spoken
            for slide in LESSONS[name](
                dict.fromkeys(asked.replace("=" + place, "").split("&"), place)
            ).slides
        ]
        assert page.locator(f"#{name} output").all_inner_texts() == spoken
        look(page, axe, f"lesson-{name}-{place}", within=f"#{name}")
