"""The decoders: any bytes, cut anywhere."""

from __future__ import annotations

import contextlib
import json
import time
import tracemalloc
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probes.body import BodyDecoder
from probes.decoder import (
    MAX_OBJECTS,
    MAX_VALUES,
    AnswerDecoder,
    Decoder,
    parse_objects,
)
from probes.ndjson import NdjsonDecoder
from probes.pace import MAX_PARTS, PIECE_BYTES, Pace, in_pieces
from probes.sse import SseDecoder
from probes.wire import MAX_BODY_BYTES, ByteBudget, Event, ProtocolError

SSE = "text/event-stream"
JSON = "application/json"
NDJSON = "application/x-ndjson"

cuts = st.lists(st.integers(0, 400), max_size=12)


def pieces(data: bytes, at: list[int]) -> list[bytes]:
    edges = sorted({0, len(data), *(cut % (len(data) + 1) for cut in at)})
    return [data[a:b] for a, b in pairwise(edges)]


def decode(decoder: Decoder, *chunks: bytes) -> list[Event]:
    events = [event for chunk in chunks for event in decoder.feed(chunk)]
    return events + decoder.flush()


@pytest.mark.parametrize(
    ("data", "events"),
    [
        (b"data: a\n\n", [("", "a")]),
        (b"data:a\n\n", [("", "a")]),
        (b"data:  a\n\n", [("", " a")]),
        (b"data: a\r\n\r\n", [("", "a")]),
        (b"data: a\r\r", [("", "a")]),
        (b"data: a\r\ndata: b\n\r", [("", "a\nb")]),
        (b"data: a\ndata: b\n\n", [("", "a\nb")]),
        (b"event: x\ndata: a\n\ndata: b\n\n", [("x", "a"), ("", "b")]),
        (b"event: x\n\ndata: b\n\n", [("", "b")]),
        (b": a comment\n\n:\n\n", []),
        (b": c\ndata: a\n\n", [("", "a")]),
        (b"id: 7\nretry: 9\nunknown\ndata: a\n\n", [("", "a")]),
        (b"data\n\n", [("", "")]),
        (b"data: a", [("", "a")]),
        (b"data: a\n", [("", "a")]),
        (b"\xef\xbb\xbfdata: a\n\n", [("", "a")]),
        (b"data: \xef\xbb\xbfa\n\n", [("", "\ufeffa")]),
        (b"data: a\n\n\xef\xbb\xbfdata: b\n\n", [("", "a")]),
        (
            "data: a\u2028b\u2029c\x85d\x0be\n\n".encode(),
            [("", "a\u2028b\u2029c\x85d\x0be")],
        ),
        (b"data: \xff\n\n", [("", "\ufffd")]),
        (b'error: {"code": 500}\n\n', [("error", '{"code": 500}')]),
        (b"", []),
    ],
)
def test_sse_reads_what_the_standard_says(data, events):
    assert decode(SseDecoder(), data) == events


def test_sse_gives_an_event_as_soon_as_its_line_ends_with_cr():
    decoder = SseDecoder()
    assert decoder.feed(b"data: a\r\n\r") == [Event("", "a")]
    assert decoder.feed(b"\ndata: b\r\n") == []
    assert decoder.feed(b"\r") == [Event("", "b")]
    assert decoder.feed(b"") == []
    assert decoder.feed(b"\n\n") == []
    assert decoder.feed(b"data: c\n\n") == [Event("", "c")]


line_end = st.sampled_from(["\n", "\r", "\r\n"])
line = st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), max_size=20)


@settings(deadline=None)
@given(st.lists(st.tuples(line, line_end), max_size=20), cuts)
def test_sse_does_not_care_where_the_bytes_are_cut(lines, at):
    data = "".join(f"data: {text}{end}{end}" for text, end in lines).encode()
    whole = decode(SseDecoder(), data)
    assert decode(SseDecoder(), *pieces(data, at)) == whole
    assert decode(SseDecoder(), *(bytes([byte]) for byte in data)) == whole
    assert [event.data for event in whole] == [text for text, _ in lines]


@settings(deadline=None)
@given(st.binary(max_size=300), cuts)
def test_no_bytes_upset_a_decoder(data, at):
    for make in (SseDecoder, NdjsonDecoder, BodyDecoder):
        assert decode(make(), data) == decode(make(), *pieces(data, at))


