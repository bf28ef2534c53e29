"""Pages that stay live: news, breaks, and what is shown when nothing comes."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, Route, expect

from dashboard import payloads
from tests.browser.scene import announce, make_gap, make_watched, say


def tile(page: Page, monitor) -> object:
    return page.locator(f'[data-monitor="{monitor.pk}"]')


def test_a_new_sample_shows_without_a_reload(open_page):
    monitor = make_watched()[0]
    page = open_page()
    expect(page.locator("#link")).to_have_text("live")
    page.evaluate("window.stillTheSamePage = true")
    announce(monitor, ttft_us=777_000)
    expect(tile(page, monitor).locator("[data-lead]")).to_contain_text(
        "777 ms", timeout=2000
    )
    assert page.evaluate("window.stillTheSamePage")


def test_a_sparkline_moves_with_a_new_sample(open_page):
    monitor = make_watched(state="stable")[0]
    page = open_page()
    line = tile(page, monitor).locator(".spark .scatterlayer path.js-line")
    expect(line).to_have_count(1)
    before = line.get_attribute("d")
    announce(monitor, ttft_us=2_000_000)
    expect(line).not_to_have_attribute("d", before)


def test_a_failing_monitor_moves_to_the_front_and_others_stay(open_page):
    monitors = make_watched(4, state="stable")
    page = open_page()
    names = page.locator("#tiles [data-endpoint]")
    expect(page.locator("#link")).to_have_text("live")
    before = names.all_text_contents()
    last = next(m for m in monitors if m.endpoint.name == before[-1])
    say(last, "failing")
    expect(names.first).to_have_text(before[-1])
    assert names.all_text_contents() == [before[-1], *before[:-1]]
    expect(tile(page, last).locator(".word")).to_have_text("failing")
    expect(page).to_have_title(re.compile(r"^\(1 failing\)"))


def test_monitors_come_and_go_without_a_reload(open_page):
    gone, stays = make_watched(2, state="stable")
    page = open_page()
    expect(page.locator("[data-tile]")).to_have_count(2)
    expect(page.locator("#link")).to_have_text("live")
    gone.delete()
    new = make_watched(1, state="failing", first=2)[0]
    announce(new)
    expect(tile(page, gone)).to_have_count(0)
    expect(tile(page, new).locator(".spark .main-svg").first).to_be_visible()
    expect(page.locator("[data-tile]").first).to_have_attribute(
        "data-monitor", str(new.pk)
    )
    expect(tile(page, stays)).to_have_count(1)


def test_an_error_is_named_in_words(open_page):
    monitor = make_watched()[0]
    page = open_page()
    expect(page.locator("#link")).to_have_text("live")
    announce(monitor, error="auth", ttft_us=None, total_us=None)
    expect(tile(page, monitor).locator("[data-lead]")).to_contain_text("key refused")


def test_without_sockets_a_page_asks_again_and_again(open_page):
    monitor = make_watched()[0]
    page = open_page("/scenarios/")
    page.route_web_socket(re.compile("/live/"), lambda socket: socket.close())
    page.goto("/")
    expect(page.locator("#link")).to_have_text(
        "no live connection, asking every 5 s", timeout=10_000
    )
    announce(monitor, ttft_us=777_000)
    expect(tile(page, monitor).locator("[data-lead]")).to_contain_text(
        "777 ms", timeout=10_000
    )


def test_a_break_is_healed_by_asking_for_what_was_missed(open_page):
    monitor = make_watched()[0]
    sockets = []
    page = open_page("/scenarios/", tolerate="ERR_FAILED")
    page.route_web_socket(
        re.compile("/live/"),
        lambda socket: sockets.append((socket, socket.connect_to_server())),
    )
    page.goto("/")
    expect(page.locator("#link")).to_have_text("live")
    block_socket = True

    def again(socket):
        nonlocal block_socket
        if block_socket:
            socket.close()
        else:
            socket.connect_to_server()

    page.route_web_socket(re.compile("/live/"), again)
    page.route("**/api/snapshot", lambda route: route.abort())
    sockets[0][0].close()
    expect(page.locator("#link")).to_have_text("no connection", timeout=20_000)
    announce(monitor, ttft_us=777_000)
    page.unroute("**/api/snapshot")
    block_socket = False
    expect(page.locator("#link")).to_have_text("live", timeout=30_000)
    expect(tile(page, monitor).locator("[data-lead]")).to_contain_text("777 ms")


def test_a_dead_server_turns_the_wall_stale_and_a_new_one_heals_it(open_page, server):
    make_watched(6, state="stable")
    page = open_page(
        "/wall", width=1920, height=1080, tolerate="ERR_CONNECTION_REFUSED"
    )
    expect(page.locator("#link")).to_have_text("live")
    green = page.locator(".word").first.evaluate("e => getComputedStyle(e).color")
    server.kill()
    try:
        expect(page.locator("#stale")).to_contain_text(
            "No connection since", timeout=20_000
        )
        colours = page.locator(".shape, .word").evaluate_all(
            "all => all.map(e => getComputedStyle(e).color)"
        )
        assert green not in colours
        assert len(set(colours)) <= 2, "one neutral colour for words and shapes"
    finally:
        server.start()
    expect(page.locator("#stale")).to_be_hidden(timeout=30_000)
    expect(page.locator("#link")).to_have_text("live", timeout=30_000)
    assert (
        page.locator(".word").first.evaluate("e => getComputedStyle(e).color") == green
    )


def test_a_tile_that_got_no_sample_for_long_does_not_look_stable(open_page):
    """The scheduler is dead: nobody is there to change the server's word."""
    monitor = make_watched(state="stable", age_s=300)[0]
    page = open_page()
    card = tile(page, monitor)
    expect(card.locator(".word")).to_have_text("not enough data")
    expect(card).to_have_attribute("data-state", "no_data")
    expect(card.locator("[data-age]")).to_have_text(re.compile("^5 min ago"))


