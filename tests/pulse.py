"""When a page showed which figure, by the page's own account."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from playwright.sync_api import Page

from tests.scripted import Answered

WATCH = """
(endpoint) => {
  const tile = [...document.querySelectorAll("[data-tile]")].find(
    (t) => t.querySelector("[data-endpoint]").textContent === endpoint);
  const lead = tile.querySelector("[data-lead]");
  window.shownFigures = [];
  const note = () => window.shownFigures.push(
    [Date.now() / 1000, lead.querySelector("[data-value]").textContent]);
  new MutationObserver(note).observe(
    lead, {childList: true, characterData: true, subtree: true});
}
"""


@dataclass(frozen=True, slots=True)
class Shown:
    """A leading figure and the Unix time at which it appeared."""

    at: float
    value: float


def record_figures(page: Page, endpoint: str) -> Callable[[], list[Shown]]:
    """Watch the tile of ``endpoint`` from now on; the answer reads what it showed."""
    page.locator("[data-tile]", has_text=endpoint).wait_for()
    page.evaluate(WATCH, endpoint)

    def shown() -> list[Shown]:
        found = page.evaluate("window.shownFigures")
        return [Shown(at, float(text)) for at, text in found if text != "–"]

    return shown


def shown_of(answer: Answered, shown: list[Shown]) -> Shown | None:
    """Answers differ by 20 ms in TTFT, so the figure tells which one it is."""
    near = (figure for figure in shown if abs(figure.value - answer.ttft_ms) < 10)
    return next(near, None)
