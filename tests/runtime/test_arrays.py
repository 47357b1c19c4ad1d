"""Arrays in device memory, on both backends."""

from __future__ import annotations

import copy
import gc
import operator
import pickle
import subprocess
import sys

import numpy as np
import pytest

import coursekit as ck
from coursekit import hardware
from coursekit.runtime import arrays, simulator

SHAPES = [(), (0,), (1,), (31,), (33, 5), (2, 0, 3), (2, 3, 7)]
DTYPES = ["bool", "int8", "uint8", "float16", "int32", "uint64", "float64", "complex64"]
RECORD = np.dtype([("id", "i4"), ("weight", "f8")], align=True)


def ramp(shape, dtype="float32"):
    return np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_copy_comes_back_with_its_shape(backend, shape):
    values = ramp(shape)
    np.testing.assert_array_equal(ck.to_host(ck.to_device(values)), values, strict=True)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_copy_comes_back_with_its_type(backend, dtype):
    values = ramp((5, 7), dtype)
    np.testing.assert_array_equal(ck.to_host(ck.to_device(values)), values, strict=True)


def test_structured_arrays_come_back(backend):
    values = np.zeros(3, RECORD)
    values["id"] = [7, 8, 9]
    assert ck.to_host(ck.to_device(values))["id"].tolist() == [7, 8, 9]


def test_a_strided_array_is_packed(backend):
    values = ramp((4, 6))[:, ::2]
    np.testing.assert_array_equal(ck.to_host(ck.to_device(values)), values, strict=True)


def test_to_host_returns_an_array_of_its_own(backend):
    array = ck.to_device(ramp(4))
    ck.to_host(array)[:] = -1
    assert ck.to_host(array).tolist() == [0, 1, 2, 3]


def test_to_host_copies_numpy_arrays_too():
    values = ramp(4)
    assert not np.shares_memory(ck.to_host(values), values)


def test_to_device_copies_a_device_array(backend):
    first = ck.to_device(ramp(4))
    assert ck.to_device(first).address != first.address


def test_a_torch_tensor_is_copied(backend):
    torch = pytest.importorskip("torch")
    array = ck.to_device(torch.arange(6, dtype=torch.int32).reshape(2, 3))
    assert ck.to_host(array).tolist() == [[0, 1, 2], [3, 4, 5]]


def test_a_transposed_torch_tensor_is_packed(backend):
    torch = pytest.importorskip("torch")
    array = ck.to_device(torch.arange(6).reshape(2, 3).T)
    assert ck.to_host(array).tolist() == [[0, 3], [1, 4], [2, 5]]


def test_a_bfloat16_tensor_becomes_its_bits(backend):
    torch = pytest.importorskip("torch")
    array = ck.to_device(torch.tensor([1.0, -2.0], dtype=torch.bfloat16))
    assert ck.to_host(array).tolist() == [0x3F80, 0xC000]


@pytest.mark.parametrize("value", [[1, 2], (1.0,), 3, np.float32(1), "text", None])
def test_to_device_refuses_what_is_no_array(backend, value):
    with pytest.raises(ck.ArgumentError, match="Build one with np.array"):
        ck.to_device(value)


@pytest.mark.parametrize("dtype", [object, "U3", "datetime64[s]"])
def test_types_that_devices_lack_are_refused(backend, dtype):
    with pytest.raises(ck.ArgumentError, match="cannot go to a device"):
        ck.empty(3, dtype)


def test_swapped_bytes_are_refused(backend):
    with pytest.raises(ck.ArgumentError, match="order of another machine"):
        ck.to_device(ramp(3, ">f4"))


def test_empty_is_filled_with_a_pattern(backend):
    assert set(ck.to_host(ck.empty((3, 5), np.uint8)).ravel()) == {0xCB}


@pytest.mark.parametrize("shape", [-1, (2, -3), 2.5, (1, "x"), None])
def test_empty_refuses_what_is_no_shape(backend, shape):
    with pytest.raises(ck.ArgumentError, match="is no shape"):
        ck.empty(shape)


