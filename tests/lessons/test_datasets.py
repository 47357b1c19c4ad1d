"""Pictures to learn from are whole, what they say, and drawn the same anywhere."""

from __future__ import annotations

import contextlib
import errno
import gzip
import hashlib
import itertools
import socketserver
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import coursekit as ck
from coursekit.lessons import datasets
from coursekit.lessons.datasets import download, sources
from coursekit.lessons.datasets.download import Known, fetch

REAL = Path(__file__).resolve().parents[2] / "../shared/data/mnist"
real_digits = pytest.mark.skipif(
    not REAL.exists(), reason="the real digits are not beside this repository"
)
CONTENT = bytes(range(256)) * 1000
KNOWN = Known("file.bin", len(CONTENT), hashlib.sha256(CONTENT).hexdigest())


def idx(array: np.ndarray, code: int = 8) -> bytes:
    """Write an IDX file."""
    lengths = b"".join(n.to_bytes(4, "big") for n in array.shape)
    return bytes((0, 0, code, array.ndim)) + lengths + array.tobytes()


def stored(folder: Path, content: bytes, name: str = "file.bin") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(content)
    return folder / name


def mirror(folder: Path, content: bytes) -> str:
    """Return the address of a folder that offers a content as `KNOWN`."""
    stored(folder, content)
    return folder.as_uri() + "/"


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


# ---------------------------------------------------------------- IDX files

IMAGES = np.arange(2 * 3 * 4, dtype=np.uint8).reshape(2, 3, 4)


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_idx_file_is_read(pack, tmp_path):
    file = stored(tmp_path, pack(idx(IMAGES)))
    np.testing.assert_array_equal(datasets.read_idx(file), IMAGES, strict=True)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "begins with nothing"),
        (b"<html>404", "begins with 3c 68 74 6d"),
        (idx(IMAGES, code=0x0D), "begins with 00 00 0d 03"),
        (b"\0\0\x08\0", "begins with 00 00 08 00"),
        (idx(IMAGES)[:3] + b"\xff" + bytes(4 * 255), "begins with 00 00 08 ff"),
        (idx(IMAGES)[:-1], "promises 2 x 3 x 4 = 24 bytes and holds 23"),
        (idx(IMAGES) + b"\0", "promises 2 x 3 x 4 = 24 bytes and holds 25"),
        (idx(IMAGES)[:11], "and holds 0"),
        (idx(IMAGES)[:5], "and holds 0"),
        (gzip.compress(idx(IMAGES))[:-9], "cannot be unpacked"),
        (gzip.compress(idx(IMAGES))[:-8] + bytes(8), "cannot be unpacked"),
        (gzip.compress(idx(IMAGES))[:10] + b"\xff" * 9, "cannot be unpacked"),
    ],
    ids=[
        "empty",
        "a page",
        "floats",
        "no axes",
        "too many axes",
        "cut short",
        "too long",
        "cut in the lengths",
        "cut in the header",
        "gzip cut short",
        "gzip with a wrong checksum",
        "gzip that is none",
    ],
)
def test_bad_idx_file_is_refused(content, words, tmp_path):
    file = stored(tmp_path, content)
    with pytest.raises(ck.DataError, match=words) as caught:
        datasets.read_idx(file)
    assert str(file) in str(caught.value)


def test_missing_idx_file_is_an_error(tmp_path):
    with pytest.raises(ck.DataError, match="cannot be read: No such file"):
        datasets.read_idx(tmp_path / "none")


# ---------------------------------------------------------------- downloads


def test_download_gives_the_file_and_nothing_else(tmp_path):
    address = mirror(tmp_path / "there", CONTENT)
    file = fetch(KNOWN, tmp_path / "here", [address])
    assert (file.read_bytes(), names(tmp_path / "here")) == (CONTENT, ["file.bin"])


