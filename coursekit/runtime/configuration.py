"""A launch configuration: grid, block and shared memory within a device's limits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeGuard

import numpy as np

from coursekit.errors import CourseError, LaunchError

if TYPE_CHECKING:
    from coursekit.hardware import DeviceProperties

AXES = "xyz"
MAX_GRID = (2**31 - 1, 65535, 65535)
MAX_BLOCK = (1024, 1024, 64)
PORTABLE_CLUSTER = 8
MAX_CLUSTER = 16
CLUSTER_CAPABILITY = (9, 0)

Extent = tuple[int, int, int]
# As a student writes an extent: one length, or one for each dimension.
Shape = SupportsIndex | Sequence[SupportsIndex]

# What is limited: (cause, cure).
_EMPTY = {
    "grid": (
        "Often n // block is 0: there are fewer elements than threads per block.",
        "Round up with (n + block - 1) // block, and launch nothing when n is 0.",
    ),
    "block": (
        f"A block has 1 to {MAX_BLOCK[0]} threads.",
        "Use a multiple of 32 where you can; 128 and 256 are usual.",
    ),
    "cluster": (
        f"A cluster has 1 to {MAX_CLUSTER} blocks.",
        "Leave the cluster out to launch without any.",
    ),
}
_TOO_LONG = {
    "grid": (
        f"A grid has at most {' x '.join(map(str, MAX_GRID))} blocks: only grid.x "
        f"goes up to {MAX_GRID[0]}.",
        "Swap the dimensions, or let each thread handle several elements.",
    ),
    "block": (
        f"A block reaches at most {' x '.join(map(str, MAX_BLOCK))} threads.",
        "Swap the dimensions: block.x and block.y may be longer.",
    ),
    "cluster": (
        f"A cluster has at most {MAX_CLUSTER} blocks.",
        f"Use clusters of at most {PORTABLE_CLUSTER} blocks, which fit everywhere.",
    ),
}


@dataclass(frozen=True, slots=True)
class Needs:
    """The requirements of a kernel on its launch.

    Attributes
    ----------
    shared_bytes : int
        Shared memory that its variables take (static).
    max_threads : int or None
        Most threads of a block, from ``__launch_bounds__``.
    cluster : tuple of int or None
        Shape of its clusters, from ``__cluster_dims__``.
    """

    shared_bytes: int = 0
    max_threads: int | None = None
    cluster: Extent | None = None


@dataclass(frozen=True, slots=True)
class Configuration:
    """A launch configuration, each of whose numbers CUDA allows.

    Attributes
    ----------
    grid, block : tuple of int
        Blocks, and threads per block, (x, y, z).
    shared_bytes : int
        Dynamic shared memory of a block.
    stream
        None launches on the current stream and waits for the end.
    cooperative : bool
        All blocks are resident at once, so that the grid can synchronise.
    cluster : tuple of int or None
        Blocks a cluster, (x, y, z).
    early : bool
        It may begin before the kernel in front of it has ended.
    """

    grid: Extent
    block: Extent
    shared_bytes: int = 0
    stream: object = None
    cooperative: bool = False
    cluster: Extent | None = None
    early: bool = False

    @property
    def written(self) -> str:
        """The text between the brackets of a launch, for example ``4, 256``."""
        given: list[object] = [_short(self.grid), _short(self.block)]
        if self.shared_bytes or self.stream is not None:
            given.append(self.shared_bytes)
        if self.stream is not None:
            given.append(self.stream)
        return ", ".join(map(repr, given))

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return math.prod(self.block)

    @property
    def blocks(self) -> int:
        """Blocks of the grid."""
        return math.prod(self.grid)


def _short(extent: Extent) -> int | tuple[int, ...]:
    """Leave out trailing dimensions of length 1; one dimension becomes an int."""
    used = max((i for i, length in enumerate(extent) if length > 1), default=0) + 1
    return extent[0] if used == 1 else extent[:used]


def configure(
    kernel_name: str,
    grid: Shape,
    block: Shape,
    *,
    shared_bytes: int = 0,
    stream: object = None,
    cooperative: bool = False,
    cluster: Shape | None = None,
    early: bool = False,
) -> Configuration:
    """Check each number of a launch by itself, and extend shapes to (x, y, z).

    Raises
    ------
    LaunchError
        An extent is no whole number, is below 1, or is above what CUDA allows;
        the shared memory is no size, or the stream no stream.
    """
    if not _is_whole(shared_bytes) or shared_bytes < 0:
        raise LaunchError.explained(
            f"{kernel_name}: shared_bytes is {shared_bytes!r}.",
            "It is the number of bytes of dynamic shared memory of each block.",
            "Pass a whole number of 0 or more, for example 2 * 16 * 16 * 4.",
        )
    _check_stream(kernel_name, stream)
    return Configuration(
        _extent(kernel_name, "grid", grid, MAX_GRID),
        _extent(kernel_name, "block", block, MAX_BLOCK),
        int(shared_bytes),
        stream,
        bool(cooperative),
        None
        if cluster is None
        else _extent(kernel_name, "cluster", cluster, (MAX_CLUSTER,) * 3),
        bool(early),
    )


def check(
    kernel_name: str,
    configuration: Configuration,
    needs: Needs,
    device: DeviceProperties,
) -> None:
    """Check a configuration against a kernel's needs and a device's limits.

    Raises
    ------
    LaunchError
        Too many threads, too much shared memory, or clusters or a cooperative
        grid that the device cannot hold.
    """
    _check_bounds(kernel_name, configuration, needs)
    _check_shared(kernel_name, configuration, needs, device)
    cluster = configuration.cluster or needs.cluster
    if cluster is not None and math.prod(cluster) > 1:
        _check_cluster(kernel_name, configuration, cluster, device)
    if configuration.cooperative:
        _check_cooperative(kernel_name, configuration, needs, device)


def _is_whole(value: object) -> TypeGuard[int]:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _check_stream(kernel_name: str, stream: object) -> None:
    plain = stream is None or (_is_whole(stream) and stream >= 0)
    if not (plain or hasattr(stream, "ptr") or hasattr(stream, "cuda_stream")):
        raise LaunchError.explained(
            f"{kernel_name}: {stream!r} is no stream.",
            "The fourth index of a launch, and stream=, take a CUDA stream.",
            "Pass cupy.cuda.Stream() or torch.cuda.Stream(), or leave it out.",
        )


def _extent(kernel_name: str, what: str, given: Any, limits: Extent) -> Extent:
    lengths = tuple(given) if isinstance(given, (tuple, list)) else (given,)
    if not 1 <= len(lengths) <= 3:
        raise LaunchError.explained(
            f"{kernel_name}: {what} {given!r} has {len(lengths)} dimensions.",
            "CUDA knows the three dimensions x, y and z.",
            f"Pass one, two or three whole numbers as the {what}.",
        )
    for axis, length, limit in zip(AXES, lengths, limits, strict=False):
        if not _is_whole(length):
            raise _not_whole(kernel_name, what, axis, length)
        if length < 1:
            raise _empty(kernel_name, what, axis, length)
        if length > limit and what != "block":
            raise _too_long(kernel_name, what, axis, length, limit)
    x, y, z = (*map(int, lengths), 1, 1)[:3]
    whole = x, y, z
    if what == "block":
        _check_block(kernel_name, whole)
    return whole


def _check_block(kernel_name: str, block: Extent) -> None:
    threads = math.prod(block)
    if threads > MAX_BLOCK[0]:
        raise LaunchError.explained(
            f"{kernel_name}: {threads} threads per block "
            f"({' x '.join(map(str, block))}), at most {MAX_BLOCK[0]} are possible.",
            "All threads of a block run on one SM (streaming multiprocessor), which "
            "sets the limit.",
            "Use smaller blocks and more of them.",
        )
    if block[2] > MAX_BLOCK[2]:
        raise _too_long(kernel_name, "block", "z", block[2], MAX_BLOCK[2])


def _not_whole(kernel_name: str, what: str, axis: str, length: object) -> CourseError:
    return LaunchError.explained(
        f"{kernel_name}: {what}.{axis} is {length!r}, not a whole number.",
        "In Python / divides into a float; a launch counts blocks and threads.",
        "Use whole numbers; to divide and round up, write (n + block - 1) // block.",
    )


def _empty(kernel_name: str, what: str, axis: str, length: object) -> CourseError:
    return LaunchError.explained(
        f"{kernel_name}: {what}.{axis} is {length}, but must be at least 1.",
        *_EMPTY[what],
    )


def _too_long(
    kernel_name: str, what: str, axis: str, length: int, limit: int
) -> CourseError:
    return LaunchError.explained(
        f"{kernel_name}: {what}.{axis} is {length}, at most {limit} is possible.",
        *_TOO_LONG[what],
    )


def _check_bounds(kernel_name: str, configuration: Configuration, needs: Needs) -> None:
    if needs.max_threads and configuration.threads > needs.max_threads:
        raise LaunchError.explained(
            f"{kernel_name}: {configuration.threads} threads per block, but the kernel "
            f"allows at most {needs.max_threads}.",
            "Its __launch_bounds__, or the registers of each thread, set the limit.",
            "Use a smaller block, or raise the number in __launch_bounds__.",
        )


def _check_shared(
    kernel_name: str,
    configuration: Configuration,
    needs: Needs,
    device: DeviceProperties,
) -> None:
    static, dynamic = needs.shared_bytes, configuration.shared_bytes
    if static > device.shared_bytes_per_block:
        raise LaunchError.explained(
            f"{kernel_name}: {static:,} bytes of static shared memory per block, but "
            f"at most {device.shared_bytes_per_block:,} are possible.",
            "Arrays with a size in the source, `__shared__ float tile[N]`, have a "
            "lower limit than those that the launch sizes.",
            "Use smaller tiles, or `extern __shared__` and the launch's third index.",
        )
    limit = device.shared_bytes_per_block_optin
    if static + dynamic > limit:
        raise LaunchError.explained(
            f"{kernel_name}: {static + dynamic:,} bytes of shared memory per block "
            f"({static:,} static, {dynamic:,} dynamic), but the {device.name} has "
            f"{limit:,}.",
            "The tiles are too large, or shared_bytes counts elements twice.",
            "Use smaller tiles, or a smaller element type.",
        )


def _check_cluster(
    kernel_name: str,
    configuration: Configuration,
    cluster: Extent,
    device: DeviceProperties,
) -> None:
    size = math.prod(cluster)
    shown = " x ".join(map(str, cluster))
    if tuple(device.compute_capability) < CLUSTER_CAPABILITY:
        capability = ".".join(map(str, device.compute_capability))
        raise LaunchError.explained(
            f"{kernel_name}: clusters of {shown} blocks on the {device.name}, which "
            f"has compute capability {capability}.",
            "Clusters came with compute capability 9.0 (Hopper).",
            'Use ck.simulator(device="H200"), or launch without clusters.',
        )
    if size > MAX_CLUSTER:
        raise LaunchError.explained(
            f"{kernel_name}: {size} blocks a cluster ({shown}), at most "
            f"{MAX_CLUSTER} are possible.",
            "The blocks of a cluster share one group of SMs.",
            f"Use clusters of at most {PORTABLE_CLUSTER} blocks, which fit everywhere.",
        )
    uneven = [
        axis
        for axis, blocks, width in zip(AXES, configuration.grid, cluster, strict=True)
        if blocks % width
    ]
    if uneven:
        raise LaunchError.explained(
            f"{kernel_name}: a grid of {configuration.grid} blocks in clusters of "
            f"{cluster}: grid.{uneven[0]} is not a multiple.",
            "Every cluster is complete.",
            f"Round grid.{uneven[0]} up and guard the work of the added blocks.",
        )


def _check_cooperative(
    kernel_name: str,
    configuration: Configuration,
    needs: Needs,
    device: DeviceProperties,
) -> None:
    warps = -(-configuration.threads // device.warp_size)
    per_sm = min(device.max_blocks_per_sm, device.max_warps_per_sm // warps)
    shared = needs.shared_bytes + configuration.shared_bytes
    if shared:
        whole = shared + device.shared_reserved_bytes_per_block
        per_sm = min(per_sm, device.shared_bytes_per_sm // whole)
    resident = per_sm * device.sm_count
    if configuration.blocks > resident:
        raise LaunchError.explained(
            f"{kernel_name}: a cooperative grid of {configuration.blocks} blocks, but "
            f"the {device.name} holds {resident} of them at once "
            f"({device.sm_count} SMs, at most {per_sm} blocks each).",
            "A grid can only wait for blocks that are all running.",
            "Launch fewer blocks and let each handle more elements in a loop.",
        )
