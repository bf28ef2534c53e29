"""The times of one exchange, from the stamps of the stream below it."""

from __future__ import annotations

from time import perf_counter

from probes.connections import Backend
from probes.timeline import Arrival
from probes.transport import Send

_NS_PER_MS = 1_000_000


class Stopwatch:
    """Starts when the request's last byte was sent, and reads the time of arrivals.

    ``on_connected`` and ``on_sent`` of httpcore's trace tell it where things stand.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._sent: Send | None = None
        self._arrival = Arrival(0, 0.0, 0.0)
        self._tls_began_s = 0.0
        self.tls_ms: float | None = None
        self.kernel_clock: bool | None = None

    @property
    def send_ms(self) -> float:
        """How long the system call took that sent the last bytes."""
        if self._sent is None:
            return 0.0
        return (self._sent.after_ns - self._sent.before_ns) / _NS_PER_MS

    def mark_sent(self) -> None:
        """Start: the request is with the kernel."""
        if self._backend.stream is not None:
            self._sent = self._backend.stream.sent

    def begin_tls(self) -> None:
        self._tls_began_s = perf_counter()

    def end_tls(self) -> None:
        self.tls_ms = (perf_counter() - self._tls_began_s) * 1000

    def arrival(self) -> Arrival:
        """Return the receive that brought what was read last."""
        stream = self._backend.stream
        if stream is None or stream.received is None:
            return self._arrival
        if self._sent is None:
            # The server answered before it had the whole request.
            self._sent = stream.sent or Send(
                stream.received.at_ns, stream.received.at_ns
            )
        receive = stream.received
        if receive.serial != self._arrival.serial:
            started_ns = self._sent.before_ns
            self._arrival = Arrival(
                receive.serial,
                max(0.0, (receive.at_ns - started_ns) / _NS_PER_MS),
                max(0.0, (receive.since_ns - started_ns) / _NS_PER_MS),
            )
            self.kernel_clock = receive.kernel and self.kernel_clock is not False
        return self._arrival

    @property
    def peer_hung_up(self) -> bool:
        """Whether the peer was gone when more was expected of it."""
        stream = self._backend.stream
        return stream is not None and stream.end_was_read
