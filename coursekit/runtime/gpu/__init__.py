"""The GPU as a backend: memory, launches and their errors, through CuPy."""

from __future__ import annotations

import contextlib
import struct
import sys
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from coursekit import hardware
from coursekit.errors import CourseError, DeviceError
from coursekit.runtime.configuration import Configuration, Needs
from coursekit.runtime.gpu import printing
from coursekit.runtime.gpu.faults import FAULTS, RESTART, refusal
from coursekit.runtime.gpu.function import GpuFunction
from coursekit.runtime.once import once

if TYPE_CHECKING:
    from coursekit.runtime.protocols import (
        CompiledKernel,
        CompiledModule,
        StagedArguments,
    )

POISON = 0xCB


def missing() -> str:
    """Say why no GPU can be used here; empty when one can."""
    if hardware.present_gpu() is None:
        return "this machine has no GPU that CUDA 13 can use"
    try:
        import cupy
    except ImportError:
        return "CuPy is not installed (pip install 'coursekit[gpu]')"
    try:
        return "" if cupy.cuda.runtime.getDeviceCount() else "CuPy finds no GPU"
    except cupy.cuda.runtime.CUDARuntimeError as error:
        return f"CuPy cannot use the GPU ({error})"


@once
def backend() -> GpuBackend:
    """Return the backend of the first GPU of this machine."""
    return GpuBackend()


def copy_to_host(address: int, nbytes: int) -> np.ndarray:
    """Copy bytes of GPU memory to a fresh array of uint8, after all work is done."""
    gpu = backend()
    data = np.empty(nbytes, np.uint8)
    with gpu.errors("an earlier launch"):
        gpu.cupy.cuda.runtime.deviceSynchronize()
        if nbytes:
            gpu.cupy.cuda.runtime.memcpy(
                data.ctypes.data,
                address,
                nbytes,
                gpu.cupy.cuda.runtime.memcpyDeviceToHost,
            )
    return data


def copy_from_host(address: int, data: np.ndarray) -> None:
    """Copy an array of uint8 into GPU memory and wait for the end."""
    gpu = backend()
    data = np.ascontiguousarray(data)
    with gpu.errors("an earlier launch"):
        if data.size:
            gpu.cupy.cuda.runtime.memcpy(
                address,
                data.ctypes.data,
                data.size,
                gpu.cupy.cuda.runtime.memcpyHostToDevice,
            )
            gpu.cupy.cuda.runtime.streamSynchronize(0)


class GpuBuffer:
    """A run of bytes in GPU memory, from CuPy's pool."""

    __slots__ = ("address", "memory", "nbytes")
    space = "gpu"

    def __init__(self, memory: Any, nbytes: int):
        self.memory = memory
        self.address = memory.ptr
        self.nbytes = nbytes

    def read(self, offset: int, nbytes: int) -> np.ndarray:
        """Copy bytes out, as a fresh array of uint8."""
        return copy_to_host(self.address + offset, nbytes)

    def write(self, offset: int, data: np.ndarray) -> None:
        """Copy an array of uint8 in."""
        copy_from_host(self.address + offset, data)


class _ForeignStream:
    """A stream of another library, by the protocol ``__cuda_stream__``."""

    def __init__(self, address: int):
        self.address = address

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.address


