"""From a model server's last byte to a figure on the screen, with no fake between."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.scripted import ScriptedServer
from tests.stack import Stack, running
from tests.waiting import wait_for

WATCH = """selector => {
    const lead = document.querySelector(selector);
    window.shown = [];
    new MutationObserver(() => shown.push([lead.textContent, Date.now()]))
        .observe(lead, {subtree: true, childList: true, characterData: true});
}"""


@pytest.fixture
def stack(tmp_path: Path):
    tmp_path.chmod(0o755)
    with running(tmp_path / "var") as stack:
        yield stack
        print((tmp_path / "var/log/worker.log").read_text())


@pytest.fixture
def page(browser: Browser, stack: Stack):
    context = browser.new_context(base_url=stack.url)
    page = context.new_page()
    page.goto("/")
    page.get_by_label("Username").fill("demo")
    page.get_by_label("Password").fill(stack.password)
    page.get_by_role("button", name="Sign in").click()
    yield page
    context.close()


def fill(page: Page, *, base_url: str, model: str) -> None:
    page.get_by_label("Base URL").fill(base_url)
    page.get_by_label("Model").fill(model)


def told_after_test(page: Page) -> str:
    page.get_by_role("button", name="Test now").click()
    expect(page.get_by_role("button", name="Test now")).to_be_enabled(timeout=30_000)
    return page.locator("#trial-told").inner_text()


@pytest.mark.timeout(240)
def test_an_endpoint_is_added_tried_saved_and_seen_live(page: Page, stack: Stack):
    simulator = stack.sql("SELECT base_url FROM collectors_endpoint LIMIT 1")[0][0]
    with ScriptedServer() as server:
        page.goto("/endpoints/add/")
        page.get_by_label("Name", exact=True).fill("Scripted")
        fill(page, base_url="http://127.0.0.1:1/v1", model="scripted")
        assert "Nothing answers at http://127.0.0.1:1/v1" in told_after_test(page)
        fill(page, base_url=simulator, model="no-such-model")
        assert "does not serve no-such-model" in told_after_test(page)

        fill(page, base_url=server.base_url, model="scripted")
        assert told_after_test(page) == "scripted answered."
        expect(page.locator("#trial-figures")).to_contain_text(
            re.compile(r"TTFT\d+ ms")
        )
        expect(page.locator("#trial-chart .scatterlayer .trace")).to_have_count(1)

        page.get_by_role("checkbox", name="Chat").check()
        page.get_by_role("spinbutton", name="for Chat").fill("2")
        page.get_by_role("button", name="Save").click()
        expect(page.locator(".notice")).to_contain_text("is now probed")
        card = page.locator("[data-tile]", has_text="Scripted")
        expect(card.locator("[data-lead]")).to_contain_text("ms", timeout=20_000)
        monitor = card.get_attribute("data-monitor")
        page.evaluate(WATCH, f'[data-monitor="{monitor}"] [data-lead]')
        wait_for(lambda: len(page.evaluate("window.shown")) >= 5, timeout_s=60)
        delays_s = delays(page.evaluate("window.shown"), server)
    assert len(delays_s) >= 4
    assert max(delays_s) < 2
    print(f"last byte to screen: {sorted(round(d, 3) for d in delays_s)} s")


def delays(shown: list[tuple[str, int]], server: ScriptedServer) -> list[float]:
    """Seconds from each answer's last byte until its figure was on the screen.

    Each answer was slower than the one before, so that its figure tells which it is.
    """
    found: dict[float, float] = {}
    for text, at_ms in shown:
        if number := re.match(r"(\d+) ms", text.replace("\n", " ").strip()):
            ttft_ms = float(number[1])
            answer = min(server.answers, key=lambda a: abs(a.ttft_ms - ttft_ms))
            if abs(answer.ttft_ms - ttft_ms) < 10:
                found.setdefault(answer.ttft_ms, at_ms / 1000 - answer.last_byte_at)
    return list(found.values())
