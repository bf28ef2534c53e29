import pytest

from dashboard import advice
from probes.types import Failure


def told(error: str, **overrides):
    facts = {
        "http_status": None,
        "error_text": None,
        "base_url": "http://vllm:8000/v1",
        "model": "mistral",
        "has_key": True,
    }
    return advice.advise(error, **facts | overrides)


@pytest.mark.parametrize("failure", Failure)
def test_each_failure_has_a_sentence_of_its_own(failure):
    sentence = told(failure)
    assert sentence.endswith(".")
    assert "{" not in sentence
    assert [f for f in Failure if told(f) == sentence] == [failure]


def test_a_wrong_url_names_the_url():
    for failure in (Failure.DNS, Failure.CONNECTION, Failure.TLS, Failure.PROTOCOL):
        assert "http://vllm:8000/v1" in told(failure)


def test_a_wrong_key_says_to_look_at_the_key():
    assert "API key" in told(Failure.AUTH, http_status=401)


def test_a_key_that_nobody_gave_is_not_called_wrong():
    sentence = told(Failure.AUTH, http_status=401, has_key=False)
    assert "none is given" in sentence
    assert "again" not in sentence


@pytest.mark.parametrize("words", ["no such model", "`mistral` is unknown."])
def test_a_wrong_model_is_told_in_the_servers_words_first(words):
    sentence = told(Failure.CLIENT, http_status=404, error_text=words)
    assert sentence.startswith(f"{words.rstrip('.')} (HTTP 404). ")
    assert "does not serve mistral" in sentence
    assert "/v1" not in sentence


@pytest.mark.parametrize("words", [None, "Not Found"])
def test_a_wrong_path_questions_the_address_and_the_protocol(words):
    sentence = told(Failure.CLIENT, http_status=404, error_text=words)
    assert "http://vllm:8000/v1" in sentence
    assert "many end in /v1" in sentence
    assert "another protocol" in sentence


def test_the_servers_own_words_come_last_and_braces_in_them_stay():
    sentence = told(Failure.SERVER, http_status=500, error_text="{model} broke")
    assert sentence.endswith("(HTTP 500: {model} broke)")


def test_a_failure_inside_an_answer_does_not_blame_its_status():
    assert "HTTP 200" not in told(Failure.TRUNCATED, http_status=200)


def test_a_failure_of_a_later_version_is_told_as_it_stands():
    assert "quota_spent" in told("quota_spent")


def test_sentences_are_the_advice_without_what_only_a_sample_knows():
    facts = {"base_url": "http://vllm:8000/v1", "model": "mistral"}
    found = advice.sentences(**facts, has_key=True)
    assert {f: found[f] for f in Failure} == {f: told(f) for f in Failure}
    assert found["not_found"] in told(Failure.CLIENT, http_status=404)
    words = told(Failure.CLIENT, http_status=404, error_text="no such model")
    assert found["no_model"] in words
    without = advice.sentences(**facts, has_key=False)
    assert without[Failure.AUTH] == told(Failure.AUTH, has_key=False)
