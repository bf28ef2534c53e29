"""Plotly's rules, vendored as a file, are those that it would add by script."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser

VENDOR = Path(__file__).parents[2] / "static" / "vendor"


def test_vendored_rules_are_plotlys_own(browser: Browser):
    page = browser.new_page()
    page.set_content("<!doctype html><title>no policy</title>")
    page.add_script_tag(path=VENDOR / "plotly-cartesian.min.js")
    rules = page.evaluate(
        "[...document.getElementById('plotly.js-style-global').sheet.cssRules]"
        ".map(rule => rule.cssText)"
    )
    page.close()
    source = (VENDOR / "plotly.css").read_text().split("*/", 1)[1]
    assert source.split("\n")[1:-1] == rules
