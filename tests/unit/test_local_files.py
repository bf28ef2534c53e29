"""Logs of bounded size, and one supervisor a data folder."""

import pytest

from dashboard.local import logs
from dashboard.local.data_folder import DataFolder, InUse, Lock


def test_a_long_log_is_moved_aside_and_its_writer_goes_on(tmp_path):
    log = tmp_path / "web.log"
    with log.open("ab", buffering=0) as writer:
        writer.write(b"x" * 101)
        logs.bound(log, max_bytes=100)
        writer.write(b"new")
    assert log.read_bytes() == b"new"
    assert (tmp_path / "web.log.1").read_bytes() == b"x" * 101


def test_a_short_log_stays(tmp_path):
    log = tmp_path / "web.log"
    log.write_bytes(b"x" * 100)
    logs.bound(log, max_bytes=100)
    assert [path.name for path in tmp_path.iterdir()] == ["web.log"]


def test_a_missing_log_is_no_error(tmp_path):
    logs.bound(tmp_path / "web.log")
    assert not list(tmp_path.iterdir())


def test_the_second_to_come_learns_where_the_first_is(tmp_path):
    data = DataFolder.at(str(tmp_path))
    with Lock(data) as lock:
        with pytest.raises(InUse, match="still starting"), Lock(data):
            pass
        lock.describe("http://127.0.0.1:8000")
        with pytest.raises(InUse, match=r"http://127.0.0.1:8000 \(process \d+\)"):
            Lock(data).__enter__()


def test_the_folder_is_free_again_afterwards(tmp_path):
    data = DataFolder.at(str(tmp_path))
    with Lock(data):
        pass
    with Lock(data) as lock:
        lock.describe("mine")
