"""cuFFT's plans under their own name, by the library on a GPU or by NumPy as an oracle.

The oracle reads the same memory by the same strides, and divides nothing, as cuFFT.
"""

from __future__ import annotations

import ctypes
import functools
from dataclasses import dataclass

import numpy as np

from coursekit.errors import ArgumentError, LaunchError
from coursekit.runtime import backend as backends
from coursekit.runtime.arrays import to_device, to_host

__all__ = ["FORWARD", "INVERSE", "Plan", "plan_many"]

FORWARD, INVERSE = -1, 1
LIBRARY, ORACLE = "cuFFT", "NumPy, an oracle in cuFFT's place"
NAMES = "libcufft.so.12", "libcufft.so.11"


@dataclass(frozen=True)
class Type:
    """A kind of transform: what it reads and writes, and cuFFT's number of it."""

    code: int
    given: type
    result: type


TYPES = {
    "C2C": Type(0x29, np.complex64, np.complex64),
    "R2C": Type(0x2A, np.float32, np.complex64),
    "C2R": Type(0x2C, np.complex64, np.float32),
    "Z2Z": Type(0x69, np.complex128, np.complex128),
    "D2Z": Type(0x6A, np.float64, np.complex128),
    "Z2D": Type(0x6C, np.complex128, np.float64),
}


@dataclass(frozen=True)
class Places:
    """Where the values of a batch lie: the shape in memory, a stride, a distance."""

    name: str
    shape: tuple[int, ...]
    embed: tuple[int, ...]
    stride: int
    distance: int

    def indices(self, batch: int) -> np.ndarray:
        """Return the element of each value of each transform of the batch."""
        within = np.zeros(self.shape, np.int64)
        for axis, length in enumerate(self.shape):
            step = int(np.prod(self.embed[axis + 1 :], dtype=np.int64))
            shape = [-1 if other == axis else 1 for other in range(len(self.shape))]
            within = within + step * np.arange(length).reshape(shape)
        first = self.distance * np.arange(batch)
        return first.reshape(-1, *[1] * len(self.shape)) + self.stride * within


@dataclass(frozen=True)
class Plan:
    """What is transformed, and where it lies; made by `plan_many`."""

    n: tuple[int, ...]
    given: Places
    result: Places
    type: str
    batch: int

    @property
    def computed_by(self) -> str:
        """The library, or the oracle in its place."""
        return LIBRARY if _is_here() else ORACLE

    def execute(self, idata: np.ndarray, odata: np.ndarray, direction: int) -> None:
        """Transform: cufftExecC2C, cufftExecR2C and their like.

        Nothing is divided: an inverse after a forward transform gives the input,
        times the number of values of one transform.

        Parameters
        ----------
        idata, odata : ndarray
            Memory without gaps, of the plan's types; odata changes. They may be one.
        direction : int
            `FORWARD` or `INVERSE`. A type that names two kinds has its direction.

        Raises
        ------
        ArgumentError
            An array has another type, or is too short for the plan.
        """
        kind = TYPES[self.type]
        self._check(direction)
        inside = _memory(idata, self.given, kind.given, self.batch)
        outside = _memory(odata, self.result, kind.result, self.batch)
        if _is_here():
            _by_library(self, inside, outside, direction)
            return
        values = inside[self.given.indices(self.batch)]
        outside[self.result.indices(self.batch)] = self._transformed(values, direction)

    def _check(self, direction: int) -> None:
        own = {"R2C": FORWARD, "D2Z": FORWARD, "C2R": INVERSE, "Z2D": INVERSE}
        if direction not in (FORWARD, INVERSE) or direction != own.get(
            self.type, direction
        ):
            raise _refused(
                f"the direction is {direction} for {self.type}",
                "FORWARD is -1, the sign of the exponent, and INVERSE is 1; R2C goes "
                "forward and C2R back.",
                "Take ck.cufft.FORWARD or ck.cufft.INVERSE.",
            )

    def _transformed(self, values: np.ndarray, direction: int) -> np.ndarray:
        axes = tuple(range(1, 1 + len(self.n)))
        double = values.astype(np.result_type(values.dtype, np.float64))
        if self.type in ("R2C", "D2Z"):
            return np.fft.rfftn(double, axes=axes)
        scale = float(np.prod(self.n))
        if self.type in ("C2R", "Z2D"):
            return scale * np.fft.irfftn(double, s=self.n, axes=axes)
        if direction == FORWARD:
            return np.fft.fftn(double, axes=axes)
        return scale * np.fft.ifftn(double, axes=axes)


