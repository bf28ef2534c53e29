"""Other clients that time the same streams; each module has a class ``Rival``."""

RIVALS = {
    "httpx": "tests.bench.rivals.httpx_client",
    "aiohttp": "tests.bench.rivals.aiohttp_client",
    "openai SDK": "tests.bench.rivals.openai_client",
}
