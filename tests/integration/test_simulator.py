"""The simulator over real sockets: its API, its timing, its faults, its page."""

from __future__ import annotations

import asyncio
import itertools
import json
import socket
import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
import uvicorn

from probes.simulator.app import build_app
from probes.simulator.faults import Fault
from probes.simulator.knobs import Knobs

PLAIN = Knobs(
    name="plain",
    slots=4,
    prefill_base_ms=30,
    prefill_ms_per_1k_tokens=100,
    decode_tokens_per_s=200,
    batch_slowdown=0.0,
    jitter_sigma=0.0,
    answer_tokens=50,
    max_context_tokens=5_000,
)
SINGLE = Knobs(
    name="single",
    slots=1,
    prefill_base_ms=10,
    decode_tokens_per_s=100,
    jitter_sigma=0.0,
    answer_tokens=10,
)
UNLUCKY = Knobs(name="unlucky", mishaps=((Fault.SERVER_ERROR, 1.0),))


@contextmanager
def serving(api_key: str | None = None) -> Iterator[str]:
    """Serve on a free port in a thread of this process; gives the address."""
    listener = socket.create_server(("127.0.0.1", 0))
    app = build_app((PLAIN, SINGLE, UNLUCKY), api_key)
    config = uvicorn.Config(
        app,
        loop="asyncio",
        ws="none",
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with serving() as address:
        yield address


@pytest.fixture
def client(address: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=address, trust_env=False, timeout=20) as client:
        yield client
        client.post("/faults/off").raise_for_status()


def chat(model: str = "plain", **fields: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": "Say something, please."}]
    return {"model": model, "messages": messages} | fields


def stream(client: httpx.Client, **fields: Any) -> list[tuple[float, Any]]:
    """The events of a streamed answer, each with its arrival in seconds."""
    sent_s = time.monotonic()
    body = chat(**fields, stream=True)
    with client.stream("POST", "/v1/chat/completions", json=body) as response:
        assert response.status_code == 200
        assert response.headers["content-type"].startswith("text/event-stream")
        return [
            (time.monotonic() - sent_s, line.removeprefix("data: "))
            for line in response.iter_lines()
            if line
        ]


def token_times_s(events: list[tuple[float, Any]]) -> list[float]:
    times_s = []
    for at_s, data in events:
        if data == "[DONE]":
            continue
        choices = json.loads(data)["choices"]
        if choices and choices[0]["delta"].get("content"):
            times_s.append(at_s)
    return times_s


def newest(client: httpx.Client, model: str = "plain") -> dict[str, Any]:
    log = client.get(f"/log?n=1&model={model}&tokens=1").json()
    record: dict[str, Any] = log["requests"][-1]
    return record


class TestApi:
    def test_streams_one_token_an_event_with_usage_at_the_end(self, client):
        events = stream(client, max_tokens=12, stream_options={"include_usage": True})
        assert events[-1][1] == "[DONE]"
        objects = [json.loads(data) for _, data in events[:-1]]
        role, *tokens, end, usage = objects
        assert role["choices"][0]["delta"] == {"role": "assistant", "content": ""}
        assert len(tokens) == 12
        assert end["choices"][0]["finish_reason"] == "length"
        assert usage["usage"] == {
            "prompt_tokens": 8,
            "completion_tokens": 12,
            "total_tokens": 20,
            "prompt_tokens_details": {"cached_tokens": 0},
        }

    def test_answers_whole_with_the_same_text(self, client):
        events = stream(client, max_tokens=12)
        deltas = [json.loads(data)["choices"][0]["delta"] for _, data in events[:-1]]
        response = client.post("/v1/chat/completions", json=chat(max_tokens=12))
        body = response.json()
        streamed = "".join(delta.get("content", "") for delta in deltas)
        assert body["choices"][0]["message"]["content"] == streamed
        assert body["usage"]["completion_tokens"] == 12
        assert response.elapsed.total_seconds() >= 0.030 + 11 / 200

    def test_stops_by_itself_unless_told_to_ignore_it(self, client):
        stopped = client.post("/v1/chat/completions", json=chat(max_tokens=60)).json()
        assert stopped["choices"][0]["finish_reason"] == "stop"
        assert stopped["usage"]["completion_tokens"] == 50
        forced = client.post(
            "/v1/chat/completions", json=chat(max_tokens=60, ignore_eos=True)
        ).json()
        assert forced["usage"]["completion_tokens"] == 60

    def test_lists_its_models(self, client):
        models = client.get("/v1/models").json()["data"]
        assert [model["id"] for model in models] == ["plain", "single", "unlucky"]

    @pytest.mark.parametrize(
        ("method", "path", "body", "status", "code"),
        [
            ("POST", "/v1/chat/completions", "{", 400, None),
            (
                *("POST", "/v1/chat/completions"),
                *(json.dumps(chat("nobody")), 404, "model_not_found"),
            ),
            (
                *("POST", "/v1/chat/completions"),
                *(json.dumps(chat(max_tokens=4_999)), 400, "context_length_exceeded"),
            ),
            ("POST", "/v1/completions", "{}", 404, None),
            ("GET", "/v1/chat/completions", "", 405, None),
        ],
    )
    def test_errors_have_openais_form(self, client, method, path, body, status, code):
        response = client.request(method, path, content=body)
        assert response.status_code == status
        error = response.json()["error"]
        assert error["code"] == code
        assert error["message"] and set(error) == {"message", "type", "param", "code"}

    def test_asks_for_its_key(self):
        with (
            serving(api_key="right") as address,
            httpx.Client(base_url=address, trust_env=False) as client,
        ):
            for header in (None, "Bearer wrong", "Basic right", "Bearer"):
                headers = {"authorization": header} if header else {}
                refused = client.get("/v1/models", headers=headers)
                assert refused.status_code == 401
                assert refused.json()["error"]["code"] == "invalid_api_key"
            allowed = client.get(
                "/v1/models", headers={"authorization": "Bearer right"}
            )
            assert allowed.status_code == 200
            assert client.get("/faults").status_code == 200


class TestTiming:
    def test_each_token_comes_when_the_knobs_say(self, client):
        stream(client, max_tokens=41)
        record = newest(client)
        for index, ns in enumerate(record["token_monotonic_ns"]):
            due_ms = 30 + 0.8 + index * 5
            late_ms = (ns - record["received"]["monotonic_ns"]) / 1e6 - due_ms
            # Being late once must not shift the tokens after it; 5 ms are for the
            # way from the last byte of the request to its slot.
            assert 0 <= late_ms <= record["latest_ms"] + 5

    def test_the_log_tells_the_true_times(self, client):
        before_ns = time.monotonic_ns()
        stream(client, max_tokens=20)
        after_ns = time.monotonic_ns()
        record = newest(client)
        times_ns = record["token_monotonic_ns"]
        assert record["outcome"] == "ok"
        assert record["tokens_written"] == len(times_ns) == 20
        assert record["first_token"]["monotonic_ns"] == times_ns[0]
        assert record["last_token"]["monotonic_ns"] == times_ns[-1]
        received_ns = record["received"]["monotonic_ns"]
        assert before_ns < received_ns < times_ns[0] < times_ns[-1] < after_ns
        assert times_ns == sorted(times_ns)
        true_ttft_ms = (times_ns[0] - received_ns) / 1e6
        assert 30 < true_ttft_ms < 30.8 + 5 + record["latest_ms"]
        assert abs(record["last_token"]["wall_ns"] - time.time_ns()) < 60e9

    def test_what_a_client_sees_agrees_with_the_log(self, client):
        offset_s = time.monotonic()
        seen_s = token_times_s(stream(client, max_tokens=30))
        written_s = [ns / 1e9 - offset_s for ns in newest(client)["token_monotonic_ns"]]
        late_s = [s - w for s, w in zip(seen_s, written_s, strict=True)]
        assert statistics.median(late_s) < 0.005

    def test_a_cached_prompt_starts_sooner_and_says_so(self, client):
        text = " ".join(f"word{n}" for n in range(3_000))
        body = chat(messages=[{"role": "user", "content": text}], max_tokens=1)
        cold = client.post("/v1/chat/completions", json=body).json()["usage"]
        cold_log = newest(client)
        warm = client.post("/v1/chat/completions", json=body).json()["usage"]
        warm_log = newest(client)
        assert cold["prompt_tokens"] == warm["prompt_tokens"] == 3_003
        assert cold["prompt_tokens_details"]["cached_tokens"] == 0
        assert warm["prompt_tokens_details"]["cached_tokens"] == 2_992

        def ttft_ms(record: dict[str, Any]) -> float:
            first_ns: int = record["first_token"]["monotonic_ns"]
            return float(first_ns - record["received"]["monotonic_ns"]) / 1e6

        # 3,003 tokens at 100 ms a thousand, against the base alone.
        assert ttft_ms(cold_log) - ttft_ms(warm_log) > 200

    async def test_requests_beyond_the_slots_queue(self, client, address):
        client.post("/faults/single/slow-decode?value=3").raise_for_status()
        async with httpx.AsyncClient(base_url=address, trust_env=False) as crowd:
            body = chat("single", max_tokens=10)
            posts = (crowd.post("/v1/chat/completions", json=body) for _ in range(4))
            responses = await asyncio.gather(*posts)
        assert {response.status_code for response in responses} == {200}
        log = client.get("/log?n=4&model=single").json()["requests"]
        assert sorted(record["queue_length"] for record in log) == [0, 0, 1, 2]
        admitted_ms = sorted(
            record["received"]["monotonic_ns"] / 1e6 + record["queued_ms"]
            for record in log
        )
        # Each holds the only slot for its prefill and nine steps of 30 ms; 10 ms
        # are for the way from the request's last byte into the queue.
        for before, after in itertools.pairwise(admitted_ms):
            assert after - before >= 280 - 10

    def test_a_client_that_leaves_frees_its_slot(self, client):
        client.post("/faults/single/stall?value=60").raise_for_status()
        body = chat("single", stream=True)
        with client.stream("POST", "/v1/chat/completions", json=body) as response:
            next(response.iter_lines())
        client.post("/faults/single/off").raise_for_status()
        assert token_times_s(stream(client, model="single"))
        log = client.get("/log?n=2&model=single").json()["requests"]
        assert [record["outcome"] for record in log] == ["disconnected", "ok"]


class TestFaults:
    def test_slow_ttft(self, client):
        client.post("/faults/plain/slow-ttft?value=10").raise_for_status()
        times_s = token_times_s(stream(client, max_tokens=2))
        assert 0.300 <= times_s[0] < 0.700

    def test_slow_decode(self, client):
        client.post("/faults/plain/slow-decode?value=10").raise_for_status()
        times_s = token_times_s(stream(client, max_tokens=11))
        assert 0.030 + 10 * 0.050 <= times_s[-1] < 0.900

    def test_stall(self, client):
        client.post("/faults/plain/stall?value=0.5").raise_for_status()
        times_s = token_times_s(stream(client, max_tokens=10))
        gaps_s = [b - a for a, b in itertools.pairwise(times_s)]
        assert len(times_s) == 10
        assert gaps_s.index(max(gaps_s)) == 4
        assert 0.45 < max(gaps_s) < 0.8

    def test_429(self, client):
        client.post("/faults/plain/429?value=17").raise_for_status()
        response = client.post("/v1/chat/completions", json=chat())
        assert response.status_code == 429
        assert response.headers["retry-after"] == "17"
        assert response.json()["error"]["code"] == "rate_limit_exceeded"
        assert newest(client)["outcome"] == "429"

    def test_500(self, client):
        client.post("/faults/plain/500").raise_for_status()
        response = client.post("/v1/chat/completions", json=chat(stream=True))
        assert response.status_code == 500
        assert response.json()["error"]["type"] == "server_error"

    def test_cut(self, client):
        client.post("/faults/plain/cut?value=3").raise_for_status()
        with pytest.raises(httpx.RemoteProtocolError, match="incomplete chunked read"):
            stream(client, max_tokens=10)
        record = newest(client)
        assert (record["outcome"], record["tokens_written"]) == ("cut", 3)

    def test_cut_of_a_whole_answer(self, client):
        client.post("/faults/plain/cut?value=3").raise_for_status()
        with pytest.raises(httpx.RemoteProtocolError, match="message body"):
            client.post("/v1/chat/completions", json=chat(max_tokens=10))

    def test_mishaps_need_no_switch(self, client):
        response = client.post("/v1/chat/completions", json=chat("unlucky"))
        assert response.status_code == 500

    def test_touches_only_its_model_and_ends(self, client):
        shown = client.post("/faults/plain/500?value=503&for_s=0.3").json()
        assert shown["plain"]["500"]["value"] == 503
        assert shown["plain"]["500"]["until"].endswith("+00:00")
        assert shown["single"] == {}
        assert client.post("/v1/chat/completions", json=chat()).status_code == 503
        other = client.post("/v1/chat/completions", json=chat("single", max_tokens=1))
        assert other.status_code == 200
        deadline_s = time.monotonic() + 5
        while client.get("/faults").json()["plain"]:
            assert time.monotonic() < deadline_s
        assert client.post("/v1/chat/completions", json=chat()).status_code == 200

    def test_one_off_and_all_off(self, client):
        for fault in ("stall", "cut"):
            client.post(f"/faults/plain/{fault}").raise_for_status()
        left = client.post("/faults/plain/stall?value=off").json()
        assert list(left["plain"]) == ["cut"]
        assert client.post("/faults/off").json()["plain"] == {}

    @pytest.mark.parametrize(
        ("path", "status"),
        [
            ("/faults/nobody/cut", 404),
            ("/faults/plain/earthquake", 404),
            ("/faults/plain/cut?value=zero", 400),
            ("/faults/plain/cut?value=0", 400),
            ("/faults/plain/cut?for_s=-1", 400),
        ],
    )
    def test_says_what_is_wrong(self, client, path, status):
        response = client.post(path)
        assert response.status_code == status
        assert response.text.endswith(".")
        assert not any(client.get("/faults").json().values())


class TestPage:
    def test_shows_the_base_url_and_the_faults_that_are_on(self, client, address):
        html = client.get("/").text
        assert f"<code>{address}/v1</code>" in html
        assert "<script" not in html and 'class="on"' not in html
        client.post("/faults/plain/stall?value=9").raise_for_status()
        html = client.get("/").text
        assert html.count('class="on"') == 1
        assert "9 seconds, until off" in html

    def test_its_forms_switch_and_return_to_the_page(self, client):
        back = client.post(
            "/faults/plain/429",
            data={"value": "3", "for_s": "60"},
            headers={"accept": "text/html", "sec-fetch-site": "same-origin"},
        )
        assert (back.status_code, back.headers["location"]) == (303, "/#plain")
        assert client.get("/faults").json()["plain"]["429"]["value"] == 3

    @pytest.mark.parametrize(
        "headers",
        [
            {"sec-fetch-site": "cross-site"},
            {"sec-fetch-site": "same-site"},
            {"origin": "http://elsewhere.example"},
            {"origin": "null"},
            {"host": "rebound.example", "origin": "http://rebound.example"},
            {"host": "[", "origin": "http://["},
        ],
    )
    def test_refuses_other_sites(self, client, headers):
        refused = client.post("/faults/plain/cut", headers=headers)
        assert refused.status_code == 403
        assert client.get("/faults").json()["plain"] == {}

    def test_allows_its_own(self, client, address):
        for headers in ({"origin": address}, {"sec-fetch-site": "none"}):
            response = client.post("/faults/plain/cut", headers=headers)
            assert response.status_code == 200

    def test_state(self, client):
        state = client.get("/state").json()
        assert state["single"] == {
            "slots": 1,
            "batch": 0,
            "background": 0,
            "queue_length": 0,
        }
