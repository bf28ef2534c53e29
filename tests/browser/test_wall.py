"""The wall fills its screen, whatever is on it, and can be read from afar."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.scene import make_watched

SMALLEST_TEXT = """() => Math.min(...[...document.querySelectorAll('main *')]
    .filter(e => e.checkVisibility() && !e.closest('svg') && !e.closest('.unseen')
        && [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()))
    .map(e => parseFloat(getComputedStyle(e).fontSize)))"""
OVERFLOW = """() => [...document.querySelectorAll('[data-tile]')]
    .filter(e => e.checkVisibility())
    .filter(e => { const r = e.getBoundingClientRect();
        return r.bottom > innerHeight || r.right > innerWidth
            || e.scrollHeight > e.clientHeight + 1; }).length"""


def fills(page) -> bool:
    size = page.evaluate(
        "[document.documentElement.scrollHeight - innerHeight,"
        " document.documentElement.scrollWidth - innerWidth]"
    )
    return size == [0, 0]


@pytest.mark.parametrize("monitors", [1, 5, 12, 24])
@pytest.mark.parametrize("size", [(1920, 1080), (1080, 1920), (3840, 2160)], ids=str)
def test_the_wall_never_scrolls_and_cuts_nothing_off(open_page, monitors, size):
    make_watched(monitors, samples=5)
    page = open_page("/wall", width=size[0], height=size[1])
    expect(page.locator("#link")).to_have_text("live")
    expect(page.locator("[data-tile]:visible")).to_have_count(monitors)
    expect(page.locator(".spark .main-svg").first).to_be_visible()
    assert fills(page)
    assert page.evaluate(OVERFLOW) == 0


def test_text_of_twelve_tiles_is_read_from_five_metres(open_page):
    make_watched(12, samples=5)
    page = open_page("/wall", width=1920, height=1080)
    expect(page.locator("#link")).to_have_text("live")
    expect(page.locator(".spark .main-svg").first).to_be_visible()
    assert page.evaluate(SMALLEST_TEXT) >= 23.5


def test_more_tiles_than_fit_take_turns_and_failing_ones_stay(open_page):
    make_watched(36, samples=2)
    page = open_page("/wall", width=1920, height=1080)
    expect(page.locator("#page-of")).to_have_text("page 1 of 2", timeout=20_000)
    failing = "[data-tile][data-state=failing]:visible"
    expect(page.locator("[data-tile]:visible")).to_have_count(24)
    expect(page.locator(failing)).to_have_count(6)
    first = set(page.locator("[data-tile]:visible").evaluate_all(IDS))
    expect(page.locator("#page-of")).to_have_text("page 2 of 2", timeout=20_000)
    expect(page.locator(failing)).to_have_count(6)
    second = set(page.locator("[data-tile]:visible").evaluate_all(IDS))
    assert len(first | second) == 36
    assert fills(page)


IDS = "all => all.map(e => e.dataset.monitor)"


def test_the_frame_and_the_title_tell_the_worst_state(open_page):
    make_watched(6, samples=2)
    page = open_page("/wall", width=1920, height=1080)
    expect(page.locator("#wall")).to_have_attribute("data-worst", "failing")
    expect(page).to_have_title("(1 failing) Wall – TokenPulse")


def test_the_wall_is_dark_unless_it_is_asked_for_light(open_page):
    page = open_page("/wall", theme="light")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.goto("/wall?theme=light")
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
