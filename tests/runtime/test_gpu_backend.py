"""The GPU backend against a stand-in for CuPy whose device memory is host memory."""

from __future__ import annotations

import contextlib
import ctypes
import types

import numpy as np
import pytest

import coursekit as ck
from coursekit.runtime import backend as backends
from coursekit.runtime import gpu, launching

SCALE = """
__global__ void scale(float* out, const float* in, float factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = factor * in[i];
}
__global__ void vectors(float4* values, unsigned long long count) {}
"""


class CudaError(RuntimeError):
    def __init__(self, status):
        super().__init__(f"error {status}")
        self.status = status


class Memory:
    """A piece of device memory."""

    def __init__(self, nbytes):
        self.bytes = (ctypes.c_ubyte * nbytes)()
        self.ptr = ctypes.addressof(self.bytes)

    def memset(self, value, nbytes):
        ctypes.memset(self.ptr, value, nbytes)


class Array:
    """A CuPy array."""

    __module__ = "cupy"

    def __init__(self, values):
        self.values = values
        self.dtype, self.size = values.dtype, values.size
        self.flags = types.SimpleNamespace(c_contiguous=values.flags.c_contiguous)
        self.data = types.SimpleNamespace(ptr=values.ctypes.data)

    @property
    def __cuda_array_interface__(self):
        return self.values.__array_interface__


class Stream:
    ptr = 7

    def __init__(self):
        self.waits = 0

    def synchronize(self):
        self.waits += 1

    @classmethod
    def from_external(cls, foreign):
        stream = cls()
        _, stream.ptr = foreign.__cuda_stream__()
        return stream


class FakeCupy:
    """As much of CuPy as the backend uses; `status` makes the next launch fail."""

    ndarray = Array

    def __init__(self):
        self.launches, self.attributes = [], []
        self.capturing = self.status = 0
        self.stdout = b""
        self.stream = Stream()
        function = types.SimpleNamespace(
            Module=lambda: types.SimpleNamespace(
                load=lambda cubin: None, get_function=self.get_function
            ),
            CPointer=lambda address: address,
        )
        self.cuda = types.SimpleNamespace(
            alloc=self.alloc,
            function=function,
            driver=types.SimpleNamespace(
                CUDADriverError=CudaError,
                funcGetAttribute=lambda number, f: {0: 1024, 1: 512}.get(number, 0),
                funcSetAttribute=lambda f, *pair: self.attributes.append(pair),
            ),
            runtime=types.SimpleNamespace(
                CUDARuntimeError=CudaError,
                memcpyDeviceToHost=2,
                memcpyHostToDevice=1,
                memcpy=lambda to, at, nbytes, kind: ctypes.memmove(to, at, nbytes),
                deviceSynchronize=self.fail,
                streamSynchronize=lambda stream: None,
                streamIsCapturing=lambda stream: self.capturing,
                memGetInfo=lambda: (100, 1000),
            ),
            memory=types.SimpleNamespace(OutOfMemoryError=MemoryError),
            get_current_stream=lambda: self.stream,
            Stream=Stream,
        )

    def alloc(self, nbytes):
        if nbytes > 10**9:
            raise MemoryError
        return Memory(nbytes)

    def fail(self):
        if self.status:
            raise CudaError(self.status)

    def get_function(self, name):
        def launch(grid, block, pointers, shared_bytes, stream):
            self.fail()
            self.launches.append((grid, block, shared_bytes, stream))
            ctypes.CDLL(None).printf(b"%s", self.stdout)
            if "scale" in name:
                scale(*pointers)

        call = type("Function", (), {"__call__": lambda self, *args: launch(*args)})()
        call.ptr = 1
        return call


def scale(out, values, factor, n):
    """Run the kernel, its arguments behind pointers."""
    count = ctypes.c_int.from_address(n).value
    floats = ctypes.c_float * count
    target, source = (
        np.frombuffer(floats.from_address(ctypes.c_uint64.from_address(p).value), "f4")
        for p in (out, values)
    )
    target[:] = ctypes.c_float.from_address(factor).value * source


@pytest.fixture
def cupy(monkeypatch):
    """Make the stand-in the backend."""
    fake = FakeCupy()
    monkeypatch.setitem(__import__("sys").modules, "cupy", fake)
    monkeypatch.setattr("coursekit.hardware.present_gpu", lambda: ck.device("H200"))
    monkeypatch.setattr("coursekit.runtime.backend._search", lambda: "gpu")
    gpu.backend.cache_clear()
    yield fake
    gpu.backend.cache_clear()


