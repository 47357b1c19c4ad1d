"""The driver API by hand: the stand-in checks what a driver checks, and launches."""

import ctypes

import numpy as np
import pytest

import coursekit as ck
from coursekit.errors import ArgumentError, UnsupportedError
from coursekit.runtime.driver import StandIn
from coursekit.runtime.driver.images import machine_code_fits, ptx_fits

SAXPY = """
extern "C" __global__ void saxpy(const float *x, float *y, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}
"""
TYPES = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_float, ctypes.c_int)
N = 100


class Session:
    """A stand-in with a context, the kernel, and two arrays of N floats."""

    def __init__(self, source=SAXPY, **options):
        self.cu = cu = StandIn()
        cu.cuInit(0)
        _, device = cu.cuDeviceGet(0)
        _, self.context = cu.cuCtxCreate(None, 0, device)
        self.ptx = ck.compile(source, **options).ptx.encode()
        _, self.module = cu.cuModuleLoadData(self.ptx)
        _, self.function = cu.cuModuleGetFunction(self.module, b"saxpy")
        self.x, self.y = np.arange(N, dtype=np.float32), np.ones(N, np.float32)
        _, self.dx = cu.cuMemAlloc(self.x.nbytes)
        _, self.dy = cu.cuMemAlloc(self.y.nbytes)
        cu.cuMemcpyHtoD(self.dx, self.x, self.x.nbytes)
        cu.cuMemcpyHtoD(self.dy, self.y, self.y.nbytes)

    def launch(self, params, grid=1, block=128):
        return self.cu.cuLaunchKernel(
            self.function, grid, 1, 1, block, 1, 1, 0, 0, params, 0
        )

    @property
    def values(self):
        return (int(self.dx), int(self.dy), 2.0, N), TYPES


@pytest.fixture
def session():
    return Session()


def name(answer):
    return answer[0].name


def test_the_calls_of_one_launch_give_the_kernels_result(session):
    assert name(session.launch(session.values)) == "CUDA_SUCCESS"
    assert name(session.cu.cuCtxSynchronize()) == "CUDA_SUCCESS"
    out = np.empty_like(session.y)
    session.cu.cuMemcpyDtoH(out, session.dy, out.nbytes)
    np.testing.assert_array_equal(out, 2 * session.x + 1, strict=True)


def test_parameters_may_be_an_array_of_addresses(session):
    values = (np.uint64(session.dx), np.uint64(session.dy), np.float32(2), np.int32(N))
    held = [np.array(value) for value in values]
    addresses = np.array([one.ctypes.data for one in held], np.uint64)
    assert name(session.launch(addresses)) == "CUDA_SUCCESS"
    out = np.empty_like(session.y)
    session.cu.cuMemcpyDtoH(out, session.dy, out.nbytes)
    np.testing.assert_array_equal(out, 2 * session.x + 1, strict=True)


def test_a_handle_needs_no_type(session):
    values = (
        (session.dx, session.dy, 2.0, N),
        (None, None, ctypes.c_float, ctypes.c_int),
    )
    assert name(session.launch(values)) == "CUDA_SUCCESS"
    assert name(session.cu.cuCtxSynchronize()) == "CUDA_SUCCESS"


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        (lambda cu: cu.cuDeviceGet(0), "CUDA_ERROR_NOT_INITIALIZED"),
        (lambda cu: cu.cuInit(1), "CUDA_ERROR_INVALID_VALUE"),
        (lambda cu: (cu.cuInit(0), cu.cuDeviceGet(1))[1], "CUDA_ERROR_INVALID_DEVICE"),
        (lambda cu: (cu.cuInit(0), cu.cuMemAlloc(4))[1], "CUDA_ERROR_INVALID_CONTEXT"),
        (
            lambda cu: (cu.cuInit(0), cu.cuCtxSynchronize())[1],
            "CUDA_ERROR_INVALID_CONTEXT",
        ),
        (
            lambda cu: (cu.cuInit(0), cu.cuCtxSetCurrent(77))[1],
            "CUDA_ERROR_INVALID_CONTEXT",
        ),
    ],
)
def test_a_call_too_early_has_the_result_of_cuda(calls, expected):
    assert name(calls(StandIn())) == expected


