"""A sentence that the code no longer keeps is a bug; these tests find what they can."""

import dataclasses
import re
from pathlib import Path

import pytest

from dashboard.env import SCHEME
from probes.types import Failure, Measurement

ROOT = Path(__file__).parents[2]
DOCS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(ROOT.glob("docs/**/*.md")),
]


def text(name: str) -> str:
    return (ROOT / name).read_text()


def first_column(markdown: str, heading: str) -> set[str]:
    """The code words in the first column of the tables below ``heading``."""
    section = markdown.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    tables = re.findall(r"^\|-.*\n((?:\|.*\n)+)", f"{section}\n", re.M)
    cells = [row.split("|")[1] for table in tables for row in table.splitlines()]
    return {word for cell in cells for word in re.findall(r"`([^`]+)`", cell)}


def test_every_setting_is_described_and_no_other():
    assert first_column(text("docs/operations.md"), "Settings") == set(SCHEME)


def test_every_error_is_described_and_no_other():
    assert first_column(text("docs/metrics.md"), "Errors") == {f.value for f in Failure}


def test_every_figure_is_described():
    said = set(re.findall(r"`([a-z_0-9]+)`", text("docs/metrics.md")))
    plumbing = {"outcome", "error", "error_text", "http_status", "quirks", "timeline"}
    figures = {field.name for field in dataclasses.fields(Measurement)} - plumbing
    assert figures <= said


@pytest.mark.parametrize("lock", ["run.in", "embedded.in", "dev.in"])
def test_every_dependency_has_its_reason(lock):
    said = re.findall(r"^\| (.+?) \|", text("docs/dependencies.md"), re.M)
    explained = {name.strip() for row in said for name in row.split(", ")}
    wanted = re.findall(
        r"^([a-z][\w.-]*(?:\[[\w,]+\])?)", text(f"requirements/{lock}"), re.M
    )
    assert set(wanted) <= explained


@pytest.mark.parametrize("path", DOCS, ids=lambda path: path.name)
def test_links_between_files_lead_somewhere(path):
    for target in re.findall(r"\]\((?!https?://|#|mailto:)([^)#]+)", path.read_text()):
        assert (path.parent / target).exists(), target


@pytest.mark.parametrize("path", DOCS, ids=lambda path: path.name)
def test_paths_that_are_named_exist(path):
    names = re.findall(
        r"`((?:probes|collectors|alerts|dashboard|docs|tests|static|requirements)/[\w./*-]*)`",
        path.read_text(),
    )
    for name in names:
        assert list(ROOT.glob(name.rstrip("/"))), name
