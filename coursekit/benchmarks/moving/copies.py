"""Benchmarks of copies between host and GPU and on the GPU, and of allocation."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

import coursekit as ck
from coursekit.benchmarking import wall_clock
from coursekit.benchmarking.records.definitions import Definition
from coursekit.benchmarks.drawn import pinned

SIZES = (2**12, 2**16, 2**20, 2**24, 2**28)  # 4 KiB to 256 MiB
ON_DEVICE_SIZES = (2**12, 2**16, 2**20, 2**22, 2**28)
WORD = np.uint64
BUFFER = 2**25  # bytes of the buffer that is kept
PINNED, NO_HANDLE, ON_DEVICE, RELEASE_THRESHOLD = 1, 0, 1, 4  # of the runtime's enums

# ---------------------------------------------------------------- copies


def words(nbytes: int) -> np.ndarray:
    """Draw random bytes in pageable memory."""
    return np.random.default_rng().integers(0, 2**64, nbytes // 8, dtype=WORD)


def to_device_cases() -> dict[str, Callable]:
    """Copy to the GPU, from pageable and from pinned memory."""

    def pageable(plain, locked, there):
        _copy(there.address, plain.ctypes.data, plain.nbytes, "HostToDevice")

    def locked_pages(plain, locked, there):
        _copy(there.address, locked.ctypes.data, locked.nbytes, "HostToDevice")

    return {"pageable": wall_clock(pageable), "pinned": wall_clock(locked_pages)}


def to_device_arrays(nbytes: int) -> tuple:
    """Draw the same bytes in pageable and in pinned memory; allocate the target."""
    plain = words(nbytes)
    return plain, pinned(plain), ck.empty(plain.size, WORD)


def has_arrived(plain, locked, there) -> None:
    """Compare the bytes on the GPU with those of the host."""
    if not np.array_equal(plain, ck.to_host(there)):
        raise AssertionError("other bytes arrived on the GPU")


def to_host_cases() -> dict[str, Callable]:
    """Copy from the GPU, to pageable and to pinned memory."""

    def pageable(there, plain, locked):
        _copy(plain.ctypes.data, there.address, there.nbytes, "DeviceToHost")

    def locked_pages(there, plain, locked):
        _copy(locked.ctypes.data, there.address, there.nbytes, "DeviceToHost")

    return {"pageable": wall_clock(pageable), "pinned": wall_clock(locked_pages)}


def to_host_arrays(nbytes: int) -> tuple:
    """Draw bytes on the GPU, and other bytes in the two targets on the host."""
    plain = words(nbytes)
    return ck.to_device(words(nbytes)), plain, pinned(plain)


def has_come_back(there, plain, locked) -> None:
    """Tell whether the bytes arrived in one of the two targets."""
    sent = ck.to_host(there)
    arrived = any(np.array_equal(sent, place) for place in (plain, locked))
    if not arrived:
        raise AssertionError("other bytes arrived on the host")


def on_device_cases() -> dict[str, Callable]:
    """Copy from one place of the GPU's memory to another."""

    def inside(source, target):
        import cupy

        runtime, stream = cupy.cuda.runtime, cupy.cuda.get_current_stream()
        kind = runtime.memcpyDeviceToDevice
        runtime.memcpyAsync(
            target.address, source.address, source.nbytes, kind, stream.ptr
        )

    return {"cudaMemcpyAsync": inside}


def on_device_arrays(nbytes: int) -> tuple:
    """Draw bytes on the GPU, and room for them."""
    return ck.to_device(words(nbytes)), ck.empty(nbytes // 8, WORD)


def is_copied(source, target) -> None:
    """Compare the two arrays."""
    if not np.array_equal(ck.to_host(source), ck.to_host(target)):
        raise AssertionError("the copy differs")


def _copy(target: int, source: int, nbytes: int, kind: str) -> None:
    """Copy with cudaMemcpy, which returns when the bytes may be used again."""
    import cupy

    runtime = cupy.cuda.runtime
    runtime.memcpy(target, source, nbytes, getattr(runtime, f"memcpy{kind}"))


# ---------------------------------------------------------------- allocation


def allocate_cases() -> dict[str, Callable]:
    """Copy through a buffer that is kept, comes from a pool, or is allocated anew.

    A pool gives its memory back whenever the host waits, as the clock does after each
    call; one with a threshold keeps it.
    """

    def kept(source, target):
        _through(_buffer().address, source, target)

    def pooled(source, target):
        import cupy

        runtime, stream = cupy.cuda.runtime, cupy.cuda.get_current_stream().ptr
        buffer = runtime.mallocAsync(source.nbytes, stream)
        _through(buffer, source, target)
        runtime.freeAsync(buffer, stream)

    def from_a_pool_that_keeps(source, target):
        import cupy

        runtime, stream = cupy.cuda.runtime, cupy.cuda.get_current_stream().ptr
        buffer = runtime.mallocFromPoolAsync(source.nbytes, _keeping_pool(), stream)
        _through(buffer, source, target)
        runtime.freeAsync(buffer, stream)

    def fresh(source, target):
        import cupy

        buffer = cupy.cuda.runtime.malloc(source.nbytes)
        _through(buffer, source, target)
        cupy.cuda.runtime.free(buffer)

    return {
        "no allocation": wall_clock(kept),
        "cudaMallocAsync": wall_clock(pooled),
        "cudaMallocAsync, pool keeps": wall_clock(from_a_pool_that_keeps),
        "cudaMalloc": wall_clock(fresh),
    }


@functools.cache
def _buffer():
    return ck.empty(BUFFER // 8, WORD)


@functools.cache
def _keeping_pool() -> int:
    """Make a memory pool on the first GPU that keeps all memory that it has had."""
    import cupy

    runtime = cupy.cuda.runtime
    pool = runtime.memPoolCreate(runtime.MemPoolProps(PINNED, NO_HANDLE, ON_DEVICE, 0))
    runtime.memPoolSetAttribute(pool, RELEASE_THRESHOLD, 2**64 - 1)
    return pool


def _through(buffer: int, source, target) -> None:
    """Copy into a buffer and out of it, on the current stream."""
    import cupy

    runtime, stream = cupy.cuda.runtime, cupy.cuda.get_current_stream().ptr
    for to, place in ((buffer, source.address), (target.address, buffer)):
        kind = runtime.memcpyDeviceToDevice
        runtime.memcpyAsync(to, place, source.nbytes, kind, stream)


DEFINITIONS = (
    Definition(
        key="moving/to_device",
        cases=to_device_cases,
        sizes=SIZES,
        setup=to_device_arrays,
        verify=has_arrived,
        bytes_moved=lambda nbytes: nbytes,
        through="link",
    ),
    Definition(
        key="moving/to_host",
        cases=to_host_cases,
        sizes=SIZES,
        setup=to_host_arrays,
        verify=has_come_back,
        bytes_moved=lambda nbytes: nbytes,
        through="link",
    ),
    Definition(
        key="moving/on_device",
        cases=on_device_cases,
        sizes=ON_DEVICE_SIZES,
        setup=on_device_arrays,
        verify=is_copied,
        bytes_moved=lambda nbytes: 2 * nbytes,
    ),
    Definition(
        key="moving/allocate",
        cases=allocate_cases,
        sizes=(2**12, 2**20, BUFFER),
        setup=on_device_arrays,
        verify=is_copied,
        bytes_moved=lambda nbytes: 2 * nbytes,
    ),
)
