"""Token counts in the dialects of the OpenAI ``usage`` object."""

from __future__ import annotations

from probes.protocols.base import Json, Usage, as_count, as_object, first_count


def read_usage(usage: Json) -> Usage | None:
    """Return the counts of one usage object, None where it counts nothing."""
    if not usage:
        return None
    details_in = as_object(
        usage.get("prompt_tokens_details") or usage.get("input_tokens_details")
    )
    details_out = as_object(
        usage.get("completion_tokens_details") or usage.get("output_tokens_details")
    )
    reasoning = first_count(
        details_out.get("reasoning_tokens"), usage.get("reasoning_tokens")
    )
    return Usage(
        output_tokens=_output(usage, reasoning),
        reasoning_tokens=reasoning,
        input_tokens=first_count(usage.get("prompt_tokens"), usage.get("input_tokens")),
        cached_input_tokens=first_count(
            details_in.get("cached_tokens"),
            usage.get("prompt_cache_hit_tokens"),  # DeepSeek
            usage.get("cache_read_input_tokens"),  # LiteLLM
            usage.get("cached_tokens"),  # Moonshot
        ),
        cache_write_input_tokens=first_count(
            details_in.get("cache_write_tokens"),  # OpenRouter
            details_in.get("cache_creation_tokens"),
            usage.get("cache_creation_input_tokens"),  # LiteLLM
        ),
    )


def _output(usage: Json, reasoning: int | None) -> int | None:
    """Return all output tokens, reasoning within them.

    xAI counts reasoning beside ``completion_tokens``: its total gives that away.
    """
    output = first_count(usage.get("completion_tokens"), usage.get("output_tokens"))
    if output is None or not reasoning:
        return output
    given = first_count(usage.get("prompt_tokens"), usage.get("input_tokens")) or 0
    beside = usage.get("total_tokens") == given + output + reasoning
    return as_count(output + reasoning) if beside or reasoning > output else output
