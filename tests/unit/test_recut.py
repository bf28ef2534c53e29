"""Every tape's bytes, cut at random places: the answer is the same."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probes.answer import Answer
from probes.decoder import AnswerDecoder
from probes.protocols import PROTOCOLS
from probes.reading import read_event
from probes.timeline import Arrival, TokenTimeline
from probes.wire import ProtocolError
from tests.tape_player import Tape, load_tapes, payload_of


def streams() -> list[Any]:
    """Return each answer that has a body and no error status."""
    found = []
    for tape in load_tapes():
        for number, take in enumerate(tape.get("takes") or [tape]):
            if take.get("steps") and take.get("status", 200) == 200:
                protocol = tape["protocol"]
                name = f"{tape['name']}-{number}"
                found.append(pytest.param(protocol, take, id=name))
    return found


def read_all(protocol_name: str, take: Tape, chunks: list[bytes]) -> dict[str, Any]:
    """Return what a body comes to, be it an answer or an error."""
    protocol = PROTOCOLS[protocol_name]
    media_type = take.get("headers", {}).get("content-type", "text/event-stream")
    decoder = AnswerDecoder(protocol.framing, media_type)
    answer, timeline = Answer(), TokenTimeline()
    error = None
    try:
        for chunk in [*chunks, None]:
            events = decoder.flush() if chunk is None else decoder.feed(chunk)
            for event in events:
                for delta in read_event(protocol, event):
                    answer.add(delta)
                    timeline.observe(Arrival(1, 0.0, 0.0), delta)
    except ProtocolError as broken:
        error = str(broken)
    figures = timeline.figures(answer.usage)
    return vars(answer) | {
        "error_text": error,
        "streamed": decoder.streamed,
        "figures": figures,
    }


@pytest.mark.parametrize(("protocol", "take"), streams())
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_it_does_not_matter_where_the_bytes_are_cut(
    protocol: str, take: Tape, data: st.DataObject
) -> None:
    body = b"".join(payload_of(step) for step in take["steps"])
    inside = st.lists(st.integers(0, len(body)), max_size=30)
    edges = [0, *sorted(data.draw(inside)), len(body)]
    pieces = [body[start:end] for start, end in pairwise(edges)]
    assert read_all(protocol, take, pieces) == read_all(protocol, take, [body])


@pytest.mark.parametrize(("protocol", "take"), streams())
def test_nor_that_every_byte_comes_alone(protocol: str, take: Tape) -> None:
    body = b"".join(payload_of(step) for step in take["steps"])
    bytewise = [bytes([byte]) for byte in body]
    assert read_all(protocol, take, bytewise) == read_all(protocol, take, [body])