def plan_many(
    n,
    inembed=None,
    istride: int = 1,
    idist: int = 0,
    onembed=None,
    ostride: int = 1,
    odist: int = 0,
    type: str = "C2C",
    batch: int = 1,
) -> Plan:
    """Describe a batch of transforms: cufftPlanMany, with its arguments in its order.

    Value (i, j) of transform b is element b * dist + (i * embed[1] + j) * stride.

    Parameters
    ----------
    n : int or sequence of int
        Values of a transform, along each of its one to three dimensions.
    inembed, onembed : int or sequence of int, optional
        The shape in memory that a transform is a part of. Where it is None, the
        values lie without gaps, and stride and distance are ignored.
    istride, ostride : int
        Elements from a value to the next of the same transform.
    idist, odist : int
        Elements from a transform to the next.
    type : str
        "C2C", "R2C", "C2R" in float32, "Z2Z", "D2Z", "Z2D" in float64.
    batch : int
        Transforms.

    Returns
    -------
    Plan

    Raises
    ------
    ArgumentError
        What cuFFT refuses, with the name of its status.

    Examples
    --------
    >>> x = np.array([[1, 10], [1, 10], [1, 10]], np.complex64)
    >>> plan_many(3, 3, 2, 1, 3, 2, 1, "C2C", batch=2).execute(x, x, FORWARD)
    >>> x[0].real
    array([ 3., 30.], dtype=float32)
    """
    shape = (n,) if isinstance(n, int) else tuple(n)
    if type not in TYPES:
        raise _refused(
            f"the type is {type!r}",
            "C is complex and R is real, in float32; Z and D in float64.",
            f"Take one of {', '.join(TYPES)}.",
        )
    if not 1 <= len(shape) <= 3 or min(*shape, batch) < 1:
        raise _refused(
            f"n is {shape}, with a batch of {batch}",
            "A transform has one to three dimensions of 1 at least, a batch as well.",
            "Check the sizes.",
        )
    half = (*shape[:-1], shape[-1] // 2 + 1)
    inside = half if type in ("C2R", "Z2D") else shape
    outside = half if type in ("R2C", "D2Z") else shape
    return Plan(
        n=shape,
        given=_places("idata", inside, inembed, istride, idist),
        result=_places("odata", outside, onembed, ostride, odist),
        type=type,
        batch=batch,
    )


def _places(name: str, shape, embed, stride: int, distance: int) -> Places:
    if embed is None:
        return Places(name, shape, shape, 1, int(np.prod(shape)))
    outer = (embed,) if isinstance(embed, int) else tuple(embed)
    rank = len(shape)
    if len(outer) != rank or stride < 1 or distance < 0:
        raise _refused(
            f"embed {outer}, stride {stride} and distance {distance} of {name}",
            "embed has a length per dimension, a stride is 1 at least.",
            "Give embed as many numbers as n.",
        )
    if any(length > room for length, room in zip(shape[1:], outer[1:], strict=True)):
        raise _refused(
            f"{name} has rows of {shape[1:]} values in a memory of {outer}",
            "embed is the shape in memory, of which a transform is a part.",
            "No length of embed but the first may be less than that of n.",
        )
    return Places(name, shape, outer, stride, distance)


def _refused(what: str, cause: str, cure: str) -> ArgumentError:
    return ArgumentError.explained(f"CUFFT_INVALID_VALUE: {what}.", cause, cure)


def _memory(array: np.ndarray, places: Places, dtype: type, batch: int) -> np.ndarray:
    """Return an array's elements in the order of memory, where they are enough."""
    name = places.name
    if not isinstance(array, np.ndarray) or array.dtype != dtype:
        found = getattr(array, "dtype", type(array).__name__)
        raise ArgumentError.explained(
            f"{name} has elements of {found}, and the plan's are {np.dtype(dtype)}.",
            "cuFFT gets an address: it would read other numbers from these bits.",
            f"Convert it: array.astype(np.{np.dtype(dtype)}).",
        )
    if not (array.flags.c_contiguous or array.flags.f_contiguous):
        raise ArgumentError.explained(
            f"{name} has strides of {array.strides} bytes, so it is a view with gaps.",
            "cuFFT gets an address and the plan's strides, not NumPy's.",
            "Give the array whose memory it is, or a copy.",
        )
    most = int(places.indices(batch).max())
    if array.size <= most:
        raise ArgumentError.explained(
            f"The plan reaches {name}[{most}], but {name} has {array.size} elements.",
            f"{batch} transforms lie {places.distance} apart, their values "
            f"{places.stride} apart. On a GPU cuFFT would go beyond the array.",
            "Compare stride, distance and batch with the array's shape.",
        )
    return array.reshape(-1, order="A")


# ---------------------------------------------------------------- the library


def _is_here() -> bool:
    return backends.current().space == "gpu"


@functools.cache
def _library() -> ctypes.CDLL:
    import torch  # noqa: F401 (brings its cuFFT into the process)

    for name in NAMES:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise LaunchError.explained(
        f"None of {', '.join(NAMES)} can be loaded.",
        "PyTorch's CUDA build brings cuFFT; this one is for CPUs.",
        "Install the course's extra for GPUs: make setup.",
    )


def _by_library(plan: Plan, inside, outside, direction: int) -> None:
    """Plan, execute on copies, and destroy the plan."""
    library, handle = _library(), ctypes.c_int()
    ints = (ctypes.c_int * len(plan.n)).__call__
    places = []
    for side in (plan.given, plan.result):
        places += [ints(*side.embed), side.stride, side.distance]
    code = TYPES[plan.type].code
    rank = len(plan.n)
    _done(
        library.cufftPlanMany(
            ctypes.byref(handle), rank, ints(*plan.n), *places, code, plan.batch
        ),
        "cufftPlanMany",
    )
    copies = to_device(inside), to_device(outside)
    pointers = [ctypes.c_void_p(copy.address) for copy in copies]
    ways = (direction,) if plan.type in ("C2C", "Z2Z") else ()
    name = f"cufftExec{plan.type}"
    _done(getattr(library, name)(handle, *pointers, *ways), name)
    outside[...] = to_host(copies[1])
    _done(library.cufftDestroy(handle), "cufftDestroy")


def _done(status: int, call: str) -> None:
    if status:
        raise LaunchError.explained(
            f"{call} returns the cufftResult {status}.",
            "The plan does not fit the library, or the device is out of memory.",
            "Look the number up in cufft.h.",
        )
