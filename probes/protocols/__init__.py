"""The protocols a probe speaks, by name. A new one needs its file and a line here."""

from __future__ import annotations

from probes.protocols import anthropic, gemini, ollama, openai, openai_responses
from probes.protocols.base import Protocol

PROTOCOLS: dict[str, Protocol] = {
    module.PROTOCOL.name: module.PROTOCOL
    for module in (openai, openai_responses, anthropic, gemini, ollama)
}