@settings(deadline=None)
@given(
    st.binary(max_size=200) | st.text('{}[]<:da \n"1,', max_size=60).map(str.encode),
    st.sampled_from(["sse", "ndjson"]),
    st.sampled_from([SSE, JSON, NDJSON, "text/html", "", "Text/Plain; charset=x"]),
)
def test_an_answer_decoder_raises_nothing_but_its_own_error(data, framing, media_type):
    decoder = AnswerDecoder(framing, media_type)
    with contextlib.suppress(ProtocolError):
        decode(decoder, *(bytes([byte]) for byte in data))
    assert decoder.streamed in (True, False, None)


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b'{"a": 1}\n{"b": 2}\n', ['{"a": 1}', '{"b": 2}']),
        (b'{"a": 1}\r\n\n  \n{"b": 2}', ['{"a": 1}', '{"b": 2}']),
        ('{"a": "\u2028"}\n'.encode(), ['{"a": "\u2028"}']),
    ],
)
def test_ndjson_lines_end_with_lf_alone(data, lines):
    for chunks in ([data], [bytes([byte]) for byte in data]):
        assert [e.data for e in decode(NdjsonDecoder(), *chunks)] == lines


def test_a_body_is_one_event_without_its_byte_order_mark():
    assert decode(BodyDecoder(), b"\xef\xbb", b"\xbf{}") == [Event("", "{}")]


@pytest.mark.parametrize("make", [SseDecoder, NdjsonDecoder, BodyDecoder])
def test_what_is_longer_than_the_limit_is_refused(make):
    decoder = make(ByteBudget(100))
    decoder.feed(b"x" * 100)
    with pytest.raises(ProtocolError, match="longer than 100 bytes"):
        decoder.feed(b"x")


