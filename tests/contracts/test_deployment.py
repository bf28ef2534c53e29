"""The deployment files, checked as far as they can be without a container engine."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import environ
import pytest
import yaml
from cryptography.fernet import Fernet

from dashboard.env import SCHEME
from dashboard.local import postgres

ROOT = Path(__file__).parents[2]
TOOLS = Path(sys.executable).parent
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
OURS = {name: s for name, s in SERVICES.items() if "build" in s}
DOCKERFILE = (ROOT / "Dockerfile").read_text()


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [os.fspath(part) for part in command], cwd=ROOT, capture_output=True, text=True
    )


@pytest.fixture(scope="module")
def secrets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("deployment") / "secrets"
    done = run("sh", "docker/secrets.sh", folder)
    assert done.returncode == 0, done.stderr
    return folder


def test_the_compose_file_follows_the_specification():
    done = run(
        TOOLS / "check-jsonschema",
        "--builtin-schema=vendor.compose-spec",
        "docker-compose.yml",
    )
    assert done.returncode == 0, done.stdout


def test_the_dockerfile_has_no_findings():
    done = run(TOOLS / "hadolint", "Dockerfile")
    assert done.returncode == 0, done.stdout


def test_all_parts_are_there():
    assert set(OURS) == {"migrate", "web", "worker", "beat"}
    assert set(SERVICES) - set(OURS) == {"postgres", "valkey"}


@pytest.mark.parametrize("name", OURS)
def test_every_variable_is_a_setting(name):
    given = {key.removesuffix("_FILE") for key in OURS[name]["environment"]}
    assert given <= set(SCHEME)
    assert {"SECRET_KEY", "ENCRYPTION_KEYS", "DATABASE_URL", "REDIS_URL"} <= given


@pytest.mark.parametrize("name", SERVICES)
def test_secrets_come_by_files_that_the_script_makes(name, secrets):
    service = SERVICES[name]
    values = [*service.get("environment", {}).values(), *service.get("command", [])]
    mounted = {
        match for v in values for match in re.findall(r"^/run/secrets/(\w+)$", v)
    }
    assert mounted == set(service["secrets"])
    for secret in mounted:
        source = Path(COMPOSE["secrets"][secret]["file"])
        assert source.parent == Path("secrets")
        assert (secrets / source.name).read_text().strip()


def test_no_secret_is_written_down():
    secret = {"SECRET_KEY", "ENCRYPTION_KEYS", "DATABASE_URL", "REDIS_URL", "EMAIL_URL"}
    for service in OURS.values():
        assert not secret & set(service["environment"])
    assert "POSTGRES_PASSWORD" not in SERVICES["postgres"]["environment"]


@pytest.mark.parametrize("name", SERVICES)
def test_nothing_runs_as_root_or_gains_rights(name):
    assert str(SERVICES[name]["user"]).split(":")[0] not in ("", "0", "root")
    assert SERVICES[name]["cap_drop"] == ["ALL"]
    assert SERVICES[name]["security_opt"] == ["no-new-privileges:true"]


def test_the_image_runs_as_the_user_that_compose_names():
    assert re.findall(r"^USER (.+)$", DOCKERFILE, re.M) == ["10001:10001"]
    assert {s["user"] for s in OURS.values()} == {"10001:10001"}


def test_only_the_web_server_can_be_reached_and_at_first_only_from_here():
    assert [name for name, s in SERVICES.items() if "ports" in s] == ["web"]
    assert SERVICES["web"]["ports"] == ["${LISTEN:-127.0.0.1}:${PORT:-8000}:8000"]


@pytest.mark.parametrize("name", SERVICES)
def test_services_wait_for_what_can_tell_that_it_is_ready(name):
    for other, how in SERVICES[name].get("depends_on", {}).items():
        if how["condition"] == "service_healthy":
            assert SERVICES[other]["healthcheck"]["test"]
        else:
            assert how["condition"] == "service_completed_successfully"
            assert SERVICES[other]["restart"] == "on-failure"


@pytest.mark.parametrize("name", sorted(set(OURS) - {"migrate"}))
def test_each_part_has_its_own_health_check(name):
    assert OURS[name]["healthcheck"]["test"] == [
        "CMD",
        "python",
        "docker/health.py",
        name,
    ]


def test_variables_are_those_of_the_example_with_the_same_defaults():
    text = (ROOT / "docker-compose.yml").read_text()
    used = dict(re.findall(r"\$\{(\w+):-([^}]*)\}", text))
    assert len(re.findall(r"\$\{?\w", text)) == len(re.findall(r"\$\{\w+:-", text))
    example = (ROOT / ".env.example").read_text()
    assert dict(re.findall(r"^(\w+)=(.*)$", example, re.M)) == used


def test_files_that_the_image_needs_are_in_it():
    allowed = (ROOT / ".dockerignore").read_text().splitlines()
    copied = re.findall(
        r"(?:^COPY |python |\"python\", \")([\w./-]+\.\w+)", DOCKERFILE, re.M
    )
    assert set(copied) == {"requirements/run.lock", "manage.py", "docker/health.py"}
    for path in (*copied, "dashboard", "alerts", "collectors", "probes", "templates"):
        assert f"!{path}" in allowed
        assert (ROOT / path).exists()
    assert allowed[1] == "*"
    for path in ("secrets", ".env", ".git", "var"):
        assert f"!{path}" not in allowed


def test_the_volume_is_where_postgresql_18_keeps_its_data():
    assert SERVICES["postgres"]["image"] == "postgres:18"
    assert SERVICES["postgres"]["volumes"] == ["postgres:/var/lib/postgresql"]


def test_postgresql_logs_as_little_of_what_people_typed_as_locally():
    told = re.findall(r"-c(log_\w+)=(\w+)", " ".join(SERVICES["postgres"]["command"]))
    locally = {k: v for k, v in postgres.SETTINGS.items() if "on_error" in k}
    locally["log_min_error_statement"] = postgres.SETTINGS["log_min_error_statement"]
    assert dict(told) == locally


def test_secrets_are_kept_from_others_and_made_once(secrets):
    assert stat.S_IMODE(secrets.stat().st_mode) == 0o700
    before = {path.name: path.read_text() for path in secrets.iterdir()}
    (secrets / "email_url").write_text("smtp://mail.example.org:25")
    run("sh", "docker/secrets.sh", secrets)
    after = {path.name: path.read_text() for path in secrets.iterdir()}
    assert after == before | {"email_url": "smtp://mail.example.org:25"}


def test_containers_can_read_the_files(secrets):
    assert {stat.S_IMODE(path.stat().st_mode) for path in secrets.iterdir()} == {0o644}


def test_secrets_fit_together(secrets, monkeypatch):
    def read(name: str) -> str:
        return (secrets / name).read_text()

    for name in ("DATABASE_URL", "REDIS_URL", "EMAIL_URL"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv(f"{name}_FILE", str(secrets / name.lower()))
    database = environ.FileAwareEnv().db("DATABASE_URL")
    assert database["PASSWORD"] == read("postgres_password")
    assert database["HOST"] in SERVICES
    assert (
        read("valkey_conf").splitlines()[0] == f"requirepass {read('valkey_password')}"
    )
    assert read("redis_url") == f"redis://:{read('valkey_password')}@valkey:6379/0"
    Fernet(read("encryption_keys"))
    assert (
        len({read(n) for n in ("secret_key", "postgres_password", "valkey_password")})
        == 3
    )
    assert all(len(read(n)) >= 43 for n in ("secret_key", "postgres_password"))


def test_secrets_are_no_part_of_the_repository():
    ignored = (ROOT / ".gitignore").read_text().splitlines()
    assert {"secrets/", ".env", "keys.env"} <= set(ignored)


def test_continuous_integration_runs_what_developers_run():
    text = (ROOT / ".ci" / "run").read_text()
    assert "set -euo pipefail" in text
    assert "exec make test" in text
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    assert run("bash", "-n", ".ci/run").returncode == 0
