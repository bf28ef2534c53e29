"""Why a monitor is not stable, and what to do: on every page, once it is known."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone
from playwright.sync_api import Locator, Page, expect

from collectors.models import Monitor, Sample
from dashboard import live
from tests.browser.scene import announce, make_watched, say
from tests.factories import make_objective


def tile(page: Page, monitor: Monitor) -> Locator:
    return page.locator(f'[data-monitor="{monitor.pk}"]')


def test_a_reason_shows_on_tile_wall_and_page_and_moves_nothing(open_page):
    monitor = make_watched(state="stable")[0]
    why = "TTFT over 1 s in 3 of the last 5 probes; 2 of the last 5 probes failed"
    pages = [open_page(path) for path in ("/", "/wall")]
    own = open_page(f"/monitors/{monitor.pk}/")
    for page in (*pages, own):
        expect(page.locator("#link")).to_have_text("live")
    height = tile(pages[0], monitor).bounding_box()["height"]
    say(monitor, "failing", why)
    for page in pages:
        expect(tile(page, monitor).locator("[data-why]")).to_have_text(why)
        expect(tile(page, monitor).locator("[data-url]")).to_have_attribute(
            "title", why
        )
    expect(own.locator("#why")).to_have_text(why)
    assert tile(pages[0], monitor).bounding_box()["height"] == height
    say(monitor, "stable")
    expect(own.locator("#why")).to_be_empty()
    expect(tile(pages[0], monitor).locator("[data-why]")).to_be_empty()


def test_new_limits_reach_open_pages_and_broken_ones_are_named(open_page):
    monitor = make_watched(state="stable")[0]
    board, own = open_page(), open_page(f"/monitors/{monitor.pk}/")
    for page in (board, own):
        expect(page.locator("#link")).to_have_text("live")
    lead = tile(board, monitor).locator("[data-lead]")
    expect(lead.locator("[data-bound]")).to_have_text("≤ 1 s")
    expect(own.locator("#gap-column")).to_be_hidden()
    with transaction.atomic():
        make_objective(
            monitor.scenario,
            valid_from=timezone.now(),
            ttft_ms_max=200,
            max_gap_ms_max=300,
        )
        live.changed()
    expect(lead.locator("[data-bound]")).to_have_text("> 200 ms", timeout=3000)
    expect(own.locator("#gap-column")).to_be_visible(timeout=3000)
    announce(monitor, ttft_us=777_000, max_gap_us=301_000)
    newest = own.locator("#samples tr").first
    expect(newest).to_contain_text("TTFT over 200 ms; longest wait over 300 ms")
    expect(newest.locator("[data-breaks]")).to_have_text(["777 ms", "301 ms"])


def test_a_failed_probe_is_followed_by_advice_until_one_is_answered(open_page):
    monitor = make_watched(state="stable")[0]
    page = open_page(f"/monitors/{monitor.pk}/")
    expect(page.locator("#link")).to_have_text("live")
    expect(page.locator("#advice")).to_be_empty()
    announce(monitor, error="auth", http_status=401, ttft_us=None, total_us=None)
    expect(page.locator("#advice")).to_contain_text("none is given")
    announce(monitor)
    expect(page.locator("#advice")).to_be_empty()


def test_a_missed_slot_breaks_the_line(open_page):
    monitor = make_watched(state="stable")[0]
    due = Sample.objects.order_by("-due_at")[20].due_at
    Sample.objects.filter(due_at=due).delete()
    line = tile(open_page(), monitor).locator(".spark .scatterlayer path.js-line")
    expect(line).to_have_count(2)
