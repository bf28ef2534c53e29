"""What the parts of a local installation are told by their environment."""

import stat

import environ
import pytest

from dashboard.env import SCHEME
from dashboard.local import environment, ports
from dashboard.local.data_folder import DataFolder


@pytest.fixture
def data(tmp_path):
    return DataFolder.at(str(tmp_path / "data with spaces, 100 % & ü"))


def test_every_setting_that_has_no_default_is_given(data):
    env = environment.build(data, "127.0.0.1", 8000, {})
    for name in ("SECRET_KEY", "ENCRYPTION_KEYS"):
        assert environment.given(name, env)
    assert not environment.given("DATABASE_URL", env)


def test_only_known_settings_are_given(data):
    env = environment.build(data, "127.0.0.1", 8000, {})
    others = {"DJANGO_SETTINGS_MODULE", "PYTHONUNBUFFERED"}
    assert {name.removesuffix("_FILE") for name in env} - others <= set(SCHEME)


def test_secrets_are_passed_by_file(data):
    env = environment.build(data, "127.0.0.1", 8000, {})
    secrets = [path.read_text() for path in (data.root / "secrets").iterdir()]
    assert len(secrets) == 3
    assert not set(secrets) & set(env.values())


@pytest.mark.parametrize("name", ["SECRET_KEY", "SECRET_KEY_FILE"])
def test_what_the_user_set_wins(data, name):
    env = environment.build(data, "127.0.0.1", 8000, {name: "mine"})
    assert env[name] == "mine"
    assert ("SECRET_KEY_FILE" in env) == (name == "SECRET_KEY_FILE")


def test_another_projects_settings_module_is_not_used(data):
    base = {"DJANGO_SETTINGS_MODULE": "shop.settings"}
    env = environment.build(data, "127.0.0.1", 8000, base)
    assert env["DJANGO_SETTINGS_MODULE"] == "dashboard.settings"


def test_mail_goes_into_the_data_folder(data):
    env = environment.build(data, "127.0.0.1", 8000, {})
    mail = environ.Env.email_url_config(env["EMAIL_URL"])
    assert mail["EMAIL_FILE_PATH"] == str(data.mail)
    assert stat.S_IMODE(data.mail.stat().st_mode) == 0o700


def test_alerts_are_mailed_to_somebody_unless_told_to_whom(data):
    env = environment.build(data, "127.0.0.1", 8000, {})
    assert env["ALERT_MAIL_TO"] == "demo@localhost"
    base = {"ALERT_MAIL_TO": "ops@example.org"}
    env = environment.build(data, "127.0.0.1", 8000, base)
    assert env["ALERT_MAIL_TO"] == "ops@example.org"


def test_only_this_machine_may_ask_where_only_it_can(data):
    env = environment.build(data, "127.0.0.1", 8000, {})
    assert env["ALLOWED_HOSTS"] == "localhost,127.0.0.1,[::1]"
    assert env["BASE_URL"] == "http://127.0.0.1:8000"


def test_all_names_of_this_machine_are_allowed_where_others_can_ask(data):
    env = environment.build(data, "0.0.0.0", 8000, {})
    hosts = env["ALLOWED_HOSTS"].split(",")
    assert "127.0.0.1" in hosts
    assert env["BASE_URL"].removeprefix("http://").removesuffix(":8000") in hosts
    assert "*" not in hosts


@pytest.mark.parametrize(
    ("host", "shown"),
    [("127.0.0.1", "127.0.0.1"), ("::1", "[::1]"), ("example.org", "example.org")],
)
def test_hosts_are_shown_as_addresses_write_them(host, shown):
    assert environment.shown(host) == shown


def test_a_server_that_answers_is_reachable_by_value_and_by_file(tmp_path):
    with ports.listen(ports.LOOPBACK) as server:
        url = f"redis://:word@127.0.0.1:{server.getsockname()[1]}/0"
        (tmp_path / "url").write_text(f"{url}\n")
        given = {"REDIS_URL_FILE": str(tmp_path / "url")}
        assert environment.unreachable("REDIS_URL", {"REDIS_URL": url}) is None
        assert environment.unreachable("REDIS_URL", given) is None


def test_a_server_that_does_not_answer_is_named_without_its_password():
    url = f"postgres://user:secret@127.0.0.1:{ports.free()}/db"
    fault = environment.unreachable("DATABASE_URL", {"DATABASE_URL": url})
    assert fault is not None
    assert fault.startswith("DATABASE_URL names 127.0.0.1:")
    assert "secret" not in fault


@pytest.mark.parametrize("url", ["unix:///run/valkey.sock", "postgres:///db"])
def test_addresses_without_a_host_are_left_to_django(url):
    assert environment.unreachable("DATABASE_URL", {"DATABASE_URL": url}) is None
