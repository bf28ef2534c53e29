"""A model server in a process of its own that knows to the nanosecond what it did.

`python -m tests.bench.scripted_stream` prints its base URL and serves until it is
killed. Each chat completion is 200 ms to the first token, 50 tokens, 20 ms apart, at
deadlines that count from the request's receipt, so that one late token makes no other
late. `GET /log` gives the true times of all answers since the last such request, by
the `x-stream` header of their requests.

All times are of the monotonic clock, which is one for all processes of a machine.
"""

from __future__ import annotations

import heapq
import json
import selectors
import socket
import struct
import time
from collections.abc import Iterator

FIRST_NS = 200_000_000
STEP_NS = 20_000_000
TOKENS = 50

_SO_TIMESTAMPNS = 35
_TIMESPEC = struct.Struct("qq")
_HEAD = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
    b"transfer-encoding: chunked\r\nconnection: close\r\n\r\n"
)


def _event(payload: object) -> bytes:
    data = payload if isinstance(payload, str) else json.dumps(payload)
    event = f"data: {data}\n\n".encode()
    return b"%x\r\n%s\r\n" % (len(event), event)


def _delta(delta: dict[str, str], finish_reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return _event(
        {
            "id": "chatcmpl-0123456789abcdef0123456789abcdef",
            "object": "chat.completion.chunk",
            "created": 1_700_000_000,
            "model": "scripted",
            "choices": [choice],
        }
    )


_USAGE = {"prompt_tokens": 100, "completion_tokens": TOKENS, "total_tokens": 150}
_TOKEN = _delta({"content": "word "})
# The end of an answer is one more step of a real model.
_END = (
    _delta({}, "stop")
    + _event({"choices": [], "usage": _USAGE})
    + _event("[DONE]")
    + b"0\r\n\r\n"
)


def _real_minus_monotonic_ns() -> int:
    """What the kernel's wall-clock stamps are ahead of the monotonic clock."""
    while True:
        before_ns = time.monotonic_ns()
        real_ns = time.time_ns()
        after_ns = time.monotonic_ns()
        if after_ns - before_ns < 20_000:  # else this process was put aside meanwhile
            return real_ns - (before_ns + after_ns) // 2


class Answer:
    """One connection: its request, and when what was written."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.stream_id = ""
        self.path = ""
        self.received_ns = 0
        self.writes_ns: list[tuple[int, int]] = []
        self._request = b""

    def receive(self) -> bool:
        """Take in what came; return whether the request is whole.

        Its receipt is the kernel's stamp: how soon this process got round to reading
        is part of the server's answer, as it is with every server.
        """
        data, ancillary, _, _ = self.sock.recvmsg(65536, 64)
        if not data:
            raise ConnectionResetError
        self._request += data
        head, blank, body = self._request.partition(b"\r\n\r\n")
        if not blank:
            return False
        first, *lines = head.decode().split("\r\n")
        self.path = first.split(" ")[1]
        fields = dict(line.lower().split(": ", 1) for line in lines)
        self.stream_id = fields.get("x-stream", "")
        seconds, nanoseconds = _TIMESPEC.unpack(ancillary[0][2])
        real_ns = seconds * 1_000_000_000 + nanoseconds
        self.received_ns = real_ns - _real_minus_monotonic_ns()
        return len(body) >= int(fields.get("content-length", "0"))

    def write_next(self) -> int | None:
        """Write what is due; return when the next is, None where all is written."""
        if len(self.writes_ns) == TOKENS:
            self.sock.sendall(_END)
            return None
        before_ns = time.monotonic_ns()
        self.sock.sendall(_TOKEN)
        self.writes_ns.append((before_ns, time.monotonic_ns()))
        return self.received_ns + FIRST_NS + len(self.writes_ns) * STEP_NS


class Server:
    """One thread, one selector, one heap of deadlines."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        # Each accepted socket inherits it.
        self._listener.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
        self.port: int = self._listener.getsockname()[1]
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._due: list[tuple[int, int, Answer]] = []
        self._log: dict[str, tuple[int, list[tuple[int, int]]]] = {}

    def run(self) -> None:
        while True:
            for key, _ in self._selector.select(self._wait_s()):
                if key.data is None:
                    self._accept()
                else:
                    self._receive(key.data)
            for answer in self._take_due():
                self._write(answer)

    def _wait_s(self) -> float | None:
        if not self._due:
            return None
        return max(0.0, (self._due[0][0] - time.monotonic_ns()) / 1e9)

    def _accept(self) -> None:
        sock, _ = self._listener.accept()
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._selector.register(sock, selectors.EVENT_READ, Answer(sock))

    def _receive(self, answer: Answer) -> None:
        try:
            is_whole = answer.receive()
        except ConnectionError:
            return self._close(answer)
        if not is_whole:
            return
        self._selector.unregister(answer.sock)
        if answer.path == "/log":
            return self._tell(answer)
        answer.sock.sendall(_HEAD)
        self._log[answer.stream_id] = (answer.received_ns, answer.writes_ns)
        self._plan(answer, answer.received_ns + FIRST_NS)

    def _plan(self, answer: Answer, due_ns: int) -> None:
        heapq.heappush(self._due, (due_ns, id(answer), answer))

    def _take_due(self) -> Iterator[Answer]:
        while self._due and self._due[0][0] <= time.monotonic_ns():
            yield heapq.heappop(self._due)[2]

    def _write(self, answer: Answer) -> None:
        try:
            due_ns = answer.write_next()
        except ConnectionError:
            due_ns = None
        if due_ns is None:
            answer.sock.close()
        else:
            self._plan(answer, due_ns)

    def _close(self, answer: Answer) -> None:
        self._selector.unregister(answer.sock)
        answer.sock.close()

    def _tell(self, answer: Answer) -> None:
        body = json.dumps(self._log).encode()
        self._log = {}
        answer.sock.sendall(
            b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
            b"connection: close\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body)
        )
        answer.sock.close()


if __name__ == "__main__":
    server = Server()
    print(f"http://127.0.0.1:{server.port}", flush=True)
    server.run()
