from dashboard.forms import PROTOCOL_LABELS
from probes.protocols import PROTOCOLS


def test_each_protocol_has_a_label_that_people_know():
    assert set(PROTOCOL_LABELS) == set(PROTOCOLS)
    assert not set(PROTOCOL_LABELS.values()) & set(PROTOCOLS)
