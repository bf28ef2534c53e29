"""The simulator's bytes: requests read strictly, events written exactly."""

from __future__ import annotations

import json

import pytest

from probes.simulator.tokens import answer_text
from probes.simulator.wire import ApiError, ChunkWriter, Usage, parse_chat


def chat_body(**fields: object) -> bytes:
    body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
    return json.dumps(body | fields).encode()


@pytest.mark.parametrize(
    ("body", "param"),
    [
        (b"{", None),
        (b"\xff", None),
        (b"[]", None),
        (chat_body(model=None), "model"),
        (chat_body(messages=[]), "messages"),
        (chat_body(messages=[{"content": "x"}]), "messages[0]"),
        (
            chat_body(messages=[{"role": "user", "content": 3}]),
            "messages[0].content",
        ),
        (chat_body(max_tokens=0), "max_tokens"),
        (chat_body(max_tokens=True), "max_tokens"),
        (chat_body(max_completion_tokens="9"), "max_completion_tokens"),
        (chat_body(stream="yes"), "stream"),
        (chat_body(stream_options={"include_usage": True}), "stream_options"),
    ],
)
def test_names_the_field_that_is_wrong(body, param):
    with pytest.raises(ApiError) as caught:
        parse_chat(body)
    error = json.loads(caught.value.body())["error"]
    assert caught.value.status == 400
    assert error["param"] == param
    assert error["type"] == "invalid_request_error"


def test_reads_parts_and_the_newer_name_of_max_tokens():
    chat = parse_chat(
        chat_body(
            messages=[
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "one "},
                        {"type": "image_url", "image_url": {"url": "x"}},
                        {"type": "text", "text": "two"},
                    ],
                },
                {"role": "assistant", "content": None},
            ],
            max_completion_tokens=9,
            max_tokens=99,
        )
    )
    assert chat.messages == (("user", "one two"), ("assistant", ""))
    assert chat.max_tokens == 9


@pytest.mark.parametrize("usage", [False, True])
def test_every_event_is_one_json_object(usage):
    chunks = ChunkWriter("id-1", 7, 'quo"ted', usage)
    counts = Usage(prompt_tokens=5, cached_tokens=2, completion_tokens=3)
    stream = chunks.role() + b"".join(map(chunks.token, range(200)))
    stream += chunks.end("length", counts)
    *events, done, rest = stream.decode().split("\n\n")
    assert (done, rest) == ("data: [DONE]", "")
    objects = [json.loads(event.removeprefix("data: ")) for event in events]
    assert {o["model"] for o in objects} == {'quo"ted'}
    assert [o.get("usage", "absent") for o in objects[:-1]] == (
        [None if usage else "absent"] * (len(objects) - 1)
    )
    texts = [o["choices"][0]["delta"].get("content") for o in objects[1:201]]
    assert "".join(texts) == answer_text(200)
    if usage:
        assert objects[-1]["choices"] == []
        assert objects[-1]["usage"] == counts.as_json()
    else:
        assert objects[-1]["choices"][0]["finish_reason"] == "length"
