"""What one exchange left behind, before it is made into figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from probes.answer import Answer
from probes.protocols.base import ServerError
from probes.timeline import TokenTimeline
from probes.types import Failure, FinishReason


@dataclass(slots=True, kw_only=True)
class Record:
    """The state of one exchange; ``failure`` is None where all went well.

    Times are in ms from sent. ``send_ms`` is how long the sending system call took,
    ``late_ms`` how late the event loop was at most.
    """

    answer: Answer = field(default_factory=Answer)
    tokens: TokenTimeline = field(default_factory=TokenTimeline)
    failure: Failure | None = None
    failure_text: str = ""
    refusal: ServerError | None = None
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    streamed: bool | None = None
    bytes: int | None = None
    headers_ms: float | None = None
    end_ms: float | None = None
    dns_ms: float | None = None
    connect_ms: float | None = None
    tls_ms: float | None = None
    kernel_clock: bool | None = None
    send_ms: float = 0.0
    late_ms: float = 0.0

    def fail(self, failure: Failure, text: str) -> None:
        """Note a failure, unless one came before."""
        if self.failure is None:
            self.failure, self.failure_text = failure, text

    def fail_unless_complete(self, failure: Failure, text: str) -> None:
        """Note a failure that does not matter to an answer that is complete."""
        if not self.answer.is_complete:
            self.fail(failure, text)

    def judge(self) -> None:
        """Note what is wrong with an answer that came to its end."""
        whole_body = self.streamed is False
        if self.answer.finish is FinishReason.CONTENT_FILTER:
            self.fail(Failure.CONTENT_FILTER, "the content filter ended the answer")
        elif self.answer.finish is FinishReason.ERROR:
            self.fail(Failure.STREAM_ERROR, "the server ended the answer as failed")
        elif whole_body and not (self.answer.is_complete or self.tokens.has_tokens):
            self.fail(Failure.PROTOCOL, "the JSON is not an answer")
        elif not whole_body:
            self.fail_unless_complete(
                Failure.TRUNCATED, "the answer ended without a finish reason"
            )
        if not self.tokens.has_answer:
            kind = "only reasoning" if self.tokens.has_tokens else "no token"
            self.fail(Failure.EMPTY, f"the answer has {kind}")
