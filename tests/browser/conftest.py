"""A real browser on the real server, database and broker."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.db import connection
from django.test import Client
from playwright.sync_api import Browser, Page, sync_playwright

from dashboard.local import ports
from tests.chromium import FLAGS, find
from tests.waiting import wait_for

ROOT = Path(__file__).parents[2]
# Playwright's loop runs in the test's own thread, where Django would refuse the ORM.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    chromium = find()
    if chromium is None:
        if os.environ.get("TOKENPULSE_REQUIRE_BROWSER"):
            pytest.fail("A Chromium is needed, and none is there.")
        pytest.skip("No Chromium is there.")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield started
        started.close()


class Server:
    """The web server as a process of its own, on the tests' database."""

    def __init__(self, log: Path) -> None:
        self.port = ports.free(0)
        self.url = f"http://127.0.0.1:{self.port}"
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        name = connection.settings_dict["NAME"]
        database = os.environ["DATABASE_URL"].rsplit("/", 1)[0] + f"/{name}"
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [
                    *(sys.executable, "-m", "uvicorn", "dashboard.asgi:application"),
                    *("--port", str(self.port), "--ws", "websockets-sansio"),
                ],
                cwd=ROOT,
                env={**os.environ, "DATABASE_URL": database},
                stdout=log,
                stderr=log,
            )
        wait_for(self._healthy, timeout_s=30)

    def _healthy(self) -> bool:
        try:
            return httpx.get(f"{self.url}/healthz").status_code == 200
        except httpx.TransportError:
            return False

    def kill(self) -> None:
        if self._process:
            self._process.kill()
            self._process.wait(10)
            self._process = None


@pytest.fixture(scope="session")
def server(
    django_db_setup: None, django_db_blocker: Any, tmp_path_factory: Any
) -> Iterator[Server]:
    call_command("collectstatic", interactive=False, verbosity=0)
    running = Server(tmp_path_factory.mktemp("server") / "log")
    with django_db_blocker.unblock():
        running.start()
    yield running
    running.kill()


OpenPage = Callable[..., Page]


@pytest.fixture
def open_page(
    transactional_db: None, server: Server, browser: Browser
) -> Iterator[OpenPage]:
    """Opens signed-in pages of a given size and theme; an error in one fails the test.

    ``tolerate`` names what the browser may log: an answer that the test asks for.
    """
    get_user_model().objects.create_user("demo", password="demo-password")
    contexts = []
    found: list[str] = []

    def open_it(
        path: str = "/",
        *,
        width: int = 1280,
        height: int = 800,
        theme: str = "dark",
        tolerate: str = "",
        zone: str = "UTC",
    ) -> Page:
        context = browser.new_context(
            base_url=server.url,
            viewport={"width": width, "height": height},
            color_scheme="light" if theme == "light" else "dark",
            timezone_id=zone,
            reduced_motion="reduce",
        )
        contexts.append(context)
        client = Client()
        client.force_login(get_user_model().objects.get(username="demo"))
        session = client.cookies["sessionid"].value
        context.add_cookies(
            [{"name": "sessionid", "value": session, "url": server.url}]
        )
        page = context.new_page()
        page.on("pageerror", lambda error: found.append(str(error)))
        page.on(
            "console",
            lambda message: (
                found.append(message.text)
                if message.type in ("error", "warning")
                and not (tolerate and tolerate in message.text)
                else None
            ),
        )
        page.goto(path)
        return page

    yield open_it
    for context in contexts:
        context.close()
    assert not found
