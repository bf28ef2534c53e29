"""The forms: endpoints with their scenarios, trials, and a scenario's limits."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator

from collectors import keys
from collectors.models import Endpoint, Objective, Scenario, Trial
from collectors.models.targets import EndpointFields
from probes.protocols import PROTOCOLS

PROTOCOL_LABELS = {
    "openai": "OpenAI chat completions (also vLLM, SGLang, llama.cpp, LiteLLM …)",
    "openai-responses": "OpenAI responses",
    "anthropic": "Anthropic messages",
    "gemini": "Gemini streamGenerateContent",
    "ollama": "Ollama chat",
}


def origin(url: str) -> tuple[str, str | None, int | None]:
    """Scheme, host and port: who would be handed a key. Raises ValueError."""
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port


class Described(forms.Form):
    """Marks a wrong field so that its message is read with it."""

    def described(self) -> None:
        for name in self.errors:
            if name in self.fields:
                widget = self.fields[name].widget
                widget.attrs["aria-invalid"] = "true"
                widget.attrs["aria-describedby"] = f"{self[name].id_for_label}-error"


class TargetForm(Described, forms.ModelForm):  # type: ignore[type-arg]
    """Where a model is reached, and with which key.

    A stored key is kept where neither a new one nor a variable is given, but never
    sent to another server than the one it was given for. ``stored`` is its owner.
    """

    protocol = forms.ChoiceField(
        choices=[(name, PROTOCOL_LABELS.get(name, name)) for name in PROTOCOLS]
    )
    base_url = forms.CharField(
        label="Base URL",
        max_length=300,
        help_text="What the vendor’s own SDK takes, for instance https://host/v1",
        widget=forms.TextInput(
            attrs={"inputmode": "url", "placeholder": "https://", "spellcheck": "false"}
        ),
    )
    key_variable = forms.CharField(
        label="Environment variable with the key",
        required=False,
        max_length=100,
        help_text="Its name, as the workers know it; or paste the key below",
        widget=forms.TextInput(attrs={"spellcheck": "false"}),
    )
    api_key = forms.CharField(
        label="API key",
        required=False,
        max_length=1000,
        help_text="Stored encrypted and never shown again",
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
    )
    stored: EndpointFields | None = None

    def clean_base_url(self) -> str:
        url: str = self.cleaned_data["base_url"].strip().rstrip("/")
        try:
            scheme, host, _ = origin(url)
        except ValueError as error:
            raise ValidationError(f"This is not a URL: {error}.") from error
        if scheme not in ("http", "https") or not host:
            raise ValidationError(
                "Give the whole URL, with http:// or https:// and the host."
            )
        if "@" in urlsplit(url).netloc:
            raise ValidationError("Leave user and password out; give the key below.")
        if "?" in url or "#" in url:
            # The URL is shown to everybody who may sign in; a key in it would be, too.
            raise ValidationError("Leave out what follows “?”; give the key below.")
        return url

    def clean_key_variable(self) -> str:
        variable: str = self.cleaned_data["key_variable"].strip()
        if variable and not keys.allowed(variable):
            raise ValidationError(
                "This variable may not be read. KEY_VARIABLES on the server lists "
                "the names that may."
            )
        return variable

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if cleaned.get("api_key") and cleaned.get("key_variable"):
            self.add_error("api_key", "Give a key or the name of a variable, not both.")
        elif not self.errors:
            self.instance.key_encrypted = self._key(cleaned)
        return cleaned

    def _key(self, cleaned: dict[str, Any]) -> str:
        if cleaned["api_key"]:
            return keys.encrypt(cleaned["api_key"])
        if cleaned["key_variable"] or self.stored is None:
            return ""
        kept = self.stored.key_encrypted
        if kept and origin(cleaned["base_url"]) != origin(self.stored.base_url):
            self.add_error(
                "api_key",
                "The URL names another server: give the key again, so that it goes "
                "to nobody it was not meant for.",
            )
            return ""
        return kept


class EndpointForm(TargetForm):
    """An endpoint and the scenarios in which it is watched."""

    class Meta:
        model = Endpoint
        fields = ("name", "protocol", "base_url", "model", "key_variable")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.scenarios = list(Scenario.objects.all())
        if self.instance.pk:
            # A copy of its own: cleaning changes the instance.
            self.stored = Endpoint.objects.get(pk=self.instance.pk)
        watched = self._watched()
        for scenario in self.scenarios:
            monitor = watched.get(scenario.pk)
            self.fields[f"watch_{scenario.pk}"] = forms.BooleanField(
                required=False,
                label=scenario.name,
                initial=bool(monitor and monitor[0]),
            )
            self.fields[f"interval_{scenario.pk}"] = forms.IntegerField(
                required=False,
                label=f"Interval of {scenario.name} in seconds",
                initial=monitor[1] if monitor else scenario.interval_s,
                validators=[MinValueValidator(1), MaxValueValidator(86_400)],
            )

    def _watched(self) -> dict[int, tuple[bool, int]]:
        if not self.instance.pk:
            return {}
        rows = self.instance.monitors.values_list(
            "scenario_id", "enabled", "interval_s"
        )
        return {scenario: (enabled, interval) for scenario, enabled, interval in rows}

    def rows(self) -> list[tuple[Scenario, forms.BoundField, forms.BoundField]]:
        """Each scenario with its checkbox and its interval."""
        return [
            (s, self[f"watch_{s.pk}"], self[f"interval_{s.pk}"]) for s in self.scenarios
        ]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        for scenario in self.scenarios:
            name = f"interval_{scenario.pk}"
            missing = cleaned.get(name, 0) is None
            if missing and cleaned.get(f"watch_{scenario.pk}"):
                self.add_error(name, "Say how often, in seconds.")
        return cleaned

    def chosen(self) -> dict[Scenario, int]:
        """The scenarios to watch and their intervals in seconds, once valid."""
        return {
            s: self.cleaned_data[f"interval_{s.pk}"]
            for s in self.scenarios
            if self.cleaned_data[f"watch_{s.pk}"]
        }


class TrialForm(TargetForm):
    """One probe with the values of an endpoint's form, before they are saved."""

    endpoint = forms.ModelChoiceField(Endpoint.objects.all(), required=False)

    class Meta:
        model = Trial
        fields = ("protocol", "base_url", "model", "key_variable", "scenario")

    def clean_endpoint(self) -> Endpoint | None:
        """Asked for before ``clean``: whose stored key may be used."""
        self.stored = self.cleaned_data["endpoint"]
        return self.stored  # type: ignore[return-value]


def plain(value: float | None) -> float | None:
    """``value`` as people write it: 1000, not 1000.0."""
    return int(value) if value is not None and value == int(value) else value


class LimitsForm(Described, forms.ModelForm):  # type: ignore[type-arg]
    """A scenario's limits from now on. An empty field is no limit."""

    class Meta:
        model = Objective
        fields = (
            "ttft_ms_max",
            "tokens_per_second_min",
            "total_ms_max",
            "max_gap_ms_max",
        )
        labels = {
            "ttft_ms_max": "TTFT at most (ms)",
            "tokens_per_second_min": "Tokens/s at least",
            "total_ms_max": "Completion time at most (ms)",
            "max_gap_ms_max": "Longest wait between tokens at most (ms)",
        }

    def __init__(self, *args: Any, current: Objective | None, **kwargs: Any) -> None:
        """``current`` are the limits in force, to start from."""
        super().__init__(*args, **kwargs)
        for name in self.Meta.fields:
            self.fields[name].validators.append(MinValueValidator(0.001))
            self.initial[name] = plain(getattr(current, name, None))