@pytest.fixture
def kernels():
    module = ck.compile(SCALE, name="scale.cu")
    module.cubin = lambda arch: arch.encode()
    return module


def ramp(count):
    return np.arange(count, dtype=np.float32)


def test_numpy_arrays_are_copied_there_and_back(cupy, kernels):
    out = np.zeros(5, np.float32)
    kernels.scale[1, 32](out, ramp(5), 2.0, 5)
    assert out.tolist() == [0, 2, 4, 6, 8]


def test_device_arrays_are_used_where_they_lie(cupy, kernels):
    out = ck.empty(4)
    kernels.scale[1, 32](out, ck.to_device(ramp(4)), 2.0, 4)
    assert ck.to_host(out).tolist() == [0, 2, 4, 6]


def test_cupy_arrays_are_used_where_they_lie(cupy, kernels):
    out = Array(np.zeros(4, np.float32))
    kernels.scale[1, 32](out, Array(ramp(4)), 2.0, 4)
    assert out.values.tolist() == [0, 2, 4, 6]


def test_a_launch_without_a_stream_is_waited_for(cupy, kernels):
    out = ck.empty(4)
    kernels.scale[1, 32](out, out, 2.0, 4)
    assert cupy.stream.waits == 1


def test_a_launch_on_a_stream_is_not_waited_for(cupy, kernels):
    stream, out = Stream(), ck.empty(4)
    kernels.scale[1, 32, 0, stream](out, out, 2.0, 4)
    assert (stream.waits, cupy.launches[0][3]) == (0, stream)


def test_a_launch_on_a_stream_waits_for_numpy_arrays(cupy, kernels):
    stream, out = Stream(), np.zeros(4, np.float32)
    kernels.scale[1, 32, 0, stream](out, ramp(4), 2.0, 4)
    assert (stream.waits, out[3]) == (1, 6)


def test_a_captured_launch_is_not_waited_for(cupy, kernels):
    out, cupy.capturing = ck.empty(4), 1
    kernels.scale[1, 32](out, out, 2.0, 4)
    assert cupy.stream.waits == 0


def test_a_deferred_launch_is_not_waited_for(cupy, kernels):
    out = ck.empty(4)
    with launching.deferred():
        kernels.scale[1, 32](out, out, 2.0, 4)
    assert cupy.stream.waits == 0


def test_much_shared_memory_is_opted_in_once(cupy, kernels):
    out = ck.empty(4)
    for shared_bytes in (48 * 1024 - 512, 100_000, 60_000):
        kernels.scale[1, 32, shared_bytes](out, out, 2.0, 4)
    assert cupy.attributes == [(8, 100_000)]


@pytest.mark.parametrize("stream", [5, types.SimpleNamespace(cuda_stream=5)])
def test_streams_of_others_are_taken(cupy, kernels, stream):
    out = ck.empty(4)
    kernels.scale[1, 32, 0, stream](out, out, 2.0, 4)
    assert cupy.launches[0][3].ptr == 5


@pytest.fixture
def repeated(cupy, kernels):
    """Make a launch on a stream that has run once, so that the next one is quick."""
    launch = kernels.scale[1, 32, 0, Stream()]
    out = ck.empty(4)
    launch(out, out, 1.0, 4)
    assert launch._quick is not None
    return launch


def test_a_repeated_launch_is_remembered(cupy, kernels, repeated):
    stream = repeated.configuration.stream
    assert kernels.scale[1, 32, 0, stream] is repeated


def test_a_quick_launch_computes(cupy, repeated):
    out, values = ck.empty(4), Array(ramp(4))
    repeated(out, values, np.float32(2), np.int64(4))
    assert ck.to_host(out).tolist() == [0, 2, 4, 6]


def test_a_quick_launch_leaves_numpy_arrays_to_the_thorough_way(cupy, repeated):
    out = np.zeros(4, np.float32)
    repeated(out, Array(ramp(4)), 2.0, 4)
    assert out.tolist() == [0, 2, 4, 6]


