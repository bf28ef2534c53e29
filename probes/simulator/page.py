"""The simulator's page: plain HTML and forms, no script."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from html import escape

from probes.simulator.faults import KINDS, Active, Fault
from probes.simulator.knobs import Knobs, Rhythm
from probes.simulator.live import LiveModel
from probes.simulator.log import RequestLog

DURATIONS = ((None, "until off"), (60, "1 min"), (300, "5 min"), (900, "15 min"))
_CURVE_WIDTH, _CURVE_HEIGHT, _CURVE_POINTS = 320, 44, 64


def render_page(
    models: Sequence[LiveModel], log: RequestLog, base_url: str, now_s: float
) -> str:
    """The whole page as it is at ``now_s`` (Unix time)."""
    cards = "".join(_card(model, log, now_s) for model in models)
    on = sum(len(model.faults.active(now_s)) for model in models)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{f"({on}) " if on else ""}Simulated endpoint</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/page.css">
</head>
<body>
<header>
<div>
<h1>Simulated endpoint</h1>
<p>In TokenPulse, choose <b>OpenAI chat completions</b> and paste this base URL:
<code>{escape(base_url)}</code></p>
</div>
<div class="actions">
<a class="button" href="/">Refresh</a>
<form method="post" action="/faults/off">
<button{"" if on else " disabled"}>All faults off</button></form>
</div>
</header>
<main>{cards}</main>
<footer>
<p>State at {_clock_time(now_s)} UTC. By URL:
<code>POST /faults/&lt;model&gt;/&lt;fault&gt;?value=&amp;for_s=</code>,
<code>value=off</code> ends it. As JSON:
<a href="/faults">faults</a>, <a href="/state">state</a>,
<a href="/log">true times of the last requests</a>.</p>
</footer>
</body>
</html>
"""


def _clock_time(at_s: float) -> str:
    return f"{datetime.fromtimestamp(at_s, UTC):%H:%M:%S}"


def _card(model: LiveModel, log: RequestLog, now_s: float) -> str:
    knobs, engine = model.knobs, model.engine
    active = model.faults.active(now_s)
    rows = "".join(_fault(knobs.name, fault, active.get(fault)) for fault in Fault)
    name = escape(knobs.name)
    return f"""
<section id="{name}" aria-labelledby="{name}-name">
<h2 id="{name}-name">{name}</h2>
<p class="about">{escape(knobs.about)}{_mishaps(knobs)}</p>
<dl>
<div><dt>In batch</dt><dd>{engine.batch}<small> of {knobs.slots}</small></dd></div>
<div><dt>Queue</dt><dd>{engine.queue_length}</dd></div>
<div><dt>Decoding</dt><dd>{1 / model.step_s():.0f}<small> tok/s</small></dd></div>
<div><dt>Last TTFT</dt><dd>{_last_ttft(log, knobs.name)}</dd></div>
</dl>
{_curve(knobs.rhythm, now_s)}
<ul>{rows}</ul>
</section>"""


def _mishaps(knobs: Knobs) -> str:
    chances = ", ".join(f"{fault} {chance:.0%}" for fault, chance in knobs.mishaps)
    return f" By chance: {chances}." if chances else ""


def _last_ttft(log: RequestLog, model: str) -> str:
    answered = (record.ttft_ms for record in reversed(log.newest(20, model)))
    ttft_ms = next((value for value in answered if value is not None), None)
    if ttft_ms is None:
        return "–"
    return f"{ttft_ms:.0f}<small> ms</small>"


def _curve(rhythm: Rhythm, now_s: float) -> str:
    """One period of background load around now, which is marked."""
    highest = max(rhythm.low_per_s, rhythm.high_per_s)
    if highest <= 0:
        return ""
    top, span = 4, _CURVE_HEIGHT - 8
    started_s = now_s - rhythm.period_s / 4

    def y(at_s: float) -> float:
        return top + span * (1 - rhythm.rate_per_s(at_s) / highest)

    points = " ".join(
        f"{_CURVE_WIDTH * n / _CURVE_POINTS:.1f},"
        f"{y(started_s + rhythm.period_s * n / _CURVE_POINTS):.1f}"
        for n in range(_CURVE_POINTS + 1)
    )
    period = _span(rhythm.period_s)
    rate = rhythm.rate_per_s(now_s)
    return f"""<figure>
<svg viewBox="0 0 {_CURVE_WIDTH} {_CURVE_HEIGHT}" role="img"
 aria-label="Background load over {period}; now {rate:.2f} requests a second">
<polyline points="{points}"/>
<circle cx="{_CURVE_WIDTH / 4:.0f}" cy="{y(now_s):.1f}" r="4"/>
</svg>
<figcaption><span>Background load, {rate:.2f} requests/s now</span>
<span>{period}</span></figcaption>
</figure>"""


def _span(seconds: float) -> str:
    return f"{seconds / 3600:g} h" if seconds >= 3600 else f"{seconds / 60:g} min"


def _fault(model: str, fault: Fault, on: Active | None) -> str:
    kind = KINDS[fault]
    action = f"/faults/{escape(model)}/{fault}"
    if on is not None:
        until = (
            "until off" if on.until_s is None else f"until {_clock_time(on.until_s)}"
        )
        return f"""
<li class="on">
<form method="post" action="{action}">
<span class="label">{kind.label}<em>{on.value:g} {kind.unit}, {until}</em></span>
<button name="value" value="off" aria-label="Off: {kind.label}, {model}">Off</button>
</form></li>"""
    options = "".join(
        f'<option value="{seconds or ""}">{text}</option>'
        for seconds, text in DURATIONS
    )
    step = "1" if kind.whole else "any"
    return f"""
<li>
<form method="post" action="{action}">
<span class="label">{kind.label}<em>{kind.unit}</em></span>
<input name="value" type="number" min="{kind.low:g}" max="{kind.high:g}" step="{step}"
 value="{kind.default:g}" required aria-label="{kind.label}, {kind.unit}, {model}">
<select name="for_s" aria-label="{kind.label}, how long, {model}">{options}</select>
<button aria-label="On: {kind.label}, {model}">On</button>
</form></li>"""