def test_properties(backend):
    array = ck.empty((3, 5), np.float64)
    found = (array.shape, array.dtype, array.size, array.ndim, array.nbytes, len(array))
    assert found == ((3, 5), np.float64, 15, 2, 120, 3)


def test_repr_says_where(simulated):
    expected = "DeviceArray(shape=(3,), dtype=float32, in simulated memory)"
    assert repr(ck.empty(3)) == expected


@pytest.mark.parametrize(
    "key",
    [
        slice(None), slice(1, 3), slice(-2, None), slice(3, 1), 0, -1, np.int64(1),
        (1, 2), (1, slice(1, 4)), (2, -1, slice(None, 2)), slice(0, 99), (),
    ],
)  # fmt: skip
def test_parts_are_those_of_numpy(backend, key):
    values = ramp((4, 5, 6))
    np.testing.assert_array_equal(
        ck.to_host(ck.to_device(values)[key]), values[key], strict=True
    )


def test_parts_share_memory(backend):
    array = ck.to_device(ramp((4, 5)))
    assert array[2].address - array.address == 2 * 5 * 4


@pytest.mark.parametrize("key", [4, -5])
def test_an_index_out_of_range_is_an_index_error(backend, key):
    with pytest.raises(IndexError, match="out of range"):
        ck.empty((4, 5))[key]


@pytest.mark.parametrize("shape", [(20,), (-1,), (2, -1), (5, 4), (1, 20, 1)])
def test_reshape_is_that_of_numpy(backend, shape):
    values = ramp((4, 5))
    np.testing.assert_array_equal(
        ck.to_host(ck.to_device(values).reshape(shape)), values.reshape(shape)
    )


@pytest.mark.parametrize("shape", [(3, 7), (-1, -1), (-2, -10), (3, -1)])
def test_reshape_refuses_another_number_of_elements(backend, shape):
    with pytest.raises(ck.DeviceError, match="20 elements"):
        ck.empty((4, 5)).reshape(*shape)


HOST_ACCESS = {
    "item": lambda d: d[0],
    "fancy index": lambda d: d[[0, 1]],
    "mask": lambda d: d[np.array([True, False, True])],
    "set item": lambda d: operator.setitem(d, 0, 1.0),
    "iterate": lambda d: list(d),
    "contains": lambda d: 1.0 in d,
    "asarray": np.asarray,
    "ufunc": np.sqrt,
    "function": np.sum,
    "allclose": lambda d: np.testing.assert_allclose(d, 1),
    "float": float,
    "int": int,
    "bool": bool,
    "add": lambda d: d + 1,
    "add from the left": lambda d: 1 + d,
    "add to an array": lambda d: np.ones(3) + d,
    "multiply in place": lambda d: operator.imul(d, 2),
    "matmul": lambda d: d @ d,
    "negate": operator.neg,
    "divide with remainder": lambda d: divmod(d, 2),
    "method of NumPy": lambda d: d.sum(),
    "transpose": lambda d: d.T,
    "equal": lambda d: d == 1,
    "less": lambda d: d < 1,
    "compare with an array": lambda d: np.ones(3) == d,
}


@pytest.mark.parametrize("access", HOST_ACCESS.values(), ids=HOST_ACCESS)
def test_values_cannot_be_used_on_the_host(backend, access):
    with pytest.raises(ck.DeviceError, match="ck.to_host"):
        access(ck.to_device(ramp(3)))


def test_what_a_numpy_array_has_counts_as_absent(backend):
    assert not hasattr(ck.empty(3), "tolist")


def test_what_a_numpy_array_has_is_refused_by_name(simulated):
    with pytest.raises(ck.HostAccessError, match=r"allows no \.mean on the host"):
        ck.empty(3).mean()


def test_another_attribute_is_an_attribute_error(backend):
    with pytest.raises(AttributeError, match="no attribute 'sise'"):
        ck.empty(3).sise  # noqa: B018