WRONG = {
    "dtype": ("in", lambda: Array(np.zeros(4))),
    "strides": ("in", lambda: Array(ramp(8)[::2])),
    "count": ("", None),
    "factor": ("factor", lambda: "2"),
    "large factor": ("factor", lambda: 1e39),
    "overflow": ("n", lambda: 2**31),
    "float": ("n", lambda: 4.0),
}


@pytest.mark.parametrize(("name", "make"), WRONG.values(), ids=WRONG)
def test_a_quick_launch_refuses_what_the_first_refused(cupy, repeated, name, make):
    arguments = {"out": ck.empty(4), "in": ck.empty(4), "factor": 2.0, "n": 4}
    if make is None:
        del arguments["n"]
    else:
        arguments[name] = make()
    with pytest.raises(ck.ArgumentError):
        repeated(*arguments.values())


def test_a_quick_launch_inside_a_simulation_is_simulated(cupy, repeated):
    launched, out = len(cupy.launches), np.zeros(4, np.float32)
    with ck.simulator():
        repeated(out, ramp(4), 2.0, 4)
    assert (len(cupy.launches), out.tolist()) == (launched, [0, 2, 4, 6])


def test_a_quick_launch_checks_alignment(cupy, kernels):
    launch, values = kernels.vectors[1, 1, 0, Stream()], ck.empty(9)
    launch(values[:8], 1)
    with pytest.raises(ck.ArgumentError, match="misaligned|multiple"):
        launch(values[1:], 1)


FAULTS = {
    700: ck.OutOfBoundsError,
    715: ck.IllegalInstructionError,
    719: ck.KernelError,
}


@pytest.mark.parametrize(("status", "kind"), FAULTS.items())
def test_a_fault_becomes_an_error_of_the_kernel(cupy, kernels, status, kind):
    out, cupy.status = ck.empty(4), status
    with pytest.raises(kind, match="scale .*(?s:.)*ck.simulator"):
        kernels.scale[1, 32](out, out, 2.0, 4)


def test_a_fault_of_a_quick_launch_is_translated(cupy, repeated):
    out, cupy.status = ck.empty(4), 716
    with pytest.raises(ck.OutOfBoundsError, match="misaligned"):
        repeated(out, out, 2.0, 4)


AFTER = {
    "launch": lambda kernels, out: kernels.scale[1, 32](out, out, 2.0, 4),
    "to_host": lambda kernels, out: ck.to_host(out),
    "to_device": lambda kernels, out: ck.to_device(ramp(3)),
    "empty": lambda kernels, out: ck.empty(3),
}


@pytest.mark.parametrize("call", AFTER.values(), ids=AFTER)
def test_after_a_fault_every_call_says_restart(cupy, kernels, call):
    out, cupy.status = ck.empty(4), 700
    with contextlib.suppress(ck.KernelError):
        kernels.scale[1, 32](out, out, 2.0, 4)
    cupy.status = 0
    with pytest.raises(ck.DeviceError, match="Restart the kernel"):
        call(kernels, out)


def test_the_simulator_works_after_a_fault(cupy, kernels):
    out, cupy.status = np.zeros(4, np.float32), 700
    with contextlib.suppress(ck.KernelError):
        kernels.scale[1, 32](out, ramp(4), 2.0, 4)
    with ck.simulator():
        kernels.scale[1, 32](out, ramp(4), 2.0, 4)
    assert out.tolist() == [0, 2, 4, 6]


def test_a_refused_launch_loses_nothing(cupy, kernels):
    out, cupy.status = ck.to_device(ramp(4)), 701
    with pytest.raises(ck.LaunchError, match="refuses the launch"):
        kernels.scale[1, 32](out, out, 2.0, 4)
    cupy.status = 0
    assert ck.to_host(out).tolist() == [0, 1, 2, 3]


def test_out_of_memory_says_how_much_is_free(cupy):
    with pytest.raises(ck.DeviceError, match="100 of 1,000 bytes"):
        ck.empty(10**9)


def test_arrays_of_a_simulation_are_copied(cupy, kernels):
    with ck.simulator():
        out = ck.to_device(ramp(4))
    kernels.scale[1, 32](out, out, 2.0, 4)
    assert (out.space, ck.to_host(out).tolist()) == ("simulator", [0, 2, 4, 6])


