"""The command line's arguments."""

from __future__ import annotations

import pytest

from probes.__main__ import main
from probes.cli import parse_command
from probes.types import Message, Secret, Timeouts

REQUIRED = ["--protocol", "openai", "--url", "http://h/v1", "--model", "m"]


def test_little_need_be_said():
    command = parse_command(REQUIRED)
    assert (command.target.protocol, command.target.model) == ("openai", "m")
    assert command.target.base_url == "http://h/v1"
    assert command.target.api_key is None
    assert command.timeouts == Timeouts()
    assert not command.as_json
    assert command.prompt.max_tokens > 0 and command.prompt.messages[0].content


def test_everything_may_be_said(monkeypatch, tmp_path):
    monkeypatch.setenv("KEY", "k")
    monkeypatch.setenv("ORG", "o")
    ca = tmp_path / "ca.pem"
    ca.touch()
    command = parse_command(
        [
            *REQUIRED,
            *("--json", "--api-key-env", "KEY", "--prompt", "Hi", "--max-tokens", "7"),
            *("--timeout-connect", "1", "--timeout-first-token", "2"),
            *("--timeout-idle", "3", "--timeout-total", "4"),
            *("--header-env", "X-Org=ORG", "--header-env", "X-Key=KEY"),
            *("--body-json", '{"a": 1}', "--azure-api-version", "v"),
            *("--ca", str(ca), "--proxy", "http://p:1", "--http2"),
        ]
    )
    target = command.target
    assert command.as_json
    assert target.api_key == Secret("k")
    assert target.extra_headers == {"X-Org": Secret("o"), "X-Key": Secret("k")}
    assert target.extra_body == {"a": 1}
    assert (target.azure_api_version, target.ca_file) == ("v", str(ca))
    assert (target.proxy, target.http2) == ("http://p:1", True)
    assert command.prompt.messages == (Message(role="user", content="Hi"),)
    assert command.prompt.max_tokens == 7
    assert command.timeouts == Timeouts(
        connect_s=1, first_token_s=2, idle_s=3, total_s=4
    )


@pytest.mark.parametrize(
    "extra",
    [
        ["--api-key-env", "UNSET_VARIABLE"],
        ["--header-env", "X=UNSET_VARIABLE"],
        ["--header-env", "X"],
        ["--header-env", "=KEY"],
        ["--body-json", "{"],
        ["--body-json", "[]"],
        ["--max-tokens", "0"],
        ["--max-tokens", "many"],
        ["--timeout-idle", "0"],
        ["--timeout-idle", "inf"],
        ["--timeout-idle", "soon"],
        ["--ca", "/no/such/file"],
        ["--proxy", "p:1"],
        ["--url", "ftp://h"],
        ["--url", "http://"],
        ["--url", "http://[bad"],
        ["--protocol", "smoke"],
        ["--max-tok", "3"],
    ],
)
def test_bad_usage_is_told_and_exits_with_2(extra, monkeypatch, capsys):
    monkeypatch.setenv("KEY", "k")
    with pytest.raises(SystemExit) as exit_info:
        main([*REQUIRED, *extra])
    assert exit_info.value.code == 2
    assert "usage:" in capsys.readouterr().err


def test_something_required_is_missing():
    for missing in range(0, len(REQUIRED), 2):
        with pytest.raises(SystemExit):
            parse_command(REQUIRED[:missing] + REQUIRED[missing + 2 :])
