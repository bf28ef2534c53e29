"""Debian's or anybody's Chromium, driven by Playwright."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, Page, sync_playwright

from tests.stack import Stack

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def find() -> str | None:
    return shutil.which("chromium") or shutil.which("google-chrome")


@contextmanager
def launched(executable: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        yield browser
        browser.close()


def sign_in(page: Page, stack: Stack) -> None:
    """Sign in as the demo user of a running stack; ends on the overview."""
    page.goto(f"{stack.url}/")
    page.get_by_label("Username").fill("demo")
    page.get_by_label("Password").fill(stack.password)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(f"{stack.url}/")