def test_the_context_of_cuda_12_misses_an_argument(session):
    with pytest.raises(
        TypeError, match="takes exactly 3 positional arguments .2 given."
    ):
        session.cu.cuCtxCreate(0, 0)


def test_flags_in_place_of_parameters_are_refused(session):
    with pytest.raises(TypeError, match="'ctxCreateParams' has incorrect type"):
        session.cu.cuCtxCreate(0, 0, 0)


def test_the_primary_context_is_one_and_is_not_made_current():
    cu = StandIn()
    cu.cuInit(0)
    _, first = cu.cuDevicePrimaryCtxRetain(0)
    _, second = cu.cuDevicePrimaryCtxRetain(0)
    assert int(first) == int(second)
    assert name(cu.cuMemAlloc(4)) == "CUDA_ERROR_INVALID_CONTEXT"
    cu.cuCtxSetCurrent(first)
    assert name(cu.cuMemAlloc(4)) == "CUDA_SUCCESS"


def test_a_destroyed_context_is_no_longer_current(session):
    session.cu.cuCtxDestroy(session.context)
    assert name(session.cu.cuCtxSynchronize()) == "CUDA_ERROR_INVALID_CONTEXT"


def test_a_mangled_name_is_not_found_by_its_name_in_the_source(session):
    mangled = ck.compile(SAXPY.replace('extern "C"', "")).ptx.encode()
    _, module = session.cu.cuModuleLoadData(mangled)
    answer = session.cu.cuModuleGetFunction(module, b"saxpy")
    assert name(answer) == "CUDA_ERROR_NOT_FOUND"
    assert "_Z5saxpyPKfPffi" in session.cu.explain(answer[0])


def test_a_missing_kernel_names_those_that_are_there(session):
    answer = session.cu.cuModuleGetFunction(session.module, b"saxpi")
    assert name(answer) == "CUDA_ERROR_NOT_FOUND"
    assert "it has saxpy" in session.cu.explain(answer[0])


def test_the_name_of_a_kernel_is_bytes(session):
    with pytest.raises(TypeError, match="expected bytes, str found"):
        session.cu.cuModuleGetFunction(session.module, "saxpy")


def test_text_that_is_no_image_is_invalid(session):
    assert name(session.cu.cuModuleLoadData(b"hello")) == "CUDA_ERROR_INVALID_IMAGE"


def test_ptx_that_the_simulator_cannot_read_is_no_result_of_cuda(session):
    broken = session.ptx.replace(b"ret;", b"ret")
    with pytest.raises(UnsupportedError, match="unknown statement: ret"):
        session.cu.cuModuleLoadData(broken)


def test_ptx_of_a_newer_architecture_does_not_fit(session):
    newer = ck.compile(SAXPY, arch="compute_100").ptx.encode()
    assert name(session.cu.cuModuleLoadData(newer)) == "CUDA_ERROR_INVALID_PTX"


def test_ptx_of_an_older_architecture_fits(session):
    older = ck.compile(SAXPY, arch="compute_80").ptx.encode()
    assert name(session.cu.cuModuleLoadData(older)) == "CUDA_SUCCESS"


def test_machine_code_of_another_generation_does_not_fit(session):
    cubin = ck.compile(SAXPY, arch="sm_80").cubin()
    assert name(session.cu.cuModuleLoadData(cubin)) == "CUDA_ERROR_NO_BINARY_FOR_GPU"


def test_machine_code_that_fits_needs_a_gpu(session):
    cubin = ck.compile(SAXPY, arch="sm_90").cubin()
    with pytest.raises(UnsupportedError, match="which only a GPU runs"):
        session.cu.cuModuleLoadData(cubin)


def test_a_missing_parameter_is_refused(session):
    values, types = session.values
    with pytest.raises(ArgumentError, match="has 4 parameters, and kernelParams has 3"):
        session.launch((values[:3], types[:3]))


