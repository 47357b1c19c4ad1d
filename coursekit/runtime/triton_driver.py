"""A driver for Triton whose device is the simulator, by Triton's own interface.

Triton asks its active driver for the target to compile for, for the device's limits and
for a launcher. Nothing of Triton is patched: the driver is set with
``triton.runtime.driver.set_active``, and PTX is read from Triton's cache.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coursekit.errors import DeviceError, UnsupportedError
from coursekit.hardware import DeviceProperties
from coursekit.runtime import triton_arguments
from coursekit.runtime.launching import Kernel
from coursekit.runtime.ptx_modules import PtxModule
from coursekit.toolchain import cubin

FIRST_DEVICE = 1000  # far from the numbers of GPUs
FUSION = "TRITON_DEFAULT_FP_FUSION"
OLDEST, NEWEST = (3, 6), (3, 9)
EXTRA = "Install the extra with `make setup EXTRAS=dsl`, and start Python anew."
_SCRATCH = ("global_scratch", "profile_scratch")


@dataclass(frozen=True)
class TritonLaunch:
    """A launch as Triton asks for it, with the arguments as they were before it.

    The first five are those of ``ck.count`` and of the checkers.

    Attributes
    ----------
    kernel : Kernel
    grid, block : tuple of int
    args : tuple
        One for each parameter of the PTX; tensors.
    shared_bytes : int
    cooperative : bool
    """

    kernel: Kernel
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    args: tuple[Any, ...]
    shared_bytes: int
    cooperative: bool


def imported() -> Any:
    """Import Triton.

    Raises
    ------
    UnsupportedError
        It is not installed, or of a version whose drivers are others.
    """
    os.environ.setdefault(FUSION, "1")  # as before 3.10; unset, Triton warns
    try:
        import triton
    except ImportError:
        raise UnsupportedError.explained(
            "Triton is not installed.",
            "It is no part of the course's core: it belongs to the extra `dsl`.",
            EXTRA,
        ) from None
    version = tuple(map(int, triton.__version__.split(".")[:2]))
    if not OLDEST <= version <= NEWEST:
        raise UnsupportedError.explained(
            f"Triton {triton.__version__} cannot run on the simulator.",
            "Its interface to drivers changes from version to version; known are 3.6 "
            "to 3.9.",
            EXTRA,
        )
    return triton


class SimulatorDriver:
    """What Triton takes for a device; `launch` runs a `TritonLaunch`.

    Parameters
    ----------
    arch : int
        The compute capability to compile for, times ten.
    device : DeviceProperties
        The device whose limits hold.
    launch : callable
        Receives each `TritonLaunch`, and then the tensors to write to, as arguments.
    benchmark : callable
        ``benchmark(function, quantiles=...)`` returns what autotuning compares.
    """

    launcher_cls: Any

    def __init__(
        self,
        arch: int,
        device: DeviceProperties,
        launch: Callable[[TritonLaunch], None],
        benchmark: Callable[..., Any],
    ):
        self.arch, self.launch, self.benchmark = arch, launch, benchmark
        self.utils = _Utils(device)
        self.launcher_cls = _Launcher

    @staticmethod
    def is_active() -> bool:
        return True

    def get_current_target(self) -> Any:
        from triton.backends.compiler import GPUTarget

        return GPUTarget("cuda", self.arch, 32)

    def get_current_device(self) -> int:
        return FIRST_DEVICE + self.arch

    def set_current_device(self, device: int) -> None:
        """Do nothing: there is one device."""

    def get_device_capability(self, device: int = 0) -> tuple[int, int]:
        return divmod(self.arch, 10)

    def get_current_stream(self, device: int) -> int:
        return 0

    def get_active_torch_device(self) -> Any:
        import torch

        return torch.device("cpu")

    def get_device_interface(self) -> Any:
        raise _no_times()

    def map_python_to_cpp_type(self, name: str) -> str:
        return name

    def get_benchmarker(self) -> Callable[..., Any]:
        return self.benchmark

    def get_empty_cache_for_benchmark(self) -> Any:
        raise _no_times()

    def clear_cache(self, cache: object) -> None:
        """Do nothing: the simulator has no caches."""


def _no_times() -> DeviceError:
    return DeviceError.explained(
        "The simulator has no clock: it cannot say how long a kernel takes.",
        "It counts requests, sectors and instructions.",
        "Compare the counts of two kernels, or measure on a GPU.",
    )


class _Utils:
    """The functions of Triton's CUDA driver that need no CUDA here."""

    def __init__(self, device: DeviceProperties):
        self.device = device

    def get_device_properties(self, _: int) -> dict[str, int]:
        device = self.device
        return {
            "max_shared_mem": device.shared_bytes_per_block_optin,
            "max_num_regs": device.registers_per_sm,
            "multiprocessor_count": device.sm_count,
            "warpSize": 32,
            "sm_clock_rate": round(device.boost_clock_mhz * 1000),
            "mem_clock_rate": round(device.memory_rate_gbps * 1e6 / 2),
            "mem_bus_width": device.memory_bus_bits,
        }

    def load_binary(
        self, name: str, code: bytes, shared: int, device: int
    ) -> tuple[None, object, int, int, int]:
        """Return module, function, registers, spilled words and most threads.

        There is no module: Triton would free it through whatever driver is active then.
        """
        needs = cubin.resources(code, "", 0)[name]
        return None, name, needs.registers, needs.local_bytes // 4, needs.max_threads

    def unload_module(self, module: object) -> None:
        """Do nothing: there is no context."""


