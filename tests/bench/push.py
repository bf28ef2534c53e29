"""From a probe's last byte to its figure on an open page."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.bench.report import Row
from tests.chromium import find, launched, sign_in
from tests.pulse import Shown, record_figures, shown_of
from tests.scripted import Answered, ScriptedServer
from tests.stack import Stack, running
from tests.waiting import wait_for

ANSWERS = 40

WATCH = """
from django.utils import timezone
from collectors import monitors
from collectors.models import Endpoint, Scenario
scenario = Scenario.objects.get(slug="chat")
endpoint = Endpoint.objects.create(name="Scripted", model="m", base_url="{base_url}")
monitors.choose(endpoint, {{scenario: 1}}, timezone.now())
"""


def delays_ms(stack: Stack, chromium: str) -> list[float]:
    with ScriptedServer(step_ms=20) as server, launched(chromium) as browser:
        page = browser.new_page()
        sign_in(page, stack)
        stack.run(WATCH.format(base_url=server.base_url))
        page.reload()
        figures = record_figures(page, "Scripted")
        before = len(server.answers)
        wait_for(lambda: len(server.answers) > before + ANSWERS, timeout_s=120)
        answers = server.answers[before + 1 : before + ANSWERS]
        return [delay_ms(answer, figures) for answer in answers]


def delay_ms(answer: Answered, figures: Callable[[], list[Shown]]) -> float:
    shown = wait_for(lambda: shown_of(answer, figures()))
    assert shown
    return (shown.at - answer.last_byte_at) * 1000


def run() -> list[Row]:
    if (chromium := find()) is None:
        raise SystemExit("The benchmark `push` needs a Chromium, and none is there.")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        with running(Path(folder) / "var") as stack:
            delays = delays_ms(stack, chromium)
    p95 = statistics.quantiles(delays, n=20)[-1]
    return [
        Row(
            name="last byte to figure on the page, median",
            value=statistics.median(delays),
            unit="ms",
            goal="< 2000",
        ),
        Row(name="last byte to figure on the page, p95", value=p95, unit="ms"),
    ]
