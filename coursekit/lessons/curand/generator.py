"""A generator of cuRAND: by the library on a GPU or on the CPU, or by an oracle."""

from __future__ import annotations

import numpy as np

from coursekit.errors import ArgumentError, UnsupportedError
from coursekit.lessons.curand import library, philox4x32, sobol
from coursekit.runtime import backend as backends
from coursekit.runtime.arrays import empty, to_host

ON_GPU, ON_HOST = "cuRAND on the GPU", "cuRAND's host generator, on the CPU"
ORACLE = "NumPy, an oracle in cuRAND's place"
PHILOX, SOBOL = "PSEUDO_PHILOX4_32_10", "QUASI_SOBOL32"
SCALE, HALF_STEP = np.float32(2.0**-32), np.float32(2.0**-33)
TURN = np.float32(2 * np.pi)


class Generator:
    """A generator of the host interface, with the settings that cuRAND's calls make.

    Each call of `generate`, `uniform` or `normal` goes on where the last one stopped.

    Parameters
    ----------
    rng_type : str
        A name of curandRngType_t without CURAND_RNG_, such as "PSEUDO_XORWOW".
    seed : int, optional
        64 bits; 0 where it is left out. A quasirandom generator takes none.
    offset : int
        Position of the first value; for quasirandom generators, of the first point.
    ordering : str, optional
        A name of curandOrdering_t without CURAND_ORDERING_, such as "PSEUDO_LEGACY".
    dimensions : int
        Coordinates of a quasirandom point.

    Attributes
    ----------
    computed_by : str
        The library on a GPU, its host generator, or the oracle in their place.

    Raises
    ------
    ArgumentError
        What cuRAND refuses, with the name of its status.
    UnsupportedError
        A generator that the oracle lacks, where the library is not installed.

    Examples
    --------
    >>> generator = Generator("PSEUDO_PHILOX4_32_10", seed=1234)
    >>> [round(float(x), 4) for x in generator.uniform(4)]
    [0.1272, 0.8535, 0.2656, 0.7961]
    """

    def __init__(
        self,
        rng_type: str = PHILOX,
        *,
        seed: int | None = None,
        offset: int = 0,
        ordering: str | None = None,
        dimensions: int = 1,
    ):
        _named(rng_type, library.TYPES, "CURAND_RNG_")
        if ordering is not None:
            _named(ordering, library.ORDERINGS, "CURAND_ORDERING_")
        self.rng_type, self.dimensions = rng_type, dimensions
        self.is_quasi = rng_type.startswith("QUASI")
        self._check(seed, ordering)
        self._seed, self._position = seed or 0, offset
        on_gpu = backends.current().space == "gpu"
        self._native: library.Native | None = None
        if library.load() is None:
            self.computed_by = ORACLE
            _offered_by_the_oracle(rng_type, ordering)
            return
        self.computed_by = ON_GPU if on_gpu else ON_HOST
        self._native = library.Native(rng_type, on_gpu)
        self._native.configure(seed, offset, ordering)
        if self.is_quasi:
            self._native.dimensions(dimensions)

    def _check(self, seed: int | None, ordering: str | None) -> None:
        """Refuse a seed and an ordering of the other kind, and no dimension."""
        if self.is_quasi and seed is not None:
            raise _refused(
                "TYPE_ERROR",
                f"{self.rng_type} got the seed {seed}",
                "A quasirandom sequence is one fixed sequence: no chance is in it.",
                "Leave the seed out; an offset chooses where to begin.",
            )
        kind = self.rng_type.split("_")[0]
        if ordering is not None and not ordering.startswith(kind):
            raise _refused(
                "OUT_OF_RANGE",
                f"{self.rng_type} got the ordering {ordering}",
                "Pseudorandom and quasirandom generators have orderings of their own.",
                f"Take one that begins with {kind}.",
            )
        most = 20_000 if library.load() else sobol.DIMENSIONS
        if not 1 <= self.dimensions <= most:
            raise _refused(
                "OUT_OF_RANGE",
                f"dimensions is {self.dimensions}",
                f"A point has from 1 to {most:,} coordinates here.",
                "Give the number of coordinates of a point.",
            )

    def generate(self, n: int) -> np.ndarray:
        """Return n words of 32 random bits: curandGenerate.

        Of a quasirandom generator, all first coordinates come first, then all second
        ones; n is a multiple of its dimensions.
        """
        return self._values("curandGenerate", n, np.uint32)

    def uniform(self, n: int) -> np.ndarray:
        """Return n float32 from 2^-33 to 1: curandGenerateUniform; 0 never occurs."""
        return self._values("curandGenerateUniform", n, np.float32)

    def normal(self, n: int, mean: float = 0.0, stddev: float = 1.0) -> np.ndarray:
        """Return n float32 of a normal distribution: curandGenerateNormal.

        A pseudorandom generator makes two of two words, so n is even.
        """
        if not self.is_quasi and n % 2:
            raise _refused(
                "LENGTH_NOT_MULTIPLE",
                f"{n} normal values are asked for",
                "Box and Muller's transform makes two values of two uniform ones.",
                f"Ask for {n + 1}.",
            )
        return self._values("curandGenerateNormal", n, np.float32, mean, stddev)

    def _values(self, function: str, n: int, dtype, *moments: float) -> np.ndarray:
        if n % self.dimensions and self.is_quasi:
            raise _refused(
                "LENGTH_NOT_MULTIPLE",
                f"{n} values are asked for, of points in {self.dimensions} dimensions",
                "The library hands out whole points.",
                f"Ask for a multiple of {self.dimensions}.",
            )
        if self._native is None:
            return self._by_oracle(function, n, *moments)
        if not self._native.on_device:
            out = np.empty(n, dtype)
            self._native.fill(function, out, *moments)
            return out
        held = empty(n, dtype)
        self._native.fill(function, held, *moments)
        return to_host(held)

    def _by_oracle(self, function: str, n: int, *moments: float) -> np.ndarray:
        start = self._position
        points = n // self.dimensions if self.is_quasi else n
        self._position = start + points
        if self.is_quasi:
            parts = [
                sobol.words_from(start, points, axis) for axis in range(self.dimensions)
            ]
            words = np.concatenate(parts)
        elif moments:  # whole pairs, of which the first value may not be asked for
            odd = start % 2
            words = philox4x32.words_from(start - odd, n + 2 * odd, self._seed)
            mean, stddev = (np.float32(value) for value in moments)
            return (mean + stddev * _normal(words))[odd : odd + n]
        else:
            words = philox4x32.words_from(start, n, self._seed)
        if moments:
            raise UnsupportedError.explained(
                "The oracle has no normal values of a quasirandom sequence.",
                "Pairs of values would spoil the sequence; the library inverts the "
                "distribution function instead.",
                "Install the library: make setup EXTRAS=libraries.",
            )
        return words if function == "curandGenerate" else _uniform(words)


