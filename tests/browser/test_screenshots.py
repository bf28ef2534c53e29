"""The pictures in the README; ``TOKENPULSE_SCREENSHOTS=1`` takes them anew."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.scene import make_watched

IMAGES = Path(__file__).parents[2] / "docs" / "images"
PICTURES = [
    ("overview-dark", "/", "dark"),
    ("overview-light", "/", "light"),
    ("wall-dark", "/wall", "dark"),
    ("monitor-dark", "/monitors/{monitor}/?range=15m", "dark"),
]


@pytest.mark.skipif(
    not os.environ.get("TOKENPULSE_SCREENSHOTS"), reason="only where it is asked for"
)
@pytest.mark.parametrize(("name", "address", "theme"), PICTURES)
def test_picture(open_page, name, address, theme):
    monitors = make_watched(10, samples=90)
    path = address.format(monitor=monitors[0].pk)
    page = open_page(path, width=1440, height=900, theme=theme)
    expect(page.locator("#link")).to_have_text("live")
    for plot in page.locator(".spark:visible, .plot:visible").all():
        expect(plot.locator(".main-svg").first).to_be_visible()
    IMAGES.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=IMAGES / f"{name}.png")