def test_a_double_for_a_float_is_refused(session):
    types = (*TYPES[:2], ctypes.c_double, ctypes.c_int)
    with pytest.raises(ArgumentError, match="is .f32 and has 4 bytes, and c_double"):
        session.launch((session.values[0], types))


@pytest.mark.parametrize("shape", [(0, 128), (1, 0), (1, 1025)])
def test_an_impossible_shape_is_an_invalid_value(session, shape):
    answer = session.launch(session.values, *shape)
    assert name(answer) == "CUDA_ERROR_INVALID_VALUE"


def test_a_fault_is_reported_after_the_launch_and_for_good(session):
    values, types = session.values
    assert name(session.launch(((*values[:3], 2 * N), types), 2)) == "CUDA_SUCCESS"
    for _ in range(2):
        assert name(session.cu.cuCtxSynchronize()) == "CUDA_ERROR_ILLEGAL_ADDRESS"
    assert name(session.cu.cuMemAlloc(4)) == "CUDA_ERROR_ILLEGAL_ADDRESS"


def test_the_stand_in_knows_which_thread_was_wrong(session):
    values, types = session.values
    session.launch(((*values[:3], 2 * N), types), 2)
    (result,) = session.cu.cuCtxSynchronize()
    assert "thread (100, 0, 0) of block (0, 0, 0)" in session.cu.explain(result)


def test_copies_stay_inside_of_an_allocation(session):
    answer = session.cu.cuMemcpyHtoD(session.dx, np.ones(2 * N, np.float32), 8 * N)
    assert name(answer) == "CUDA_ERROR_INVALID_VALUE"


def test_memory_is_freed_once(session):
    assert name(session.cu.cuMemFree(session.dx)) == "CUDA_SUCCESS"
    assert name(session.cu.cuMemFree(session.dx)) == "CUDA_ERROR_INVALID_VALUE"


def test_the_face_answers_for_a_simulated_gpu():
    with ck.simulator(device="A100 SXM4 40GB"):
        cu = ck.driver
        cu.cuInit(0)
        result, text = cu.cuDeviceGetName(64, 0)
        assert text.rstrip(b"\0") == b"A100 SXM4 40GB (simulated)"
        major = cu.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
        assert cu.cuDeviceGetAttribute(major, 0) == (result, 8)


def test_each_simulated_gpu_has_a_primary_context():
    newer = ck.compile(SAXPY, arch="compute_100").ptx.encode()
    found = {}
    for gpu in "H200", "HGX B200":
        with ck.simulator(device=gpu):
            ck.driver.cuInit(0)
            _, context = ck.driver.cuDevicePrimaryCtxRetain(0)
            ck.driver.cuCtxSetCurrent(context)
            found[gpu] = name(ck.driver.cuModuleLoadData(newer))
    assert found == {"H200": "CUDA_ERROR_INVALID_PTX", "HGX B200": "CUDA_SUCCESS"}


def test_the_image_of_a_module_is_ptx_for_the_stand_in():
    module = ck.compile(SAXPY)
    with ck.simulator():
        assert ck.driver.image(module) == module.ptx.encode()


def test_the_face_names_what_it_has_for_a_call_that_it_lacks():
    with ck.simulator(), pytest.raises(UnsupportedError, match="needs a GPU"):
        _ = ck.driver.cuGraphCreate


@pytest.mark.parametrize(
    ("number", "suffix", "capability", "fits"),
    [
        (80, "", (9, 0), True),
        (90, "", (8, 0), False),
        (90, "a", (9, 0), True),
        (90, "a", (10, 0), False),
        (100, "f", (10, 3), True),
        (100, "f", (12, 0), False),
    ],
)
def test_ptx_fits_by_its_suffix(number, suffix, capability, fits):
    assert ptx_fits(number, suffix, capability) is fits


@pytest.mark.parametrize(
    ("number", "capability", "fits"),
    [(80, (8, 6), True), (86, (8, 0), False), (80, (9, 0), False)],
)
def test_machine_code_fits_inside_of_a_generation(number, capability, fits):
    assert machine_code_fits(number, capability) is fits
