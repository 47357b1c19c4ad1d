"""`occupancy`: how many blocks of a kernel an SM holds at once, and what limits it."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any

from coursekit import hardware
from coursekit.analysis.occupancy.result import Occupancy
from coursekit.analysis.occupancy.rules import Demand
from coursekit.errors import ArgumentError, CourseError
from coursekit.hardware import DeviceProperties
from coursekit.runtime.configuration import configure
from coursekit.runtime.launching import Kernel, Launcher
from coursekit.toolchain.cubin import Resources

_KEYS = ("registers", "shared_bytes", "barriers", "max_threads")


def occupancy(
    kernel: Any,
    block: Any,
    shared_bytes: int = 0,
    device: Any = None,
    *,
    grid: Any = None,
) -> Occupancy:
    """Compute how many blocks of a launch an SM holds at once.

    Parameters
    ----------
    kernel : Kernel, Resources, mapping or int
        A kernel, which is compiled for the device; what ``module.resources`` gives; a
        mapping with "registers" and perhaps "shared_bytes", "barriers" and
        "max_threads"; or the registers of a thread alone.
    block : int or tuple of int
        Threads per block, (x, y, z).
    shared_bytes : int
        Dynamic shared memory of each block, besides what the kernel declares.
    device : str or DeviceProperties, optional
        As for ``ck.device``; the GPU here, or the simulated one, without it.
    grid : int or tuple of int, optional
        Blocks of the launch; the result then tells the waves.

    Returns
    -------
    Occupancy

    Raises
    ------
    ArgumentError
        The first argument says nothing about registers.
    LaunchError
        The block or the grid is no possible one.

    Source: cuda_occupancy.h of the CUDA toolkit.

    Examples
    --------
    >>> sgemm = {"registers": 122, "shared_bytes": 12_800}
    >>> result = occupancy(sgemm, 128, device="RTX 3070", grid=1536)
    >>> result.blocks, result.active_warps, round(result.percent, 2)
    (4, 16, 33.33)
    >>> round(result.waves, 2)
    8.35
    """
    properties = hardware.device(device)
    name, needs = _needs(kernel, properties)
    shape = configure(name, grid or 1, block, shared_bytes=shared_bytes)
    demand = Demand(
        threads=shape.threads,
        registers=needs["registers"],
        shared_bytes=needs.get("shared_bytes", 0) + shape.shared_bytes,
        barriers=needs.get("barriers", 0),
        max_threads=needs.get("max_threads", properties.max_threads_per_block),
    )
    return Occupancy(name, properties, demand, shape.blocks if grid else None)


def _needs(kernel: Any, device: DeviceProperties) -> tuple[str, Mapping[str, int]]:
    """Return a name for the kernel and what it needs on the device."""
    if isinstance(kernel, Launcher):
        kernel = kernel.kernel
    if isinstance(kernel, Kernel):
        resources = kernel.module.resources_on(kernel.name, device.arch)
        return kernel.name, _as_mapping(resources)
    if isinstance(kernel, Resources):
        return "the kernel", _as_mapping(kernel)
    if isinstance(kernel, Integral) and not isinstance(kernel, bool):
        kernel = {"registers": int(kernel)}
    if not isinstance(kernel, Mapping) or not _is_sound(kernel):
        raise _refusal(kernel)
    return "the kernel", kernel


def _as_mapping(resources: Resources) -> dict[str, int]:
    return {key: getattr(resources, key) for key in _KEYS}


def _is_sound(needs: Mapping[str, Any]) -> bool:
    numbers = all(isinstance(n, Integral) and int(n) >= 0 for n in needs.values())
    return "registers" in needs and set(needs) <= set(_KEYS) and numbers


def _refusal(given: Any) -> CourseError:
    return ArgumentError.explained(
        f"ck.occupancy got {given!r} in place of a kernel.",
        "It has to know the registers of a thread, and may know "
        f"{', '.join(_KEYS[1:])}, all of them 0 or more.",
        "Pass a kernel, module.resources[name], or "
        '{"registers": 32, "shared_bytes": 4096}.',
    )