class GpuBackend:
    """A backend that allocates and launches on the first GPU of this machine.

    Attributes
    ----------
    lost : str
        The fault that ended the context; empty while it works.
    """

    space = "gpu"

    def __init__(self) -> None:
        import cupy

        self.cupy = cupy
        present = hardware.present_gpu()
        if present is None:
            raise DeviceError(missing())
        self.device = present
        self.lost = ""
        self._modules: weakref.WeakKeyDictionary[CompiledModule, Any] = (
            weakref.WeakKeyDictionary()
        )
        self._kernels: weakref.WeakKeyDictionary[CompiledKernel, GpuFunction] = (
            weakref.WeakKeyDictionary()
        )

    def allocate(
        self,
        nbytes: int,
        *,
        name: str = "",
        shape: tuple[int, ...] | None = None,
        dtype: np.dtype | None = None,
    ) -> GpuBuffer:
        """Reserve memory, filled with the poison pattern.

        Raises
        ------
        DeviceError
            The GPU has not enough memory.
        """
        with self.errors("an earlier launch"):
            try:
                memory = self.cupy.cuda.alloc(nbytes)
            except self.cupy.cuda.memory.OutOfMemoryError:
                raise self._out_of_memory(nbytes) from None
            if nbytes:  # the pattern must not overtake a launch on another stream
                memory.memset(POISON, nbytes)
                self.cupy.cuda.runtime.streamSynchronize(0)
        return GpuBuffer(memory, nbytes)

    def _out_of_memory(self, nbytes: int) -> CourseError:
        free, total = self.cupy.cuda.runtime.memGetInfo()
        return DeviceError.explained(
            f"out of memory: {nbytes:,} bytes asked for, {free:,} of {total:,} bytes "
            f"of the {self.device.name} are free.",
            "Arrays that are still referenced keep their memory, and other programs "
            "may use the GPU.",
            "Use a smaller size, or delete arrays that are no longer needed.",
        )

    def needs(self, kernel: CompiledKernel) -> Needs:
        """Return static shared bytes, most threads and clusters of a kernel."""
        return self._loaded(kernel).needs

    def handle(self, kernel: CompiledKernel) -> int:
        """Return the driver's handle of a kernel, a CUfunction."""
        handle: int = self._loaded(kernel).function.ptr
        return handle

    def prepare(self, kernel: CompiledKernel, configuration: Configuration) -> None:
        """Load a kernel and allow what a launch needs, before a graph captures it."""
        with self.errors("an earlier launch"):
            self._loaded(kernel).allow(configuration)

    def launch(
        self,
        kernel: CompiledKernel,
        configuration: Configuration,
        staged: StagedArguments,
        *,
        wait: bool,
    ) -> None:
        """Launch a kernel, and wait for its end unless told otherwise.

        Raises
        ------
        KernelError
            The kernel did something wrong; the context is then lost.
        """
        loaded = self._loaded(kernel)
        if wait and loaded.prints:
            with printing.to_python():
                self._run(loaded, kernel.name, configuration, staged, wait)
        else:
            self._run(loaded, kernel.name, configuration, staged, wait)

    def _run(
        self,
        loaded: GpuFunction,
        name: str,
        configuration: Configuration,
        staged: StagedArguments,
        wait: bool,
    ) -> None:
        with self.errors(name):
            stream = self._stream(configuration.stream, staged.uses_torch)
            loaded.launch(configuration, staged.values, stream)
            if wait and not self.cupy.cuda.runtime.streamIsCapturing(stream.ptr):
                stream.synchronize()

    def quick(
        self,
        kernel: CompiledKernel,
        configuration: Configuration,
        fetch_each: Sequence[Callable[[Any], Any]],
    ) -> Callable[[tuple[Any, ...]], bool] | None:
        """Prepare a function that launches without repeated checks, and does not wait.

        Parameters
        ----------
        kernel : Kernel
        configuration : Configuration
        fetch_each : sequence of callable
            For each parameter, what `quick.fetchers` made.

        Returns
        -------
        callable or None
            Takes the arguments; returns False, without launching, when one needs
            the thorough way.
        """
        loaded = self._loaded(kernel)
        start = loaded.starter(configuration)
        current, stream = self.cupy.cuda.get_current_stream, None
        if configuration.stream is not None:
            stream = self._stream(configuration.stream, uses_torch=False)
        pack, buffer, lock = loaded.layout.pack_into, loaded.buffer, loaded.lock
        driver_error = self.cupy.cuda.driver.CUDADriverError
        runtime_error = self.cupy.cuda.runtime.CUDARuntimeError
        count = len(fetch_each)

        def launch(arguments: tuple[Any, ...]) -> bool:
            if len(arguments) != count:
                return False
            values = [
                fetch(value) for fetch, value in zip(fetch_each, arguments, strict=True)
            ]
            with lock:
                try:
                    pack(buffer, 0, *values)
                except (struct.error, OverflowError):  # None stands for "look closer"
                    return False
                try:
                    start(current() if stream is None else stream)
                except (driver_error, runtime_error) as error:
                    raise self.translate(error, kernel.name) from error
            return True

        return launch

    def _loaded(self, kernel: CompiledKernel) -> GpuFunction:
        function = self._kernels.get(kernel)
        if function is None:
            with self.errors("an earlier launch"):
                function = GpuFunction(self.cupy, self._module(kernel.module), kernel)
            self._kernels[kernel] = function
        return function

    def _module(self, module: CompiledModule) -> Any:
        """Return the machine code of a module, which is loaded once."""
        loaded = self._modules.get(module)
        if loaded is None:
            major, minor = self.device.compute_capability
            loaded = self.cupy.cuda.function.Module()
            loaded.load(module.loadable(f"sm_{major}{minor}"))
            self._modules[module] = loaded
        return loaded

    def _stream(self, stream: Any, uses_torch: bool) -> Any:
        """Find the CuPy stream to launch on."""
        if stream is None and uses_torch:
            stream = sys.modules["torch"].cuda.current_stream()
        if stream is None:
            return self.cupy.cuda.get_current_stream()
        if hasattr(stream, "ptr") and hasattr(stream, "synchronize"):
            return stream
        address = getattr(stream, "cuda_stream", None)
        if address is None:
            address = stream.ptr if hasattr(stream, "ptr") else int(stream)
        return self.cupy.cuda.Stream.from_external(_ForeignStream(address))

    @contextlib.contextmanager
    def errors(self, what: str) -> Iterator[None]:
        """Translate errors of CUDA in the ``with`` block; messages name `what`."""
        if self.lost:
            raise self._lost_error()
        try:
            yield
        except RuntimeError as error:
            if not hasattr(error, "status"):  # not one of CuPy's
                raise
            raise self.translate(error, what) from error

    def translate(self, error: Any, what: str) -> CourseError:
        """Turn an error of CUDA, as CuPy raises it, into one of this package."""
        status: int = error.status
        if self.lost:
            return self._lost_error()
        if status in FAULTS:
            kind, fault = FAULTS[status]
            self.lost = f"{what} {fault}"
            return kind.explained(f"{self.lost} ({error}).", *RESTART)
        return refusal(status, error, what)

    def _lost_error(self) -> CourseError:
        return DeviceError.explained(
            f"the GPU's context is lost: {self.lost}.", *RESTART
        )