def test_file_that_is_there_is_not_fetched_again(tmp_path):
    file = stored(tmp_path, CONTENT)
    assert fetch(KNOWN, tmp_path, []) == file


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        (CONTENT[:-1], "sent 255,999 of 256,000 bytes"),
        (CONTENT + b"\0", "sent more than the 256,000 bytes"),
        (CONTENT[::-1], "sent something whose SHA-256 is"),
    ],
    ids=["truncated", "too long", "changed"],
)
def test_wrong_download_leaves_nothing_behind(sent, words, tmp_path):
    address = mirror(tmp_path / "there", sent)
    with pytest.raises(ck.DataError, match=words):
        fetch(KNOWN, tmp_path / "here", [address])
    assert names(tmp_path / "here") == []


def test_interrupted_download_leaves_nothing_behind(tmp_path, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(download.ProgressBar, "__call__", interrupt)
    address = mirror(tmp_path / "there", CONTENT)
    with pytest.raises(KeyboardInterrupt):
        fetch(KNOWN, tmp_path / "here", [address])
    assert names(tmp_path / "here") == []


def test_mirror_that_drips_is_given_up(tmp_path, monkeypatch):
    clock = itertools.count(step=40)  # seconds between two looks
    monkeypatch.setattr(download.time, "monotonic", lambda: next(clock))
    address = mirror(tmp_path / "there", CONTENT)
    with pytest.raises(ck.DataError, match="was too slow: [0-9,]+ of 256,000"):
        fetch(KNOWN, tmp_path / "here", [address])


def test_second_mirror_serves_where_the_first_fails(tmp_path):
    bad = mirror(tmp_path / "bad", CONTENT[:99])
    good = mirror(tmp_path / "good", CONTENT)
    assert fetch(KNOWN, tmp_path / "here", [bad, good]).read_bytes() == CONTENT


def test_damaged_file_is_replaced(tmp_path):
    stored(tmp_path / "here", CONTENT[::-1])
    address = mirror(tmp_path / "there", CONTENT)
    assert fetch(KNOWN, tmp_path / "here", [address]).read_bytes() == CONTENT


def test_damaged_file_is_kept_where_nothing_can_be_fetched(tmp_path):
    file = stored(tmp_path, CONTENT[::-1])
    with pytest.raises(ck.DataError, match="is damaged, and could not be fetched"):
        fetch(KNOWN, tmp_path, [])
    assert file.read_bytes() == CONTENT[::-1]


def test_error_of_a_download_names_the_reason_of_each_mirror(tmp_path):
    mirrors = [(tmp_path / name).as_uri() + "/" for name in ("one", "two")]
    with pytest.raises(ck.DataError) as caught:
        fetch(KNOWN, tmp_path / "here", mirrors)
    assert all(f"{mirror}: " in caught.value.cause for mirror in mirrors)


def test_parallel_downloads_all_get_the_whole_file(tmp_path):
    address, here = mirror(tmp_path / "there", CONTENT), tmp_path / "here"
    with ThreadPoolExecutor(8) as pool:
        files = list(pool.map(lambda _: fetch(KNOWN, here, [address]), range(16)))
    assert {file.read_bytes() for file in files} == {CONTENT}
    assert names(here) == ["file.bin"]


def test_folder_that_cannot_be_made_is_told_apart_from_a_mirror(tmp_path):
    address = mirror(tmp_path / "there", CONTENT)
    stored(tmp_path, b"", name="here")
    with pytest.raises(ck.DataError, match="was fetched, and cannot be written") as got:
        fetch(KNOWN, tmp_path / "here" / "below", [address])
    assert address not in str(got.value)


def test_full_disk_leaves_nothing_behind(tmp_path, monkeypatch):
    def full(path, content):
        with path.open("wb") as begun:
            begun.write(content[:99])
        raise OSError(errno.ENOSPC, "No space left on device")

    address = mirror(tmp_path / "there", CONTENT)
    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(ck.DataError, match="written: No space left on device"):
        fetch(KNOWN, tmp_path / "here", [address])
    assert names(tmp_path / "here") == []


def test_file_may_be_read_by_whom_the_folder_lets(tmp_path):
    address = mirror(tmp_path / "there", CONTENT)
    plain = stored(tmp_path, b"", name="plain")
    file = fetch(KNOWN, tmp_path / "here", [address])
    assert file.stat().st_mode == plain.stat().st_mode


# What stands in the way of a network that is not open: hotels, proxies, portals.
IN_PIECES = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
ANSWERS = {
    "no HTTP": b"hello\r\n\r\n",
    "nothing": b"",
    "piece cut off": IN_PIECES + b"ff\r\nabc",
    "piece of no length": IN_PIECES + b"zz\r\n",
}


class Answer(socketserver.BaseRequestHandler):
    def handle(self):
        self.request.recv(4096)
        self.request.sendall(self.server.answer)


@contextlib.contextmanager
def answering(answer: bytes):
    """Serve an answer to whatever is asked; give the address."""
    with socketserver.TCPServer(("127.0.0.1", 0), Answer) as server:
        server.answer = answer
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/"
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def direct(monkeypatch):
    """No proxy between this process and itself."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_strange_answer_is_a_reason_and_the_next_mirror_is_asked(
    answer, tmp_path, direct
):
    good = mirror(tmp_path / "good", CONTENT)
    with answering(answer) as bad:
        with pytest.raises(ck.DataError, match=f"{bad}: \\w"):
            fetch(KNOWN, tmp_path / "here", [bad])
        assert fetch(KNOWN, tmp_path / "here", [bad, good]).exists()


def test_address_that_is_none_is_a_reason(tmp_path):
    with pytest.raises(ck.DataError, match="control characters"):
        fetch(KNOWN, tmp_path, ["http://no address/"])


# ---------------------------------------------------------------- sources


@real_digits
def test_real_digits_are_what_they_should_be():
    found = datasets.mnist("test", folder=REAL, mirrors=())
    assert found.images.shape == (10000, 28, 28)
    assert np.bincount(found.labels).tolist() == [
        980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009,
    ]  # fmt: skip


def fashion(folder: Path, missing: str = "") -> Path:
    """Install a package of four pictures and return the list of its files."""
    files = {"images-idx3": IMAGES.repeat(2, 0), "labels-idx1": np.arange(4)}
    listed = ["/.", "/usr"]
    for name, array in files.items():
        content = gzip.compress(idx(array.astype(np.uint8)))
        file = stored(folder, content, f"train-{name}-ubyte.gz")
        listed += [str(file)] * (name != missing)
    return stored(folder, "\n".join(listed).encode(), "package.list")


def test_fashion_comes_from_wherever_the_package_put_it(tmp_path):
    found = datasets.fashion_mnist("train", listing=fashion(tmp_path))
    assert (found.name, found.labels.tolist()) == ("Fashion-MNIST", [0, 1, 2, 3])


@pytest.mark.parametrize("missing", ["images-idx3", "labels-idx1"])
def test_package_that_lacks_a_file_is_an_error(missing, tmp_path):
    with pytest.raises(ck.DataError, match=f"no train-{missing}-ubyte"):
        datasets.fashion_mnist("train", listing=fashion(tmp_path, missing))


@pytest.fixture
def nothing_installed(monkeypatch, tmp_path):
    monkeypatch.setattr(sources, "FASHION_LIST", tmp_path / "none")


def test_load_draws_digits_where_nothing_else_is(nothing_installed):
    found = datasets.load("test", mirrors=())
    assert found.name == "Drawn digits"
    assert all(words in found.origin for words in ("t10k-images", "not installed"))


def test_drawn_parts_have_no_picture_in_common(nothing_installed):
    parts = [datasets.load(part, mirrors=()).images for part in sources.PARTS]
    assert not {a.tobytes() for a in parts[0]} & {b.tobytes() for b in parts[1]}


@pytest.mark.parametrize("source", [datasets.load, datasets.mnist])
def test_unknown_part_is_refused(source):
    with pytest.raises(ck.ArgumentError, match="no part 'validation'"):
        source("validation", mirrors=())


# ---------------------------------------------------------------- drawn digits


def digest(found: datasets.Dataset) -> str:
    return hashlib.sha256(found.images.tobytes() + found.labels.tobytes()).hexdigest()


def test_drawn_digits_are_the_same_everywhere():
    assert digest(datasets.drawn_digits(200, seed=5)) == DRAWN_200


DRAWN_200 = "1aaa0e848cbfcff5298a581601e30f81c35af2edd80a83044d6d7ed83713986f"


def test_another_seed_draws_other_digits():
    one, other = (datasets.drawn_digits(50, seed=seed) for seed in (0, 1))
    assert digest(one) != digest(other)


def test_no_two_drawn_digits_are_the_same():
    images = datasets.drawn_digits(500, size=14).images
    assert len({image.tobytes() for image in images}) == 500


@pytest.mark.parametrize("size", [8, 14, 28, 33])
def test_drawn_digits_have_the_size_asked_for(size):
    assert datasets.drawn_digits(10, size=size).images.shape == (10, size, size)


@pytest.mark.parametrize("digit", range(10))
def test_most_of_the_ink_of_a_digit_is_inside_the_picture(digit):
    found = datasets.drawn_digits(500)
    ink = found.images[found.labels == digit].astype(np.float64)
    inner = ink[:, 2:-2, 2:-2].sum() / ink.sum()
    # Specks alone are everywhere: 0.01 * 0.25 of white, on 208 of 784 pixels.
    assert inner > 0.93


def test_each_digit_is_drawn_equally_often():
    labels = datasets.drawn_digits(503).labels
    assert set(np.bincount(labels).tolist()) == {50, 51}


@pytest.mark.parametrize(("count", "size"), [(0, 28), (10, 7), (10, 65)])
def test_digits_that_cannot_be_drawn_are_refused(count, size):
    with pytest.raises(ck.ArgumentError, match="draws nothing"):
        datasets.drawn_digits(count, size=size)


# ---------------------------------------------------------------- a data set

SOME = datasets.drawn_digits(50, size=9)


def test_part_takes_the_pictures_asked_for():
    part = SOME.part(7, 19)
    np.testing.assert_array_equal(part.images, SOME.images[7:19])
    np.testing.assert_array_equal(part.labels, SOME.labels[7:19])


@pytest.mark.parametrize(("first", "last"), [(-1, 3), (3, 3), (0, 51)])
def test_part_beyond_the_pictures_is_refused(first, last):
    with pytest.raises(ck.ArgumentError, match="of 50 pictures"):
        SOME.part(first, last)


def test_halved_pixels_are_means_of_four():
    images = np.array([[[1, 255, 9], [255, 255, 9], [9, 9, 9]]], np.uint8)
    small = datasets.Dataset(images, np.zeros(1, np.uint8), "One").halved()
    assert small.images.tolist() == [[[192]]]  # 191.5, rounded up


def test_batches_are_full_and_take_no_picture_twice():
    batches = list(SOME.batches(16, seed=3))
    pictures = {image.tobytes() for images, _ in batches for image in images}
    assert ([len(labels) for _, labels in batches], len(pictures)) == ([16] * 3, 48)


def test_batches_keep_labels_with_their_pictures():
    label_of = {i.tobytes(): n for i, n in zip(SOME.images, SOME.labels, strict=True)}
    images, labels = next(SOME.batches(50, seed=1))
    assert [label_of[image.tobytes()] for image in images] == labels.tolist()


def test_images_and_labels_must_belong_together():
    with pytest.raises(ck.DataError, match="uint8 of shape"):
        datasets.Dataset(SOME.images, SOME.labels[1:], "Wrong")


def test_pictures_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        SOME.images[0, 0, 0] = 1


def test_data_set_shows_itself_with_words_for_its_picture():
    shown = SOME._repr_html_()
    assert 'alt="Some pictures of each label of Drawn digits' in shown