def _normal(words: np.ndarray) -> np.ndarray:
    """Transform words as Box and Muller do, two by two."""
    radius = np.sqrt(np.float32(-2) * np.log(_uniform(words[::2])))
    angle = TURN * _uniform(words[1::2])
    return np.stack((radius * np.sin(angle), radius * np.cos(angle)), -1).reshape(-1)


def _uniform(words: np.ndarray) -> np.ndarray:
    return words.astype(np.float32) * SCALE + HALF_STEP


def _refused(status: str, what: str, cause: str, cure: str) -> ArgumentError:
    return ArgumentError.explained(f"CURAND_STATUS_{status}: {what}.", cause, cure)


def _named(name: str, known, prefix: str) -> None:
    if name not in known:
        raise ArgumentError.explained(
            f"cuRAND has no {prefix}{name} here.",
            f"Names are written without {prefix}, with the kind in front.",
            f"Take one of {', '.join(known)}.",
        )


def _offered_by_the_oracle(rng_type: str, ordering: str | None) -> None:
    orderings = (
        None,
        "PSEUDO_BEST",
        "PSEUDO_DEFAULT",
        "PSEUDO_LEGACY",
        "QUASI_DEFAULT",
    )
    if rng_type in (PHILOX, SOBOL, "QUASI_DEFAULT") and ordering in orderings:
        return
    order = f" in the order {ordering}" if ordering else ""
    raise UnsupportedError.explained(
        f"The oracle has no {rng_type}{order}.",
        "cuRAND is not installed here, and NumPy stands in for it with Philox and "
        "Sobol's sequence alone.",
        "Install the library: make setup EXTRAS=libraries.",
    )