class _Launcher:
    """Launches one compiled kernel; Triton makes one for each."""

    def __init__(self, source: Any, metadata: Any):
        self.source, self.metadata = source, metadata
        self.module = _module(source, metadata)
        self.maps = getattr(metadata, "tensordesc_meta", None) or []
        listed = triton_arguments.parameters(source.signature, bool(self.maps))
        names = [name for name, _ in listed]
        self.module.name_parameters(metadata.name, (*names, *_SCRATCH))

    def __call__(
        self,
        x: int,
        y: int,
        z: int,
        stream: object,
        function: object,
        packed: object,
        launch_metadata: Any,
        enter: Callable[[Any], None] | None,
        leave: Callable[[Any], None] | None,
        *args: Any,
    ) -> None:
        from triton.runtime import driver

        grid = (operator.index(x), operator.index(y), operator.index(z))
        if 0 in grid:  # Triton launches nothing then
            return
        # A program is a cluster of as many blocks, which the PTX asks for.
        each = getattr(self.metadata, "num_ctas", 1)
        grid = (grid[0] * each, *grid[1:])
        maps = triton_arguments.Maps(self.maps) if self.maps else None
        launch = TritonLaunch(
            self.module[self.metadata.name],
            grid,
            (32 * self.metadata.num_warps, 1, 1),
            (*self._values(args, maps), *self._scratch(grid)),
            self.metadata.shared,
            bool(getattr(self.metadata, "launch_cooperative_grid", False)),
        )
        if enter is not None:
            enter(launch_metadata)
        driver.active.launch(launch)
        if maps is not None:
            maps.copy_back()
        if leave is not None:
            leave(launch_metadata)

    def _values(
        self, args: Sequence[Any], maps: triton_arguments.Maps | None
    ) -> Iterator[Any]:
        signature = self.source.signature
        for (name, kind), value in zip(signature.items(), args, strict=True):
            for _, each in triton_arguments.flat(name, kind, value, maps):
                yield triton_arguments.argument(self.metadata.name, name, each)

    def _scratch(self, grid: tuple[int, int, int]) -> Iterator[np.ndarray | None]:
        blocks = grid[0] * grid[1] * grid[2]
        for name in _SCRATCH:
            size = blocks * getattr(self.metadata, f"{name}_size", 0)
            yield np.zeros(size, np.uint8) if size else None


def _module(source: Any, metadata: Any) -> PtxModule:
    """Return the module of what Triton has compiled, from Triton's cache."""
    from triton.runtime.cache import get_cache_manager

    path = get_cache_manager(metadata.hash).get_file(f"{source.name[:150]}.ptx")
    if path is None:
        raise UnsupportedError.explained(
            f"{source.name}: Triton's cache has no PTX of this kernel.",
            "The cache was emptied while the kernel was compiled.",
            "Compile it again: restart Python, or define the kernel anew.",
        )
    with open(path) as file:
        text = file.read()
    function = getattr(source.fn, "fn", None)
    return PtxModule(text, file=function.__code__.co_filename if function else "")
