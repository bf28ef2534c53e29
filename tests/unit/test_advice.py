import pytest

from dashboard import advice
from probes.types import Failure


def told(error: str, **overrides):
    facts = {
        "http_status": None,
        "error_text": None,
        "base_url": "http://vllm:8000/v1",
        "model": "mistral",
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


def test_a_wrong_model_or_path_names_both():
    sentence = told(Failure.CLIENT, http_status=404, error_text="no such model")
    assert "mistral" in sentence
    assert "http://vllm:8000/v1" in sentence
    assert sentence.endswith("(HTTP 404: no such model)")


def test_the_servers_own_words_come_last_and_braces_in_them_stay():
    sentence = told(Failure.SERVER, http_status=500, error_text="{model} broke")
    assert sentence.endswith("(HTTP 500: {model} broke)")


def test_a_failure_inside_an_answer_does_not_blame_its_status():
    assert "HTTP 200" not in told(Failure.TRUNCATED, http_status=200)


def test_a_failure_of_a_later_version_is_told_as_it_stands():
    assert "quota_spent" in told("quota_spent")
