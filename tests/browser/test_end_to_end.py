"""No fake inside: `make up`'s own processes, a scripted model server, a real page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.chromium import sign_in
from tests.pulse import record_figures, shown_of
from tests.scripted import ScriptedServer
from tests.stack import Stack, running
from tests.waiting import wait_for


def add_endpoint(page: Page, stack: Stack, server: ScriptedServer) -> None:
    page.goto(f"{stack.url}/endpoints/add/")
    page.get_by_label("Name").fill("Scripted")
    page.get_by_label("Base URL").fill(server.base_url)
    page.get_by_label("Model", exact=True).fill("scripted")
    page.get_by_role("checkbox", name=re.compile("Chat")).check()
    page.get_by_role("spinbutton", name=re.compile("for Chat")).fill("2")
    page.get_by_role("button", name="Test now").click()
    expect(page.locator("#trial")).to_contain_text("TTFT", timeout=15_000)
    page.get_by_role("button", name="Save").click()
    page.wait_for_url(f"{stack.url}/")


@pytest.mark.timeout(180)
def test_a_probe_is_on_an_open_page_within_two_seconds(
    browser: Browser, tmp_path: Path
):
    tmp_path.chmod(0o755)
    with ScriptedServer() as server, running(tmp_path / "var") as stack:
        page = browser.new_page()
        sign_in(page, stack)
        add_endpoint(page, stack, server)
        page.goto(f"{stack.url}/")
        figures = record_figures(page, "Scripted")
        before = len(server.answers)
        wait_for(lambda: len(server.answers) >= before + 5, timeout_s=30)
        answers = server.answers[before + 1 : before + 5]
        for answer in answers:
            shown = wait_for(lambda answer=answer: shown_of(answer, figures()))
            assert shown.at - answer.last_byte_at < 2, (answer, shown)
        page.close()
