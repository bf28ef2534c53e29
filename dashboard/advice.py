"""What to tell people about a failed probe: a sentence that says what to do next.

Values only. ``alerts.phrases.failure`` has each failure in a few words.
"""

from __future__ import annotations

from probes.types import Failure

_ADVICE: dict[Failure, str] = {
    Failure.DNS: (
        "The host name in {base_url} was not found. Check it for a slip of the pen, "
        "and that the workers can resolve it."
    ),
    Failure.CONNECTION: (
        "Nothing answers at {base_url}. Check host and port, that the server runs, "
        "and that no firewall stands between it and the workers."
    ),
    Failure.TLS: (
        "{base_url} answers, but not with TLS that can be trusted. Check its "
        "certificate, or use http:// where the server has none."
    ),
    Failure.TIMEOUT_CONNECT: (
        "{base_url} did not accept a connection in time. Check host and port, and "
        "that no firewall drops the packets."
    ),
    Failure.TIMEOUT_FIRST_TOKEN: (
        "The server took the request but sent no token in time. It may be loading "
        "{model} or be out of capacity: try again, then look at its queue."
    ),
    Failure.TIMEOUT_IDLE: (
        "The answer began and then stood still. Look at the server's load, and at "
        "proxies on the way that hold streams back."
    ),
    Failure.TIMEOUT_TOTAL: (
        "The answer was not complete in time. Raise the scenario's time limit, or "
        "have it ask for fewer tokens."
    ),
    Failure.AUTH: (
        "The server refused the API key. Paste it again or check the variable that "
        "names it, and that it may use {model}."
    ),
    Failure.RATE_LIMITED: (
        "The server allows no more requests for now. Probe less often, or raise the "
        "account's limit."
    ),
    Failure.OVERLOADED: (
        "The server says it is overloaded. Nothing is wrong with your entries: try "
        "again in a minute."
    ),
    Failure.CLIENT: (
        "The server refused the request. Check that {model} is a model it serves "
        "and that the protocol is right."
    ),
    Failure.SERVER: (
        "The server failed by itself. Its log says why; your entries may be right."
    ),
    Failure.PROTOCOL: (
        "Something answers at {base_url}, but not with this protocol. Check that the "
        "URL is the API's base (often ending in /v1) and the protocol is right."
    ),
    Failure.STREAM_ERROR: (
        "The server began to answer and then reported an error. Its log says why."
    ),
    Failure.TRUNCATED: (
        "The connection ended in the middle of the answer. Look for a proxy with a "
        "short time-out, or a server that restarts."
    ),
    Failure.EMPTY: (
        "The server answered without a word. A reasoning model may have used up all "
        "tokens for thinking: pick a scenario that allows more."
    ),
    Failure.CONTENT_FILTER: (
        "The provider's content filter stopped the answer. Pick another scenario, "
        "or loosen the filter for this key."
    ),
}

_NO_MODEL = (
    "The server does not serve {model} here. Check that it is spelt as the server "
    "lists it, and that this key may use it."
)

_NOT_FOUND = (
    "The server answers, but has nothing at this address. Check {base_url}: its "
    "path may be wrong (many end in /v1), or the server speaks another protocol."
)

_NO_KEY = (
    "The server asks for an API key and none is given. Paste one, or name the "
    "variable that holds it."
)

_UNKNOWN = "The probe failed in a way that this version does not know: {error}."


def advise(
    error: str,
    *,
    http_status: int | None,
    error_text: str | None,
    base_url: str,
    model: str,
    has_key: bool,
) -> str:
    """One or two sentences: what happened and what to do, and the server's words.

    Those come last, but first where they name the model that it does not have.
    """
    names_model = _names_model(error_text, model)
    sentence = _sentence(error, http_status, names_model=names_model, has_key=has_key)
    words = sentence.format(base_url=base_url, model=model, error=error)
    if http_status == 404 and error_text and names_model:
        return f"{error_text.rstrip('.')} (HTTP 404). {words}"
    status = f"HTTP {http_status}" if http_status and http_status != 200 else ""
    told = ": ".join(part for part in (status, error_text) if part)
    return f"{words} ({told})" if told else words


def sentences(*, base_url: str, model: str, has_key: bool) -> dict[str, str]:
    """Each failure's advice, and ``not_found`` and ``no_model`` for a 404.

    For ``static/js/advice.js``, which knows the failure only once it comes.
    """
    found = {
        **{str(failure): _ADVICE[failure] for failure in Failure},
        "not_found": _NOT_FOUND,
        "no_model": _NO_MODEL,
    }
    if not has_key:
        found[str(Failure.AUTH)] = _NO_KEY
    return {
        name: sentence.format(base_url=base_url, model=model)
        for name, sentence in found.items()
    }


def _names_model(error_text: str | None, model: str) -> bool:
    text = (error_text or "").casefold()
    return "model" in text or model.casefold() in text


def _sentence(
    error: str, http_status: int | None, *, names_model: bool, has_key: bool
) -> str:
    if http_status == 404:
        return _NO_MODEL if names_model else _NOT_FOUND
    if error == Failure.AUTH and not has_key:
        return _NO_KEY
    try:
        return _ADVICE[Failure(error)]
    except ValueError:
        return _UNKNOWN
