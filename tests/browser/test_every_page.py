"""What holds on every page: accessible, in both themes, on a phone and by keyboard."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.scene import make_gap, make_watched

AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text()
PAGES = (
    "/",
    "/wall",
    "/monitors/{monitor}/",
    "/monitors/{monitor}/delete",
    "/endpoints/",
    "/endpoints/add/",
    "/endpoints/{endpoint}/",
    "/endpoints/{endpoint}/delete",
    "/scenarios/",
    "/scenarios/chat/",
    "/nothing/",
)


@pytest.fixture
def addresses(transactional_db) -> list[str]:
    monitor = make_watched(6)[1]
    make_gap(monitor, minutes=20)
    keys = {"monitor": monitor.pk, "endpoint": monitor.endpoint_id}
    return [page.format(**keys) for page in PAGES]


def ready(page: Page) -> None:
    """Live pages have their first figures."""
    if page.locator("#link").count():
        expect(page.locator("#link")).to_have_text("live")
        expect(page.get_by_text("loading", exact=True)).to_have_count(0)


def violations(page: Page) -> list[str]:
    # Not `add_script_tag`: the page's policy forbids it and shall not be loosened.
    page.evaluate(AXE)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    assert len(found["passes"]) > 5
    return [
        f"{page.url} {rule['id']}: {node['html'][:200]} {node['failureSummary']}"
        for rule in found["violations"]
        for node in rule["nodes"]
    ]


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_axe_finds_nothing(open_page, addresses, theme):
    page = open_page("/", theme=theme, tolerate="404 (Not Found)")
    found = []
    for address in addresses:
        query = f"?theme={theme}" if address == "/wall" else ""
        page.goto(address + query)
        ready(page)
        found += violations(page)
    page.context.clear_cookies()
    page.goto("/login/")
    found += violations(page)
    assert not found, "\n".join(found)


def test_axe_finds_nothing_on_an_empty_or_a_wrong_page(open_page):
    page = open_page("/", tolerate="400 (Bad Request)")
    expect(page.get_by_role("heading", name="Nothing is watched yet")).to_be_visible()
    found = violations(page)
    page.goto("/endpoints/add/")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_be_visible()
    assert not (found + violations(page))


def test_no_page_is_wider_than_a_phone(open_page, addresses):
    page = open_page("/", width=390, height=844, tolerate="404 (Not Found)")
    for address in addresses:
        page.goto(address)
        ready(page)
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= 390, address


def test_a_theme_is_chosen_and_kept(open_page):
    page = open_page("/scenarios/", theme="dark")
    root = page.locator("html")
    expect(root).to_have_attribute("data-theme", "dark")
    page.get_by_role("button", name="Theme: dark").click()
    expect(root).to_have_attribute("data-theme", "light")
    expect(page.get_by_role("button", name="Theme: light")).to_be_visible()
    page.reload()
    expect(root).to_have_attribute("data-theme", "light")


def test_charts_follow_the_theme(open_page, addresses):
    page = open_page(addresses[2])
    grid = page.locator("[data-chart] .xgrid").first
    expect(grid).to_be_attached()
    before = grid.evaluate("e => e.style.stroke")
    page.get_by_role("button", name="Theme").click()
    expect(grid).not_to_have_css("stroke", before)


def test_the_way_from_the_sign_in_to_a_monitor_needs_no_mouse(open_page, addresses):
    page = open_page("/scenarios/")
    page.context.clear_cookies()
    page.goto("/")
    expect(page.get_by_label("Username")).to_be_focused()
    page.keyboard.type("demo")
    page.keyboard.press("Tab")
    page.keyboard.type("demo-password")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    ready(page)
    page.keyboard.press("Tab")
    expect(page.get_by_text("Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("!!document.activeElement.closest('[data-tile]')"):
            break
    first = page.locator("[data-tile]").first
    expect(first).to_have_attribute("data-state", "failing")
    outline = first.evaluate("e => getComputedStyle(e).outlineStyle")
    assert outline == "solid", "what has the focus is seen to have it"
    page.keyboard.press("Enter")
    expect(page.locator("#state")).to_contain_text("failing")


def test_tiles_are_filtered_by_keyboard_and_the_address_keeps_it(open_page):
    make_watched(6)
    page = open_page("/")
    ready(page)
    shown = page.locator("[data-tile]:visible")
    expect(shown).to_have_count(6)
    page.get_by_role("radio", name="all").focus()
    page.keyboard.press("ArrowRight")
    expect(shown).to_have_count(1)
    assert page.url.endswith("?state=failing")
    page.reload()
    expect(shown).to_have_count(1)
    page.get_by_role("button", name="Clear").press("Enter")
    expect(shown).to_have_count(6)
    expect(page.get_by_role("button", name="Clear")).to_be_hidden()
    page.get_by_label("Scenario").select_option("Chat")
    expect(shown).to_have_count(2)
    page.get_by_role("radio", name="stable").check(force=True)
    expect(page.get_by_text("No monitor matches this filter.")).to_be_visible()