def test_a_slice_with_a_step_is_refused(backend):
    with pytest.raises(ck.DeviceError, match="step 2"):
        ck.empty(8)[::2]


def test_device_arrays_can_be_keys(backend):
    array = ck.empty(3)
    assert {array: "a"}[array] == "a"


def test_a_simulated_array_has_no_cuda_interface(simulated):
    assert not hasattr(ck.empty(3), "__cuda_array_interface__")


@pytest.mark.gpu
def test_cupy_reads_a_device_array(gpu):
    import cupy

    values = ramp((3, 5))
    shared = cupy.asarray(ck.to_device(values)[1:])
    np.testing.assert_array_equal(cupy.asnumpy(shared), values[1:], strict=True)


def test_memory_is_freed_with_the_last_part(simulated):
    memory = simulator.simulated_memory()
    gc.collect()  # what other tests have left
    memory.sweep()
    before = memory.memory.used
    array = ck.empty((4, 1000), np.uint8)
    part = array[1:]
    del array
    gc.collect()
    memory.sweep()
    held = memory.memory.used - before
    del part
    memory.sweep()
    assert (held, memory.memory.used - before) == (4000, 0)


def test_variables_of_a_module_are_freed_with_it(simulated):
    memory = simulator.simulated_memory()
    gc.collect()
    memory.sweep()
    before = memory.memory.used
    module = ck.compile(
        "__device__ int seen[1000]; __global__ void k() { seen[0] = 1; }"
    )
    module.k[1, 1]()
    held = memory.memory.used - before
    del module
    gc.collect()
    memory.sweep()
    assert (held, memory.memory.used - before) == (4000, 0)


def test_more_than_the_device_holds_is_out_of_memory(simulated):
    room = simulated.device.memory_bytes
    with pytest.raises(ck.DeviceError, match=f"out of memory: {room + 4:,} bytes"):
        ck.empty(room // 4 + 1, np.float32)


def test_a_smaller_device_holds_less():
    with (
        ck.simulator(device="T4"),
        pytest.raises(ck.DeviceError, match="out of memory"),
    ):
        ck.empty(hardware.device("T4").memory_bytes + 1, np.uint8)


FIRST_USE = """
import threading, time
from coursekit.runtime import simulator
from coursekit.simt import Memory

class Slow(Memory):
    def __init__(self):
        for _ in range(200):
            time.sleep(0)  # lets the other threads run
        super().__init__()

import coursekit.simt
coursekit.simt.Memory = Slow
start, found = threading.Barrier(8), []

def use():
    start.wait()
    found.append(simulator.simulated_memory())

threads = [threading.Thread(target=use) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(len(found), len(set(map(id, found))))
"""


def test_threads_that_use_device_memory_first_share_one():
    told = subprocess.run(
        [sys.executable, "-c", FIRST_USE], capture_output=True, text=True
    )
    assert (told.stderr, told.stdout) == ("", "8 1\n")


COPIES = {"copy": copy.copy, "deepcopy": copy.deepcopy, "pickle": pickle.dumps}


@pytest.mark.parametrize("how", COPIES)
def test_a_copy_by_python_is_refused_not_an_alias(backend, how):
    array = ck.to_device(ramp(4))
    with pytest.raises(ck.DeviceError, match="cannot copy DeviceArray"):
        COPIES[how](array)


def test_a_structure_that_holds_a_device_array_is_not_copied_deeply(backend):
    with pytest.raises(ck.DeviceError, match=r"ck.to_device\(array\)"):
        copy.deepcopy({"weights": [ck.to_device(ramp(4))]})


@pytest.mark.parametrize("copy", [ck.to_host, ck.to_device])
def test_a_copy_that_does_not_fit_is_out_of_memory(simulated, monkeypatch, copy):
    def full(*given):
        raise MemoryError("Unable to allocate 1. GiB")

    monkeypatch.setattr(arrays.operands, "describe", full)
    with pytest.raises(ck.DeviceError, match="out of memory: this machine cannot hold"):
        copy(np.zeros(4))
