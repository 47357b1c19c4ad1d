"""Benchmarks of launches: one by one, in a graph, and with early dependents."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable

import numpy as np

import coursekit as ck
from coursekit.benchmarking import wall_clock
from coursekit.benchmarking.records.definitions import Definition
from coursekit.errors import DeviceError
from coursekit.runtime import gpu

SOURCE = """
// The smallest kernel that does something: one thread adds 1.
__global__ void count_up(unsigned* counter)
{
    counter[0] += 1;
}

// The same, started before the kernel in front of it has ended.
__global__ void count_up_early(unsigned* counter)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");  // the next one may start
    asm volatile("griddepcontrol.wait;" ::: "memory");  // the one before has ended
#endif
    counter[0] += 1;
}
"""


def kernel(name: str = "count_up"):
    """Return one of the two kernels."""
    return ck.compile(SOURCE, name="count_up.cu")[name]


class OneByOne:
    """Launches from Python, each a call of a launcher that is made once."""

    def __init__(self):
        self.kernel = kernel()

    def __call__(self, start, counter, times: int) -> None:
        """Launch on the current stream."""
        import cupy

        launch = self.kernel[1, 1, 0, cupy.cuda.get_current_stream()]
        for _ in range(times):
            launch(counter)


class Compiled:
    """Launches from a loop of machine code, as a C++ program has it."""

    def __init__(self):
        self.kernel = kernel()
        self.arguments: dict[int, Arguments] = {}

    def __call__(self, start, counter, times: int) -> None:
        """Launch on the current stream."""
        import cupy

        if counter.address not in self.arguments:
            self.arguments[counter.address] = Arguments(counter.address)
        arguments = self.arguments[counter.address]
        stream = cupy.cuda.get_current_stream().ptr
        function = gpu.backend().handle(self.kernel)
        status = loop()(times, function, stream, arguments.address)
        _succeeded(status)


def _succeeded(status: int) -> None:
    if status:
        raise DeviceError.explained(
            f"The driver refuses a launch, with error {status}.",
            cure="Run `python -m coursekit doctor`.",
        )


class Arguments:
    """A pointer as the only argument, in the form that the driver reads."""

    def __init__(self, pointer: int):
        self.value = ctypes.c_uint64(pointer)
        self.places = (ctypes.c_void_p * 1)(ctypes.addressof(self.value))

    @property
    def address(self) -> int:
        """The address of the array of pointers to arguments."""
        return ctypes.addressof(self.places)


@functools.cache
def loop() -> Callable:
    """Compile the loop around the driver's launch; Python takes no part in it."""
    import numba

    launch = ctypes.CDLL("libcuda.so.1").cuLaunchKernel
    word, number = ctypes.c_uint64, ctypes.c_uint32
    launch.argtypes = [word, *[number] * 7, word, word, word]
    launch.restype = ctypes.c_int

    @numba.njit
    def repeat(times, function, stream, arguments):
        status = 0
        for _ in range(times):
            status |= launch(function, 1, 1, 1, 1, 1, 1, 0, stream, arguments, 0)
        return status

    return repeat


class InAGraph:
    """The same launches captured once as a graph, which is launched as a whole."""

    def __init__(self, *, early: bool = False):
        self.kernel = kernel("count_up_early" if early else "count_up")
        self.early = early
        self.graphs: dict = {}

    def __call__(self, start, counter, times: int) -> None:
        """Launch the graph on the current stream."""
        key = counter.address, times
        if key not in self.graphs:
            self.graphs[key] = self._capture(counter, times)
        self.graphs[key].launch()

    def _capture(self, counter, times: int):
        import cupy

        stream = cupy.cuda.Stream(non_blocking=True)
        launch = self._early if self.early else self.kernel[1, 1, 0, stream]
        ready = (stream, counter) if self.early else (counter,)
        gpu.backend().handle(self.kernel)  # nothing is loaded in the graph
        stream.begin_capture()
        for _ in range(times):
            launch(*ready)
        return stream.end_capture()

    def _early(self, stream, counter) -> None:
        """Launch with leave to start before the kernel in front has ended."""
        from cuda.bindings import driver

        attribute = driver.CUlaunchAttribute()
        kinds = driver.CUlaunchAttributeID
        attribute.id = kinds.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
        attribute.value.programmaticStreamSerializationAllowed = 1
        config = driver.CUlaunchConfig()
        config.gridDimX = config.gridDimY = config.gridDimZ = 1
        config.blockDimX = config.blockDimY = config.blockDimZ = 1
        config.hStream = driver.CUstream(stream.ptr)
        config.attrs, config.numAttrs = [attribute], 1
        arguments = Arguments(counter.address)
        function = driver.CUfunction(gpu.backend().handle(self.kernel))
        (status,) = driver.cuLaunchKernelEx(config, function, arguments.address, 0)
        _succeeded(int(status))


def host_cases() -> dict[str, Callable]:
    """Return the ways to launch as the host's clock sees them, from call to result."""
    return {
        "Python": wall_clock(OneByOne()),
        "machine code": wall_clock(Compiled()),
        "graph": wall_clock(InAGraph()),
    }


def device_cases() -> dict[str, Callable]:
    """Return the ways to launch as the GPU's clock sees them, all queued before."""
    return {
        "launches": OneByOne(),
        "graph": InAGraph(),
        "graph with early dependents": InAGraph(early=True),
    }


def counters(times: int) -> tuple:
    """Draw the number that a counter starts from, and make the counter."""
    start = np.random.default_rng().integers(0, 2**30, 1, dtype=np.uint32)
    return ck.to_device(start), ck.to_device(start), times


def has_counted(start, counter, times: int) -> None:
    """Check that every launch has added 1."""
    counted = int(ck.to_host(counter)[0]) - int(ck.to_host(start)[0])
    if counted != times:
        raise AssertionError(f"{counted} launches were counted, not {times}")


DEFINITIONS = (
    Definition(
        key="moving/launches",
        cases=host_cases,
        sizes=(1, 10, 100, 1000),
        setup=counters,
        verify=has_counted,
    ),
    Definition(
        key="moving/nodes",
        cases=device_cases,
        sizes=(1, 10, 100, 1000),
        setup=counters,
        verify=has_counted,
    ),
)
