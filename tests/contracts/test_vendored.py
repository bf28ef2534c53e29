"""Vendored files are what their packages publish, byte for byte.

To renew one: ``npm pack NAME@VERSION``, take the file and its LICENSE out of the
archive, and write version and ``sha256sum`` into VERSIONS.
"""

import hashlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = (ROOT / "static/vendor", ROOT / "tests/browser/vendor")


def entries():
    for folder in FOLDERS:
        for line in (folder / "VERSIONS").read_text().splitlines():
            if not line.startswith("#"):
                yield pytest.param(folder, *line.split(), id=line.split()[0])


@pytest.mark.parametrize(
    ("folder", "name", "package", "version", "sha256"), list(entries())
)
def test_files_are_unchanged(folder, name, package, version, sha256):
    assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == sha256


@pytest.mark.parametrize("folder", FOLDERS, ids=str)
def test_every_file_is_accounted_for_and_has_a_licence(folder):
    known = {line.split()[0] for line in (folder / "VERSIONS").read_text().splitlines()}
    scripts = {path.name for path in folder.glob("*.js")}
    assert scripts == known - {"#"}
    assert len(list(folder.glob("*-LICENSE"))) == len(scripts)