def test_the_limit_is_eight_mebibytes_for_events_and_whole_bodies_alike():
    chunk = b"data: " + b"x" * 65_530
    for first in (b"", b"{"):
        decoder = AnswerDecoder("sse", SSE)
        decoder.feed(first)
        with pytest.raises(ProtocolError):
            for _ in range(MAX_BODY_BYTES // len(chunk) + 1):
                decoder.feed(chunk)
    decoder = AnswerDecoder("ndjson", JSON)
    with pytest.raises(ProtocolError):
        for _ in range(MAX_BODY_BYTES // len(chunk) + 2):
            decoder.feed(b"{" + chunk)


@pytest.mark.parametrize("unit", [b"data: x\n\n", b"x", b"\r", b": \n", b"{"])
@pytest.mark.parametrize("framing", ["sse", "ndjson"])
def test_decoding_takes_linear_time_byte_by_byte(unit, framing):
    def seconds(count: int) -> float:
        decoder = AnswerDecoder(framing, SSE if framing == "sse" else JSON)
        bytewise = [bytes([byte]) for byte in (b"{" if framing == "ndjson" else b":")]
        bytewise += [bytes([byte]) for byte in unit * (count // len(unit))]
        began = time.thread_time()
        for byte in bytewise:
            decoder.feed(byte)
        return time.thread_time() - began

    seconds(1_000)
    short = min(seconds(5_000) for _ in range(3))
    long = min(seconds(40_000) for _ in range(2))
    assert long < short * 8 * 4, (
        "eight times the bytes, far more than eight times the time"
    )


def test_memory_stays_near_the_limit():
    tracemalloc.start()
    try:
        decoder = AnswerDecoder("sse", SSE)
        with pytest.raises(ProtocolError):
            while True:
                decoder.feed(b"data: y" * 9_000)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 3 * MAX_BODY_BYTES


@pytest.mark.parametrize(
    ("framing", "media_type", "chunks", "streamed", "count"),
    [
        ("sse", SSE, [b"data: {}\n\n"], True, 1),
        ("sse", SSE, [b"\n\n ", b"\xef\xbb\xbfdata: {}\n\n"], True, 1),
        ("sse", JSON, [b"data: {}\n\n"], True, 1),
        ("sse", SSE, [b' {"a":', b" 1}"], False, 1),
        ("sse", JSON, [b"[{}]"], False, 1),
        ("sse", SSE, [b""], None, 0),
        ("sse", SSE, [b": hello\n\n"], True, 0),
        ("ndjson", NDJSON, [b"{}\n", b"{}\n"], True, 2),
        ("ndjson", NDJSON, [b"{}"], True, 1),
        ("ndjson", JSON, [b"{}"], False, 1),
        ("ndjson", JSON, [b"{}\n"], False, 1),
        ("ndjson", JSON + "; charset=utf-8", [b"{}\n{}", b"\n"], True, 2),
        ("ndjson", JSON, [b"{\n", b'"a": 1}'], False, 1),
        ("ndjson", JSON, [b"", b"\n"], None, 0),
    ],
)
def test_the_first_bytes_tell_how_an_answer_is_framed(
    framing, media_type, chunks, streamed, count
):
    decoder = AnswerDecoder(framing, media_type)
    assert len(decode(decoder, *chunks)) == count
    assert decoder.streamed is streamed


@pytest.mark.parametrize(
    ("framing", "media_type", "data"),
    [
        ("sse", "text/html", b"data: {}\n\n"),
        ("sse", SSE, b"  <html>"),
        ("sse", "text/plain", b"upstream connect error"),
        ("ndjson", NDJSON, b"data: {}\n\n"),
        ("ndjson", NDJSON, b"<html>"),
    ],
)
def test_what_no_protocol_allows_is_refused(framing, media_type, data):
    with pytest.raises(ProtocolError):
        decode(AnswerDecoder(framing, media_type), data)


def test_objects_are_parsed_one_by_one_or_as_a_list():
    assert parse_objects('{"a": 1}') == [{"a": 1}]
    assert parse_objects('[{"a": 1}, {}]') == [{"a": 1}, {}]
    assert parse_objects(json.dumps({"a": "\ud800"})) == [{"a": "\ud800"}]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nope",
        "1",
        '"a"',
        "null",
        "[1]",
        "{",
        "[" * 40_000,
        "[" * 100_000,
        "1" * 5_000,
    ],
)
def test_what_is_no_object_is_refused(text):
    with pytest.raises(ProtocolError):
        parse_objects(text)


@pytest.mark.parametrize(
    "text",
    [
        json.dumps([{}] * (MAX_OBJECTS + 1)),
        json.dumps({"a": [0] * MAX_VALUES}),
        json.dumps({"a": [[]] * (MAX_VALUES // 2)}),
        json.dumps(dict.fromkeys(map(str, range(MAX_VALUES + 1)), 0)),
        "{" * (MAX_VALUES + 1),
    ],
)
def test_an_event_of_too_many_values_is_refused_before_it_costs(text):
    with pytest.raises(ProtocolError, match=r"^an event has more than \d+ \w+$"):
        parse_objects(text)


def test_an_event_may_have_many_values_and_a_long_text():
    parse_objects(json.dumps([{}] * MAX_OBJECTS))
    parse_objects(json.dumps({"a": [0] * (MAX_VALUES - 2)}))
    parse_objects(json.dumps({"a": "long " * 1_000_000}))


def test_a_long_number_is_read_without_its_digits():
    short, long, endless = "9" * 20, "9" * 21, "9" * 5_000
    (found,) = parse_objects(f'{{"a": [{short}, {long}, -{endless}]}}')
    assert found["a"] == [int(short), 1e21, float("-inf")]


def test_a_chunk_is_cut_into_pieces_that_are_decoded_quickly():
    for size in (0, 1, PIECE_BYTES, PIECE_BYTES + 1, 5 * PIECE_BYTES):
        chunk = bytes(size)
        cut = list(in_pieces(chunk))
        assert b"".join(cut) == chunk
        assert max(map(len, cut)) <= PIECE_BYTES


@pytest.mark.parametrize(
    ("size", "longest"), [(0, 256), (1, 256), (64, 128), (PIECE_BYTES, 1)]
)
def test_a_reader_gives_way_again_and_again(size, longest):
    pace = Pace()
    turns = [pace.chunk(size) for _ in range(2_000)]
    assert turns.index(True) < longest
    assert turns.count(True) >= 2_000 // longest


def test_an_answer_has_only_so_many_parts():
    pace = Pace()
    assert sum(pace.part() for _ in range(MAX_PARTS)) == MAX_PARTS // 256
    with pytest.raises(ProtocolError, match="more than 400000 parts"):
        pace.part()


def test_events_of_lines_and_bodies_have_no_name():
    assert decode(NdjsonDecoder(), b"{}\n") == [Event("", "{}")]
    assert decode(BodyDecoder(), b"{}") == [Event("", "{}")]


def test_lines_are_told_from_a_body_by_the_first_of_them():
    decoder = AnswerDecoder("ndjson", JSON)
    assert len(decoder.feed(b'{"a": "\xff"}\n{"b": 1}\n{"c":')) == 2
    assert decoder.streamed is True


def test_an_empty_stream_of_lines_is_no_protocol_error():
    decoder = AnswerDecoder("ndjson", NDJSON)
    assert decode(decoder, b"{") == [Event("", "{")]
    with pytest.raises(ProtocolError, match=r"^the answer is not JSON$"):
        decode(AnswerDecoder("ndjson", NDJSON), b"data: {}\n\n")
