"""What a page says of a test that could not even be sent."""

from __future__ import annotations

import os

import redis
from playwright.sync_api import expect

from tests.browser.scene import make_watched

PAUSE_MS = 5000  # longer than a test waits for Valkey


def test_a_test_without_valkey_says_so_on_the_page(open_page):
    [monitor] = make_watched()
    page = open_page(f"/monitors/{monitor.pk}/", tolerate="503")
    with redis.from_url(os.environ["REDIS_URL"]) as broker:
        broker.client_pause(PAUSE_MS)
        page.get_by_role("button", name="Test now").click()
        expect(page.locator("#trial-told")).to_contain_text("Valkey does not answer")
        expect(page.get_by_role("button", name="Test now")).to_be_enabled()
        broker.ping()  # answers when the pause is over: the next test wants it