def test_another_version_of_the_server_reloads_the_page(open_page):
    make_watched()
    page = open_page()
    expect(page.locator("#link")).to_have_text("live")
    page.evaluate("window.stillTheSamePage = true")

    def newer(route: Route) -> None:
        answer = route.fetch()
        route.fulfill(json={**answer.json(), "v": payloads.VERSION + 1})

    page.route("**/api/snapshot", newer, times=1)
    with page.expect_navigation():
        page.evaluate("dispatchEvent(new Event('online'))")
    assert not page.evaluate("window.stillTheSamePage")


def test_a_session_that_ended_leads_to_the_sign_in(open_page):
    make_watched()
    page = open_page()
    expect(page.locator("#link")).to_have_text("live")
    page.context.clear_cookies()
    page.evaluate("dispatchEvent(new Event('online'))")
    expect(page).to_have_url(re.compile(r"/login/\?next=/"))


def test_a_monitors_chart_grows_and_its_table_names_the_error(open_page):
    monitor = make_watched(samples=80)[0]
    page = open_page(f"/monitors/{monitor.pk}/?range=15m")
    expect(page.locator("#samples tr")).to_have_count(50)
    announce(monitor, ttft_us=777_000)
    expect(page.locator("#samples tr").first).to_contain_text("777 ms")
    expect(page.locator('[data-chart="ttft_ms"] [data-caption]')).to_contain_text(
        "Last 777 ms"
    )
    announce(monitor, error="rate_limited", error_text="try later", http_status=429)
    expect(page.locator("#samples tr").first).to_contain_text(
        "rate limited (429) · HTTP 429 · try later"
    )
    say(monitor, "degrading")
    expect(page.locator("#state")).to_contain_text("degrading")


def test_a_chart_shows_gaps_limits_and_its_data(open_page):
    monitor = make_watched(state="failing")[0]
    make_gap(monitor, minutes=20)
    page = open_page(f"/monitors/{monitor.pk}/?range=1h")
    chart = page.locator('[data-chart="ttft_ms"]')
    expect(chart.locator(".annotation-text")).to_have_text(
        ["no worker finished the probe", "limit ≤ 1 s"]
    )
    expect(chart.locator(".shapelayer path")).to_have_count(1)
    expect(chart.locator("[data-caption]")).to_contain_text("120 missed")
    chart.get_by_text("Show data").click()
    expect(chart.locator("[data-rows] tr")).not_to_have_count(0)
    page.get_by_role("link", name="6 h").click()
    expect(page).to_have_url(re.compile(r"\?range=6h$"))
    expect(page.get_by_role("link", name="6 h")).to_have_attribute(
        "aria-current", "true"
    )


@pytest.mark.parametrize("zone", ["America/Los_Angeles", "Asia/Kolkata"])
def test_time_is_the_readers_on_axis_table_and_clock(open_page, zone):
    monitor = make_watched()[0]
    page = open_page(f"/monitors/{monitor.pk}/?range=15m", zone=zone)
    cell = page.locator("#samples th").first
    expect(cell).to_be_visible()
    here = page.evaluate("new Date().toLocaleString('sv-SE').slice(0, 13)")
    assert cell.text_content()[:13] == here
    ticks = page.locator('[data-chart="ttft_ms"] .xtick text').all_text_contents()
    assert {tick[:2] for tick in ticks} & {here[11:13]}
