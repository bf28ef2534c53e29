"""Static files are collected when they changed, and by one process at a time."""

import fcntl
import os

import pytest

from dashboard.local import static_files
from dashboard.local.process import StartError


class Checkout:
    """A folder of static files, and how often it was collected from."""

    def __init__(self, root):
        self.source, self.collected = root / "static", root / "staticfiles"
        self.source.mkdir()
        self.style = self.source / "app.css"
        self.style.write_text("body {}")
        self.times = 0

    def work(self):
        self.collected.mkdir(exist_ok=True)
        self.times += 1

    def collect(self, work=None, give_up=lambda: False):
        static_files.collect(self.source, self.collected, work or self.work, give_up)


@pytest.fixture
def checkout(tmp_path):
    return Checkout(tmp_path)


def test_the_same_files_are_collected_once(checkout):
    checkout.collect()
    checkout.collect()
    assert checkout.times == 1


@pytest.mark.parametrize(
    "change",
    [
        lambda checkout: checkout.style.write_text("body { margin: 0 }"),
        lambda checkout: checkout.style.rename(checkout.source / "other.css"),
        lambda checkout: (checkout.source / "new.js").touch(),
        lambda checkout: checkout.style.unlink(),
        lambda checkout: (checkout.collected / static_files.NOTE).unlink(),
    ],
    ids=["content", "name", "addition", "removal", "collected anew elsewhere"],
)
def test_changed_files_are_collected_again(checkout, change):
    checkout.collect()
    change(checkout)
    checkout.collect()
    assert checkout.times == 2


def test_another_django_collects_again(checkout, monkeypatch):
    checkout.collect()
    monkeypatch.setattr(static_files.metadata, "version", lambda name: "99")
    checkout.collect()
    assert checkout.times == 2


def test_what_failed_is_done_again(checkout):
    def fail():
        checkout.work()
        raise StartError("collectstatic failed")

    with pytest.raises(StartError, match="failed"):
        checkout.collect(fail)
    checkout.collect()
    assert checkout.times == 2


def test_two_do_not_collect_at_once(checkout):
    other = os.open(checkout.source, os.O_RDONLY)
    fcntl.flock(other, fcntl.LOCK_EX)
    with pytest.raises(StartError, match="another process"):
        checkout.collect(give_up=lambda: True)
    os.close(other)
    checkout.collect()
    assert checkout.times == 1
