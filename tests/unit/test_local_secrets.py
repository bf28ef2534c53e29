"""Secrets of a local installation: made once, private, strong enough."""

import stat
from pathlib import Path

import pytest
from cryptography.fernet import Fernet

from dashboard.local import secret_files


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_secret_is_made_once_and_kept(tmp_path):
    file = tmp_path / "secrets" / "word"
    first = secret_files.keep(file, secret_files.password)
    assert secret_files.keep(file, secret_files.password) == first == file.read_text()


def test_file_and_folder_are_private(tmp_path):
    file = tmp_path / "secrets" / "word"
    secret_files.keep(file, secret_files.password)
    assert mode(file) == 0o600
    assert mode(file.parent) == 0o700


def test_a_new_value_replaces_the_file_as_a_whole(tmp_path):
    file = tmp_path / "word"
    secret_files.write(file, "a long first value")
    secret_files.write(file, "short")
    assert file.read_text() == "short"
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize(
    "make", [secret_files.password, secret_files.readable_password]
)
def test_passwords_differ_and_need_no_quoting(make):
    made = {make() for _ in range(100)}
    assert len(made) == 100
    assert all(word.replace("-", "").isalnum() for word in made)


def test_the_encryption_key_is_one_that_fernet_takes():
    box = Fernet(secret_files.fernet_key())
    assert box.decrypt(box.encrypt(b"key")) == b"key"
