"""What the pages' scripts and styles must agree on with the server."""

import re
from pathlib import Path
from typing import get_type_hints

import pytest

from alerts.models import MonitorState
from collectors.models import Scenario
from dashboard import payloads
from dashboard.views.overview import SHAPES

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "static" / "js"
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
PAGES = [path for path in TEMPLATES if "alerts" not in path.parts]


def script(name: str) -> str:
    return (SCRIPTS / name).read_text()


def test_states_look_the_same_to_both():
    found = re.findall(
        r'(\w+): \{ shape: "(.)", word: "([^"]+)" \}', script("states.js")
    )
    ours = [(s, SHAPES[s], MonitorState.State(s).label) for s in SHAPES]
    assert found == [(str(state), shape, word) for state, shape, word in ours]
    assert {state for state, _, _ in found} == set(MonitorState.State.values)


def test_every_state_has_a_colour():
    styles = (ROOT / "static/css/tokens.css").read_text()
    for state in MonitorState.State.values:
        assert f'[data-state="{state}"]' in styles


def test_there_are_as_many_colours_as_endpoints_are_told_apart_by():
    styles = (ROOT / "static/css/tokens.css").read_text()
    for n in range(payloads.COLOURS):
        assert len(re.findall(rf"--series-{n}: #[0-9a-f]{{6}};", styles)) == 2
        assert f'[data-colour="{n}"] {{ --series: var(--series-{n}); }}' in styles


def test_figures_have_the_names_of_the_wire_format():
    names = re.findall(r"^  (\w+): \{", script("format.js"), re.MULTILINE)
    assert set(names) == {*Scenario.Figure.values, "max_gap_ms"}
    assert set(names) <= set(get_type_hints(payloads.SamplePayload))
    assert set(names) <= set(get_type_hints(payloads.LimitsPayload))


def test_only_one_module_names_plotly():
    naming = [p.name for p in SCRIPTS.glob("*.js") if "Plotly." in p.read_text()]
    assert naming == ["charts.js"]


@pytest.mark.parametrize("path", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_templates_need_no_relaxed_policy(path):
    source = path.read_text()
    assert not re.search(r"<script(?![^>]*\bsrc=)", source)
    assert not re.search(r"<style|\sstyle=|\son\w+=", source)
    assert not re.search(r"https?://(?!host/)", source.replace("http://www.w3.org", ""))
