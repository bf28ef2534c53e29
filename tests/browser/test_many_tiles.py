"""Two hundred monitors on one page, with news all the time."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.scene import announce, make_watched

MONITORS = 200
# How long the page could not answer, at worst, in each stretch that was too long.
WATCH_FRAMES = """() => {
    window.longest = 0;
    new PerformanceObserver(list => {
        for (const {duration} of list.getEntries())
            longest = Math.max(longest, duration);
    }).observe({type: 'longtask'});
}"""


def test_two_hundred_tiles_stay_smooth(open_page):
    monitors = make_watched(MONITORS, samples=60, state="stable")
    page = open_page("/", width=1920, height=1080)
    expect(page.locator("#link")).to_have_text("live")
    expect(page.locator(".spark .main-svg").first).to_be_visible()
    drawn = page.locator(".spark .main-svg").count()
    assert drawn < MONITORS * 2, "only what is seen is drawn"
    page.evaluate(WATCH_FRAMES)
    for monitor in monitors:
        announce(monitor, ttft_us=777_000)
    chat = page.locator("[data-tile]", has_text="Chat")
    expect(chat.locator("[data-lead]", has_text="777 ms")).to_have_count(
        chat.count(), timeout=15_000
    )
    longest_ms = page.evaluate("window.longest")
    print(f"longest task {longest_ms:.0f} ms, {drawn} drawings for {MONITORS} tiles")
    assert longest_ms < 500, (
        "nobody waits that long for a click, even on a busy machine"
    )
