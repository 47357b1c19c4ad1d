"""The sources of pictures: MNIST from the web, Fashion-MNIST from Debian, our own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from coursekit import paths
from coursekit.errors import ArgumentError, DataError
from coursekit.lessons.datasets.dataset import Dataset
from coursekit.lessons.datasets.download import Known, fetch
from coursekit.lessons.datasets.drawn import drawn_digits
from coursekit.lessons.datasets.idx import read_idx

PARTS = ("train", "test")
MIRRORS = (
    "https://ossci-datasets.s3.amazonaws.com/mnist/",
    "https://storage.googleapis.com/cvdf-datasets/mnist/",
)
MNIST = {
    "train": (
        Known(
            "train-images-idx3-ubyte.gz",
            9_912_422,
            "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
        ),
        Known(
            "train-labels-idx1-ubyte.gz",
            28_881,
            "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
        ),
    ),
    "test": (
        Known(
            "t10k-images-idx3-ubyte.gz",
            1_648_877,
            "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
        ),
        Known(
            "t10k-labels-idx1-ubyte.gz",
            4_542,
            "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
        ),
    ),
}
# dpkg lists the files of an installed package here.
FASHION_LIST = Path("/var/lib/dpkg/info/dataset-fashion-mnist.list")
DRAWN = {"train": (8000, 0), "test": (2000, 1)}  # number of pictures, seed


def mnist(
    part: str = "train",
    *,
    folder: Path | None = None,
    mirrors: Sequence[str] = MIRRORS,
) -> Dataset:
    """Return MNIST: handwritten digits, 28 x 28.

    Parameters
    ----------
    part : str
        "train", 60,000 pictures, or "test", 10,000.
    folder : Path, optional
        Where the two files lie, or come to lie; `mnist` in the data folder by default.
    mirrors : sequence of str
        Where to fetch them; none, to fetch nothing.

    Raises
    ------
    DataError
        The files are neither there nor to be had.
    """
    images, labels = _known_part(MNIST, part)
    place = Path(folder) if folder is not None else paths.data() / "mnist"
    files = [fetch(published, place, mirrors) for published in (images, labels)]
    return Dataset(*map(read_idx, files), "MNIST", f"The {part} files in {place}.")


def fashion_mnist(part: str = "train", *, listing: Path | None = None) -> Dataset:
    """Return Fashion-MNIST, pictures of clothes, from Debian's package.

    Parameters
    ----------
    part : str
        "train", 60,000 pictures, or "test", 10,000.
    listing : Path, optional
        Where dpkg lists the files of the package.

    Raises
    ------
    DataError
        The package is not installed, or lacks a file.
    """
    files = [published.name for published in _known_part(MNIST, part)]
    try:
        names = (listing or FASHION_LIST).read_text(encoding="utf-8").splitlines()
    except OSError:
        names = []
    # The files have the same names as MNIST's, with or without .gz.
    stems = [name.removesuffix(".gz") for name in files]
    by_stem = {Path(name).name.removesuffix(".gz"): Path(name) for name in names}
    missing = [stem for stem in stems if stem not in by_stem]
    if missing:
        raise DataError.explained(
            f"Fashion-MNIST is not installed here: no {missing[0]}.",
            "It is taken from Debian's package dataset-fashion-mnist alone.",
            "Install that package, or take drawn_digits().",
        )
    arrays = (read_idx(by_stem[stem]) for stem in stems)
    return Dataset(*arrays, "Fashion-MNIST", "From Debian's dataset-fashion-mnist.")


def load(part: str = "train", *, mirrors: Sequence[str] = MIRRORS) -> Dataset:
    """Return MNIST, else Fashion-MNIST, else drawn digits: the first that is available.

    The data set's `name` says which it is, and its `origin` why the ones before it are
    not available.

    Parameters
    ----------
    part : str
        "train" or "test".
    mirrors : sequence of str
        Where MNIST may be fetched; none, to fetch nothing.
    """
    _known_part(MNIST, part)
    reasons = []
    for source in (lambda: mnist(part, mirrors=mirrors), lambda: fashion_mnist(part)):
        try:
            dataset = source()
        except DataError as error:
            reasons.append(error.what)
        else:
            return dataset if not reasons else _because(dataset, reasons)
    count, seed = DRAWN[part]
    return _because(drawn_digits(count, seed=seed), reasons)


def _because(dataset: Dataset, reasons: list[str]) -> Dataset:
    origin = " ".join([dataset.origin, *reasons])
    return Dataset(dataset.images, dataset.labels, dataset.name, origin)


def _known_part(table: dict, part: str):
    if part not in table:
        raise ArgumentError.explained(
            f"There is no part {part!r}.",
            "Pictures to learn from are kept apart from those to be tested on.",
            f"Take one of {', '.join(map(repr, PARTS))}.",
        )
    return table[part]
