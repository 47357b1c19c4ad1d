"""The cache on disk: what it keeps, and what it refuses to believe."""

from __future__ import annotations

import pytest

from coursekit.toolchain.cache import BUCKETS, Cache, key

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
