"""Triton's own launches on CPU tensors run on the simulator, counted and checked."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import coursekit as ck
from coursekit import errors
from coursekit.runtime import triton_arguments

REASON = "Triton is not installed: make setup EXTRAS=dsl"
torch = pytest.importorskip("torch", reason="PyTorch is not installed")
triton = pytest.importorskip("triton", reason=REASON)
kernels = pytest.importorskip("triton_kernels", reason=REASON)


@pytest.fixture(scope="module", autouse=True)
def own_cache(tmp_path_factory):
    """Let Triton compile into a folder of these tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRITON_CACHE_DIR", str(tmp_path_factory.mktemp("triton")))
        yield


@pytest.fixture
def simulation():
    with ck.triton_simulator() as found:
        yield found


def random(*shape: int, dtype=torch.float32):
    numbers = np.random.default_rng(5).standard_normal(shape, np.float32)
    return torch.from_numpy(numbers).to(dtype)


def added(n: int = 1000, kernel=None, block: int = 256):
    """Add two vectors; return them and the result."""
    x, y, out = random(n), random(n).flip(0).contiguous(), torch.empty(n)
    (kernel or kernels.add)[(-(-n // block),)](x, y, out, n, BLOCK=block)
    return x, y, out


# ---------------------------------------------------------------- results


def test_vectors_are_added(simulation):
    x, y, out = added()
    np.testing.assert_array_equal(out.numpy(), x.numpy() + y.numpy())


def test_grid_may_be_a_function(simulation):
    x, out = random(100), torch.empty(100)
    grid = lambda meta: (triton.cdiv(100, meta["BLOCK"]),)  # noqa: E731
    kernels.add[grid](x, x, out, 100, BLOCK=64)
    np.testing.assert_array_equal(out.numpy(), 2 * x.numpy())


def test_softmax(simulation):
    x = random(33, 100)
    out = torch.empty_like(x)
    kernels.softmax[(33,)](x, out, x.stride(0), 100, BLOCK=128)
    exact = torch.softmax(x.double(), 1).numpy()
    np.testing.assert_allclose(out.double().numpy(), exact, rtol=1e-5)


def test_layer_norm(simulation):
    x, weight, bias = random(7, 50), random(50), random(2, 50)[1].contiguous()
    out = torch.empty_like(x)
    kernels.layer_norm[(7,)](x, weight, bias, out, 50, 1e-5, BLOCK=64)
    exact = torch.layer_norm(x.double(), (50,), weight.double(), bias.double())
    np.testing.assert_allclose(out.double().numpy(), exact.numpy(), atol=5e-6)


def test_dropout_is_repeatable_by_its_seed(simulation):
    x = random(1000)
    outs = [torch.empty(1000) for _ in range(3)]
    for out, seed in zip(outs, (7, 7, 8), strict=True):
        kernels.dropout[(4,)](x, out, 1000, 0.25, seed, BLOCK=256)
    assert torch.equal(outs[0], outs[1])
    assert not torch.equal(outs[0], outs[2])


def test_dropout_keeps_what_philox_says(simulation):
    x, out = torch.ones(1000), torch.empty(1000)
    kernels.dropout[(4,)](x, out, 1000, 0.25, 7, BLOCK=256)
    kept = out != 0
    assert 0.70 < kept.float().mean() < 0.80
    np.testing.assert_allclose(out[kept].numpy(), 1 / 0.75, rtol=1e-6)


# A product's error: both operands are exact; K sums are rounded to float32. TF32 has 11
# bits, so that a product of two rounded operands is wrong by 2 * 2**-11 at most.
ERRORS = {
    torch.float16: 90 * 2.0**-23,
    torch.bfloat16: 90 * 2.0**-23,
    torch.float32: 2 * 2.0**-11,
}


@pytest.mark.parametrize("dtype", ERRORS, ids=str)
def test_matmul(simulation, dtype):
    a, b = random(70, 90, dtype=dtype), random(90, 50, dtype=dtype)
    c = torch.empty(70, 50)
    sizes = {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32}
    kernels.matmul[(2, 1)](a, b, c, 70, 50, 90, **sizes)
    exact = a.double() @ b.double()
    bound = ERRORS[dtype] * (a.double().abs() @ b.double().abs())
    assert ((c - exact).abs() <= bound).all()


def test_flash_attention(simulation):
    q, k, v = (
        random(3, 100, 64, dtype=torch.float16)[i].contiguous() for i in range(3)
    )
    out = torch.empty(100, 64)
    sizes = {"WIDTH": 64, "BLOCK_Q": 64, "BLOCK_K": 32}
    kernels.attention[(2,)](q, k, v, out, 100, 0.125, **sizes)
    weights = torch.softmax(q.double() @ k.double().T * 0.125, 1)
    # Weights are rounded to float16 before the product, by 2**-11 of them.
    bound = 2.0**-10 * (weights @ v.double().abs()) + 1e-5
    assert ((out - weights @ v.double()).abs() <= bound).all()


def described(tensor, *block: int):
    descriptor = pytest.importorskip("triton.tools.tensor_descriptor", reason=REASON)
    return descriptor.TensorDescriptor.from_tensor(tensor, list(block))


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_tensor_descriptors_are_tensor_maps_on_hopper(arch):
    a, b = random(100, 96, dtype=torch.float16), random(96, 72, dtype=torch.float16)
    c = torch.empty(100, 72)
    blocks = {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32}
    with ck.triton_simulator(arch) as simulation:
        maps = described(a, 64, 32), described(b, 32, 64)
        kernels.matmul_of_descriptors[(2, 2)](*maps, c, 100, 72, 96, **blocks)
        assert ("cp.async.bulk" in simulation.kernel.module.ptx) == (arch == "sm_90")
        assert len(simulation.findings) == 0
    bound = 96 * 2.0**-23 * (a.double().abs() @ b.double().abs())
    assert ((c - a.double() @ b.double()).abs() <= bound).all()


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_what_a_program_stores_by_a_descriptor_comes_back(arch):
    x, out = random(100, 96), torch.zeros(100, 96)
    with ck.triton_simulator(arch) as simulation:
        both = described(x, 64, 64), described(out, 64, 64)
        kernels.doubled_by_descriptors[(2,)](*both, 96, ROWS=64, COLS=64)
        assert ("bulk_group" in simulation.kernel.module.ptx) == (arch == "sm_90")
        assert len(simulation.findings) == 0
    np.testing.assert_array_equal(out.numpy(), 2 * x.numpy(), strict=True)


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_two_descriptors_of_a_tensor_reach_the_same_elements(arch):
    x = random(64, 64)
    expected = 2 * x.numpy()
    with ck.triton_simulator(arch):
        both = described(x, 64, 32), described(x, 64, 32)
        kernels.doubled_by_descriptors[(1,)](*both, 64, ROWS=64, COLS=32)
    np.testing.assert_array_equal(x.numpy(), expected, strict=True)


def test_tensor_map_of_a_part_of_a_tensor_is_refused():
    wide, b = random(64, 64, dtype=torch.float16), random(32, 64, dtype=torch.float16)
    c = torch.empty(64, 64)
    blocks = {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32}
    with ck.triton_simulator("sm_90"):
        maps = described(wide[:, :32], 64, 32), described(b, 32, 64)
        with pytest.raises(errors.UnsupportedError, match="no tensor map for the desc"):
            kernels.matmul_of_descriptors[(1, 1)](*maps, c, 64, 64, 32, **blocks)


def test_program_may_be_a_cluster_of_blocks():
    clusters = "coursekit.simt.interpreter.clusters"
    pytest.importorskip(clusters, reason="the simulator has no clusters")
    a, b = random(128, 64, dtype=torch.float16), random(64, 128, dtype=torch.float16)
    c = torch.empty(128, 128)
    sizes = {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 32}
    with ck.triton_simulator("sm_90") as simulation:
        kernels.matmul[(1, 1)](a, b, c, 128, 128, 64, num_ctas=2, **sizes)
        assert simulation.counts.blocks == 2
    bound = 64 * 2.0**-23 * (a.double().abs() @ b.double().abs())
    assert ((c - a.double() @ b.double()).abs() <= bound).all()


def test_rows_of_a_wider_matrix_are_reached_by_their_stride(simulation):
    wide = random(4, 80)
    out = torch.empty(4, 50)
    kernels.scale_rows[(4,)](wide[:, 10:60], out, wide.stride(0), 50, BLOCK=64)
    np.testing.assert_array_equal(out.numpy(), 2 * wide[:, 10:60].numpy())


def test_columns_outside_of_a_slice_stay(simulation):
    wide = torch.zeros(4, 80)
    x = random(4, 50)
    kernels.softmax[(4,)](x, wide[:, :50], 50, 50, BLOCK=64)
    assert (wide.view(-1)[200:] == 0).all()


# ---------------------------------------------------------------- counts


def test_last_launch_is_counted(simulation):
    added()
    assert simulation.counts.blocks == 4
    # A thread has two neighbours, and without a multiple of 16 loads them one by one.
    assert simulation.counts.global_load_requests == 2 * 2 * 16


def test_costs_stand_beside_triton(simulation):
    added()
    by_line = simulation.counts.by_line()
    lines = {line: each.global_store_sectors for (_, line), each in by_line.items()}
    text = Path(kernels.__file__).read_text().splitlines()
    store = 1 + next(i for i, line in enumerate(text) if "tl.store" in line)
    assert lines[store] == simulation.counts.global_store_sectors > 0


def test_kernel_is_what_other_functions_take(simulation):
    added()
    assert "tl.store(out + offsets, a + b" in str(ck.show(simulation.kernel))
    assert "def softmax" not in str(ck.show(simulation.kernel))
    assert simulation.kernel.signature.names.startswith("x, y, out, n")


def test_counts_before_a_launch(simulation):
    with pytest.raises(errors.LaunchError, match="Launch a kernel first"):
        _ = simulation.counts


def test_counts_of_a_launch_that_failed(simulation):
    with pytest.raises(errors.OutOfBoundsError):
        added(kernel=kernels.add_without_mask)
    with pytest.raises(errors.LaunchError, match="did not reach its end"):
        _ = simulation.counts


# ---------------------------------------------------------------- planted bugs


def test_forgotten_mask_is_named_with_its_line(simulation):
    with pytest.raises(errors.OutOfBoundsError) as caught:
        added(kernel=kernels.add_without_mask)
    message = str(caught.value)
    assert "reads x[1000], but x has 1000 elements" in message
    assert "a = tl.load(x + offsets)  # the mask is forgotten" in message
    assert "Give the access a mask, for example `mask=offsets < n`" in message


def test_findings_of_a_launch_that_failed(simulation):
    with pytest.raises(errors.OutOfBoundsError):
        added(kernel=kernels.add_without_mask)
    (finding,) = simulation.findings
    assert (finding.kind, finding.count) == ("OutOfBoundsError", 12)


def test_race_between_programs_is_found(simulation):
    kernels.sum_with_race[(4,)](random(1000), torch.zeros(1), 1000, BLOCK=256)
    (finding,) = simulation.findings
    assert finding.kind == "DataRaceError"
    assert "tl.store(out, tl.load(out) + part)" in finding.message
    assert "Use an atomic, for example tl.atomic_add()" in finding.message


def test_findings_look_at_the_arguments_before_the_launch(simulation):
    out = torch.zeros(1)
    kernels.sum_with_race[(1,)](random(256), out, 256, BLOCK=256)
    before = out.clone()
    _ = simulation.findings
    assert torch.equal(out, before)
    assert simulation.last.args[1] == 0


@pytest.mark.parametrize("block", [16, 64, 256])
def test_loads_that_triton_repeats_are_no_race(simulation, block):
    x = random(256)
    kernels.add[(-(-256 // block),)](x, x, x, 256, BLOCK=block)
    assert len(simulation.findings) == 0


def test_reading_what_another_thread_writes_is_a_race(simulation):
    kernels.reverse_twice[(1,)](random(256), torch.empty(256), BLOCK=256)
    (finding,) = simulation.findings
    assert "of the same block writes it: no barrier between them" in finding.message


# ---------------------------------------------------------------- autotune


def test_autotune_compares_counts(simulation):
    x, out = random(1000), torch.empty(1000)
    grid = lambda meta: (triton.cdiv(1000, meta["BLOCK"]),)  # noqa: E731
    kernels.double[grid](x, out, 1000)
    costs = {
        (config.kwargs["BLOCK"], config.num_warps): cost[0]
        for config, cost in kernels.double.configs_timings.items()
    }
    best = kernels.double.best_config
    assert len(costs) == 4
    assert costs[best.kwargs["BLOCK"], best.num_warps] == min(costs.values())
    np.testing.assert_array_equal(out.numpy(), 2 * x.numpy())


def test_cost_may_be_one_s_own():
    x, out = random(999), torch.empty(999)
    grid = lambda meta: (triton.cdiv(999, meta["BLOCK"]),)  # noqa: E731
    with ck.triton_simulator(cost=lambda counts: -counts.blocks):
        kernels.double[grid](x, out, 999)
    assert kernels.double.best_config.kwargs["BLOCK"] == 64


def test_cost_that_is_no_function_is_refused():
    with pytest.raises(errors.ArgumentError, match="cost='time'"):
        ck.triton_simulator(cost="time")


# ---------------------------------------------------------------- the driver


def test_driver_is_given_back():
    before = triton.runtime.driver._active
    with ck.triton_simulator() as simulation:
        assert "on: last launched nothing" in repr(simulation)
    assert triton.runtime.driver._active is before
    assert ", off: " in repr(simulation)


def test_kernels_end_quietly_after_the_simulator():
    x = random(100)
    with ck.triton_simulator():
        compiled = kernels.add[(1,)](x, x, torch.empty(100), 100, BLOCK=32)
    assert compiled.module is None  # else Triton frees it through the active driver


def test_tensors_lie_on_the_host(simulation):
    driver = triton.runtime.driver.active
    assert driver.get_active_torch_device() == torch.device("cpu")
    assert driver.utils.get_device_properties(0)["multiprocessor_count"] == 132


def test_registers_are_those_of_the_machine_code(simulation):
    x = random(100)
    compiled = kernels.add[(1,)](x, x, torch.empty(100), 100, BLOCK=128)
    assert 8 <= compiled.n_regs <= 64
    assert compiled.n_spills == 0


def test_architecture_may_be_another():
    x, out = random(100), torch.empty(100)
    with ck.triton_simulator("sm_90") as simulation:
        kernels.add[(1,)](x, x, out, 100, BLOCK=128)
        assert str(simulation.kernel.module.target) == "compute_90a"
    np.testing.assert_array_equal(out.numpy(), 2 * x.numpy())


def test_tensor_on_another_device_is_refused(simulation):
    class Elsewhere:
        device = torch.device("cuda", 0)

        def data_ptr(self):
            return 0

    with pytest.raises(errors.ArgumentError, match="add: x is a tensor on cuda:0"):
        triton_arguments.argument("add", "x", Elsewhere())


def test_empty_grid_launches_nothing(simulation):
    x = random(100)
    kernels.add[(0,)](x, x, x, 0, BLOCK=128)
    assert simulation.last is None


def test_grid_of_a_fraction_is_refused(simulation):
    x = random(100)
    with pytest.raises(TypeError):
        kernels.add[(1.5,)](x, x, x, 100, BLOCK=128)


def test_time_is_not_measured(simulation):
    with pytest.raises(errors.DeviceError, match="has no clock"):
        triton.runtime.driver.active.get_device_interface()