def test_arrays_of_the_gpu_are_copied_into_a_simulation(cupy, kernels):
    out = ck.to_device(ramp(4))
    with ck.simulator():
        kernels.scale[1, 32](out, out, 2.0, 4)
    assert (out.space, ck.to_host(out).tolist()) == ("gpu", [0, 2, 4, 6])


def test_the_backend_is_that_of_the_gpu(cupy):
    assert backends.current() is backends.current() is gpu.backend()


def test_printf_shows_in_the_output_of_python(cupy, capsys):
    hello = ck.compile('__global__ void hello() { printf("hello\\n"); }')
    hello.cubin, cupy.stdout = lambda arch: arch.encode(), b"hello\n"
    hello.hello[1, 1]()
    assert capsys.readouterr().out == "hello\n"


def test_a_module_without_printf_leaves_stdout_alone(cupy, kernels, monkeypatch):
    def refuse():
        raise AssertionError

    monkeypatch.setattr("coursekit.runtime.gpu.printing.to_python", refuse)
    out = ck.empty(4)
    kernels.scale[1, 32](out, out, 2.0, 4)
    assert len(cupy.launches) == 1


SPECIAL = {
    "cooperative": ({"cooperative": True}, 1),
    "cluster": ({"cluster": 2}, 1),
    "early": ({"early": True}, 1),
    "cluster and early": ({"cluster": (2, 1, 1), "early": True}, 2),
}


@pytest.fixture
def launched(monkeypatch):
    """Note each launch with attributes, and let it succeed."""
    from cuda.bindings import driver

    seen = []

    def launch(config, function, addresses, extra):
        seen.append((config.gridDimX, config.numAttrs, int(config.hStream)))
        return (driver.CUresult.CUDA_SUCCESS,)

    monkeypatch.setattr(driver, "cuLaunchKernelEx", launch)
    return seen


@pytest.mark.parametrize(("options", "attributes"), SPECIAL.values(), ids=SPECIAL)
def test_a_launch_with_attributes_becomes_quick(
    cupy, kernels, launched, monkeypatch, options, attributes
):
    stream, out = Stream(), ck.empty(4)
    for turn in range(3):
        if turn:  # the thorough way is not taken again
            monkeypatch.setattr(launching, "run", None)
        kernels.scale.launch(2, 32, out, out, 2.0, 4, stream=stream, **options)
    assert launched == [(2, attributes, 7)] * 3


def test_a_deferred_launch_becomes_quick(cupy, kernels, monkeypatch):
    out = ck.empty(4)
    with launching.deferred():
        kernels.scale[1, 32](out, out, 2.0, 4)
        monkeypatch.setattr(launching, "run", None)
        kernels.scale[1, 32](out, out, 2.0, 4)
    assert [stream for *_, stream in cupy.launches] == [cupy.stream] * 2


def test_a_deferred_quick_launch_does_not_skip_the_wait_of_a_later_one(cupy, kernels):
    out = ck.empty(4)
    with launching.deferred():
        for _ in range(2):
            kernels.scale[1, 32](out, out, 2.0, 4)
    kernels.scale[1, 32](out, out, 2.0, 4)
    assert cupy.stream.waits == 1


def test_a_remembered_grid_of_4_does_not_let_4_point_0_pass(cupy, kernels):
    stream, out = Stream(), ck.empty(4)
    kernels.scale[4, 32, 0, stream](out, out, 2.0, 4)
    with pytest.raises(ck.LaunchError, match="whole number"):
        kernels.scale[4.0, 32, 0, stream](out, out, 2.0, 4)


def test_a_kernel_keeps_a_limited_number_of_launchers(kernels):
    for grid in range(1, 3 * launching.REMEMBERED):
        kernels.scale[grid, 32]
    assert len(kernels.scale._launchers) <= launching.REMEMBERED


RECORDS = """
struct Piece { int first, last; };
__global__ void pieces(const Piece* all, int count) {}
"""


def test_an_array_of_records_goes_the_quick_way(cupy, monkeypatch):
    module = ck.compile(RECORDS, name="pieces.cu")
    module.cubin = lambda arch: arch.encode()
    pieces = ck.to_device(np.zeros(3, [("first", "i4"), ("last", "i4")]))
    launch = module.pieces[1, 32, 0, Stream()]
    launch(pieces, 3)
    monkeypatch.setattr(launching, "run", None)
    launch(pieces, 3)
    assert len(cupy.launches) == 2
