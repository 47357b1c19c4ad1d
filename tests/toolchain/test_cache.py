"""The cache on disk: what it keeps, and what it refuses to believe."""

from __future__ import annotations

import errno
import os
import time

import pytest

from coursekit.toolchain import cache
from coursekit.toolchain.cache import BUCKETS, Cache, _header, key

KEY = key(["a source"])
VALUE = {"ptx": "// ü", "entries": [["k", "k", None, ["x", None]]]}


@pytest.fixture
def store(tmp_path):
    cache = Cache(tmp_path / "cache")
    cache.put(KEY, VALUE)
    return cache


def test_get_returns_what_was_put(store):
    assert store.get(KEY) == VALUE


def test_unknown_key_is_a_miss(store):
    assert (store.get(key("another")), store.state) == (None, "miss")


def test_key_depends_on_every_part():
    assert key(["a", "b"]) != key(["ab", ""])


def test_key_ignores_the_order_of_a_dict():
    assert key({"a": 1, "b": 2}) == key({"b": 2, "a": 1})


def _flip_last(content: bytes) -> bytes:
    return content[:-1] + bytes([content[-1] ^ 1])


DAMAGE = {
    "flipped bit": _flip_last,
    "truncated": lambda content: content[: len(content) // 2],
    "header only": lambda content: content.partition(b"\n")[0],
    "empty": lambda content: b"",
    "foreign text": lambda content: b'{"ptx": "// not ours"}',
    "foreign bytes": lambda content: bytes(range(256)),
    "longer": lambda content: content + b" ",
    "another version": lambda content: content.replace(b"-cache 1", b"-cache 0", 1),
}


@pytest.mark.parametrize("damage", list(DAMAGE.values()), ids=list(DAMAGE))
def test_damaged_entry_counts_as_absent(store, damage):
    path = store.path(KEY)
    path.write_bytes(damage(path.read_bytes()))
    assert (store.get(KEY), store.state) == (None, "damaged")


def test_entry_of_another_key_is_refused(store):
    other = KEY[0] + key("another")[1:]
    store.path(other).write_bytes(store.path(KEY).read_bytes())
    assert (store.get(other), store.state) == (None, "damaged")


def test_damaged_entry_can_be_written_again(store):
    store.path(KEY).write_bytes(b"rubbish")
    store.put(KEY, VALUE)
    assert store.get(KEY) == VALUE


def test_folder_in_place_of_an_entry_is_a_miss(tmp_path):
    store = Cache(tmp_path)
    store.path(KEY).mkdir(parents=True)
    assert store.get(KEY) is None


def test_no_temporary_file_stays(store):
    assert list(store.path(KEY).parent.iterdir()) == [store.path(KEY)]


def test_no_temporary_file_stays_when_the_entry_cannot_be_replaced(tmp_path):
    store = Cache(tmp_path)
    store.path(KEY).mkdir(parents=True)
    store.put(KEY, VALUE)
    assert list(store.path(KEY).parent.iterdir()) == [store.path(KEY)]


@pytest.fixture
def unwritable(tmp_path):
    """A cache below a regular file: root may write to any folder, but not there."""
    (tmp_path / "file").write_text("")
    return Cache(tmp_path / "file" / "cache")


def test_put_into_an_unwritable_folder_keeps_nothing(unwritable):
    unwritable.put(KEY, VALUE)
    assert unwritable.state == "unwritable"


def test_get_from_an_unwritable_folder_is_a_miss(unwritable):
    assert (unwritable.get(KEY), unwritable.state) == (None, "miss")


def _keys_of_one_bucket(count: int) -> list[str]:
    found = [k for k in map(key, range(40 * count)) if k[0] == "0"]
    return found[:count]


def test_full_bucket_keeps_the_newest_entry(tmp_path):
    store = Cache(tmp_path, limit_bytes=BUCKETS * 100)
    for one in (keys := _keys_of_one_bucket(3)):
        store.put(one, {"text": "x" * 90})
    assert [store.get(one) is not None for one in keys] == [False, False, True]


def test_bucket_below_its_limit_keeps_all(tmp_path):
    store = Cache(tmp_path, limit_bytes=BUCKETS * 10_000)
    for one in (keys := _keys_of_one_bucket(3)):
        store.put(one, {"text": "x" * 90})
    assert all(store.get(one) is not None for one in keys)


def _sealed(one: str, payload: str) -> bytes:
    return _header(one, payload.encode()) + payload.encode()


@pytest.mark.parametrize(
    "payload",
    ["[]", "null", "7", '{"ptx": 1}', "{}", "[" * 100_000, "not JSON"],
    ids=lambda text: text[:12],
)
def test_entry_that_is_not_of_the_fields_asked_for_counts_as_absent(store, payload):
    store.path(KEY).write_bytes(_sealed(KEY, payload))
    assert (store.get(KEY, {"ptx": str}), store.state) == (None, "damaged")


@pytest.mark.parametrize("mode", [0o620, 0o602])
def test_entry_that_others_may_write_is_not_believed(store, mode):
    store.path(KEY).chmod(mode)
    assert (store.get(KEY), store.state) == (None, "foreign")


@pytest.mark.skipif(os.geteuid() != 0, reason="Only root may give a file away.")
def test_entry_of_another_user_is_not_believed(store):
    os.chown(store.path(KEY), 12345, -1)
    assert (store.get(KEY), store.state) == (None, "foreign")


def test_entry_that_is_not_believed_is_written_again(store):
    store.path(KEY).chmod(0o666)
    store.put(KEY, VALUE)
    assert store.get(KEY) == VALUE


def test_named_pipe_in_place_of_an_entry_does_not_wait(store):
    store.path(KEY).unlink()
    os.mkfifo(store.path(KEY), 0o600)
    assert store.get(KEY) is None


def test_folders_of_the_cache_are_closed_to_other_users(tmp_path):
    store = Cache(tmp_path / "outer" / "cache")
    store.put(KEY, VALUE)
    made = [store.folder.parent, store.folder, store.path(KEY).parent]
    assert [path.stat().st_mode & 0o777 for path in made] == [0o700] * 3


def test_unfinished_file_of_a_killed_process_is_removed(store):
    unfinished = store.path(KEY).parent / ".new-left"
    unfinished.write_bytes(b"x" * 1000)
    os.utime(unfinished, (0, 0))
    store.put(KEY, VALUE)
    assert not unfinished.exists()


def test_unfinished_file_of_another_process_stays(store):
    unfinished = store.path(KEY).parent / ".new-now"
    unfinished.write_bytes(b"x" * 1000)
    store.put(KEY, VALUE)
    assert unfinished.exists()


def test_entry_of_a_clock_that_was_set_back_later_is_used(store):
    ahead = time.time() + 1e8
    os.utime(store.path(KEY), (ahead, ahead))
    assert store.get(KEY) == VALUE


def test_full_disk_leaves_no_temporary_file(store, monkeypatch):
    def full(handle, mode):
        os.close(handle)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(cache.os, "fdopen", full)
    store.put(key("another"), VALUE)
    monkeypatch.undo()
    files = [path for path in store.folder.rglob("*") if path.is_file()]
    assert (store.state, files) == ("unwritable", [store.path(KEY)])
