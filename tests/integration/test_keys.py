import base64
import os

import pytest

from collectors import keys
from collectors.models import Endpoint

CANARY = "sk-canary-4f1b"


def test_a_pasted_key_is_stored_encrypted_and_comes_back():
    stored = keys.encrypt(CANARY)
    assert CANARY not in stored
    revealed = keys.reveal(Endpoint(key_encrypted=stored))
    assert revealed.reveal() == CANARY
    assert CANARY not in repr(revealed) + str(revealed) + f"{revealed}"


def test_no_key_is_no_key():
    assert keys.reveal(Endpoint()) is None


def test_a_key_is_read_from_its_variable(monkeypatch):
    monkeypatch.setenv("CANARY_API_KEY", CANARY)
    assert keys.reveal(Endpoint(key_variable="CANARY_API_KEY")).reveal() == CANARY


def test_a_key_is_read_from_the_file_that_its_variable_names(monkeypatch, tmp_path):
    (tmp_path / "key").write_text(f"{CANARY}\n")
    monkeypatch.setenv("CANARY_API_KEY_FILE", str(tmp_path / "key"))
    assert keys.reveal(Endpoint(key_variable="CANARY_API_KEY")).reveal() == CANARY


def test_a_missing_variable_says_what_to_do():
    with pytest.raises(keys.KeyUnavailable, match=r"NO_API_KEY is not set.*restart"):
        keys.reveal(Endpoint(key_variable="NO_API_KEY"))


def test_a_missing_file_says_which(monkeypatch):
    monkeypatch.setenv("CANARY_API_KEY_FILE", "/nowhere/key")
    with pytest.raises(keys.KeyUnavailable, match="CANARY_API_KEY_FILE cannot be read"):
        keys.reveal(Endpoint(key_variable="CANARY_API_KEY"))


@pytest.mark.parametrize("name", ["SECRET_KEY", "DATABASE_URL", "HOME", "MY_API_KEYS"])
def test_other_variables_cannot_be_sent_anywhere(name, monkeypatch):
    monkeypatch.setenv(name, CANARY)
    with pytest.raises(keys.KeyUnavailable, match="may not be read") as caught:
        keys.reveal(Endpoint(key_variable=name))
    assert CANARY not in str(caught.value)


def test_keys_can_be_rotated(settings):
    old = settings.ENCRYPTION_KEYS
    stored = keys.encrypt(CANARY)
    new = base64.urlsafe_b64encode(os.urandom(32)).decode()
    settings.ENCRYPTION_KEYS = [new, *old]
    assert keys.reveal(Endpoint(key_encrypted=stored)).reveal() == CANARY
    settings.ENCRYPTION_KEYS = [new]
    with pytest.raises(keys.KeyUnavailable, match="ENCRYPTION_KEYS has changed"):
        keys.reveal(Endpoint(key_encrypted=stored))
