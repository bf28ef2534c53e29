"""Fixtures of the integration tier."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
import uvicorn

from tests.waiting import wait_for


@pytest.fixture
def web_server(transactional_db) -> Iterator[str]:
    """The ASGI application behind a real socket, on the test's database."""
    from dashboard.asgi import application

    config = uvicorn.Config(
        application,
        host="127.0.0.1",
        port=0,
        lifespan="off",
        log_level="warning",
        ws="websockets-sansio",
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        wait_for(lambda: server.started)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join()


@pytest.fixture
def plain_static_files(settings) -> None:
    """Pages name static files as they stand: nobody ran collectstatic."""
    settings.SERVESTATIC_USE_MANIFEST = False
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {
            "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        },
    }
