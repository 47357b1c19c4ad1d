"""Counters: each against its closed form."""

import numpy as np
import pytest

import coursekit as ck
from coursekit.simt.memory import counters as rules

STRIDE = """__global__ void k(const float* in, float* out, int stride) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  out[i] = in[i * stride];
}"""


def count(source, grid, block, *arguments, shared_bytes=0):
    module = ck.compile(source)
    kernel = module[module.kernels[0]]
    return ck.count(kernel, grid, block, arguments, shared_bytes=shared_bytes)


@pytest.mark.parametrize(
    ("stride", "expected"), [(1, 4), (2, 8), (4, 16), (8, 32), (16, 32), (0, 1)]
)
def test_sectors_per_request_follow_the_stride(stride, expected):
    data = np.zeros(64 * max(stride, 1), np.float32)
    counts = count(STRIDE, 1, 64, data, np.zeros(64, np.float32), stride)
    assert counts.global_load_requests == 2
    assert counts.sectors_per_request == expected
    assert counts.label("global_load_sectors") == "exact"


def test_the_last_warp_touches_only_the_sectors_of_its_threads():
    counts = count(STRIDE, 1, 33, np.zeros(33, np.float32), np.zeros(33, np.float32), 1)
    assert counts.global_load_sectors == 5
    assert counts.bytes_read == 5 * 32


@pytest.mark.parametrize(
    ("words", "width", "load", "expected"),
    [
        (range(32), 4, True, (1, 0)),
        ([0] * 32, 4, True, (1, 0)),
        (range(0, 64, 2), 4, True, (2, 1)),
        (range(0, 32 * 32, 32), 4, True, (32, 31)),
        (range(0, 32 * 33, 33), 4, True, (1, 0)),
        ([0] * 32, 4, False, (1, 0)),
        (range(0, 64, 2), 8, True, (2, 0)),
        (range(0, 128, 4), 16, True, (4, 0)),
        ([2 * (i // 2) for i in range(32)], 8, True, (1, 0)),
        ([4 * (i // 2) for i in range(32)], 16, True, (2, 0)),
        ([2 * (i // 2) for i in range(32)], 8, False, (2, 0)),
    ],
)
def test_wavefronts_follow_the_rules_measured_on_an_h200(words, width, load, expected):
    addresses = [4 * w for w in words]
    found = rules.shared_wavefronts(list(range(32)), addresses, width, load=load)
    assert found == expected


def test_conflicts_are_counted_against_the_groups_that_have_active_lanes():
    lanes = list(range(9))
    assert rules.shared_wavefronts(lanes, [16 * i for i in lanes], 8, load=True) == (
        2,
        1,
    )


def test_lanes_with_equal_addresses_reduce_in_separate_passes():
    addresses = np.array([0, 0, 0, 64, 4], np.uint64)
    assert rules.atomic_sectors(addresses) == 4


def test_shared_atomics_serialise_lanes_of_one_bank():
    assert rules.shared_atomic_wavefronts(np.array([0, 0, 128, 4], np.uint32)) == 3


@pytest.mark.parametrize(("padding", "conflicts"), [(0, 31 * 32), (1, 0)])
def test_padding_a_tile_removes_the_conflicts_of_its_columns(padding, conflicts):
    source = f"""__global__ void k(float* out) {{
      __shared__ float tile[32][32 + {padding}];
      tile[threadIdx.y][threadIdx.x] = threadIdx.x;
      __syncthreads();
      out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
    }}"""
    counts = count(source, 1, (32, 32), np.zeros(1024, np.float32))
    assert counts.shared_load_bank_conflicts == conflicts
    assert counts.shared_store_bank_conflicts == 0
    assert counts.shared_load_requests == 32
    assert counts.barriers == 32


def test_flops_count_fma_twice_and_leave_out_idle_lanes():
    source = """__global__ void k(float* x, int n) {
      int i = threadIdx.x;
      if (i < n) x[i] = x[i] * x[i] + 1.5f;
    }"""
    counts = count(source, 1, 64, np.ones(40, np.float32), 40)
    assert counts.flops_fp32 == 80
    assert counts.label("flops_fp32") == "exact"


def test_a_sum_that_only_lane_0_uses_is_a_ptx_count():
    source = """__global__ void k(const float* x, float* out) {
      float v = x[threadIdx.x];
      for (int o = 16; o; o /= 2) v += __shfl_down_sync(~0u, v, o);
      if (threadIdx.x == 0) out[0] = v;
    }"""
    counts = count(source, 1, 32, np.ones(32, np.float32), np.zeros(1, np.float32))
    assert counts.flops_fp32 == 5 * 32
    assert counts.label("flops_fp32") == "ptx"


def test_divisions_make_the_flop_count_a_ptx_count():
    source = "__global__ void k(float* x) { x[threadIdx.x] = 1.0f / x[threadIdx.x]; }"
    counts = count(source, 1, 32, np.ones(32, np.float32))
    assert counts.label("flops_fp32") == "ptx"


def test_divergent_branches_are_those_whose_lanes_disagree():
    source = """__global__ void k(float* x, int n) {
      if (threadIdx.x < n) for (int i = 0; i < 100; ++i) x[threadIdx.x] += sinf(i);
    }"""
    counts = count(source, 1, 64, np.ones(40, np.float32), 40)
    uniform = count(source, 1, 64, np.ones(64, np.float32), 64)
    assert counts.divergent_branches >= 1
    assert uniform.divergent_branches < counts.divergent_branches
    assert counts.warp_efficiency < uniform.warp_efficiency <= 1


def test_by_line_adds_up_to_the_whole():
    source = """__global__ void k(const float* a, float* b) {
      float v = a[threadIdx.x];
      b[threadIdx.x] = v * 2;
    }"""
    counts = count(source, 2, 64, np.zeros(64, np.float32), np.zeros(64, np.float32))
    lines = counts.by_line()
    assert lines[("kernel.cu", 2)].global_load_sectors == counts.global_load_sectors
    assert lines[("kernel.cu", 3)].global_store_requests == 4
    total = sum(one.warp_instructions for one in lines.values())
    assert total == counts.warp_instructions


def test_counting_leaves_the_arguments_unchanged():
    source = "__global__ void k(float* x) { x[threadIdx.x] = 7; }"
    x = np.zeros(32, np.float32)
    count(source, 1, 32, x)
    assert not x.any()


def test_counts_are_the_same_in_every_order():
    data, out = np.zeros(256, np.float32), np.zeros(128, np.float32)
    found = []
    for order in ("forward", "reverse", 5):
        with ck.simulator(order=order):
            found.append(count(STRIDE, 2, 64, data, out, 2).as_dict())
    assert found[0] == found[1] == found[2]


def test_unknown_counters_are_attribute_errors():
    with pytest.raises(AttributeError, match="no field"):
        rules.Counters({}).l2_hits  # noqa: B018


NAMES = {"blocks": 2, "barriers": 3, "warp_instructions": 40, "branches": 0}


def test_exact_keeps_what_every_machine_counts_alike():
    counts = rules.Counters(NAMES)
    assert counts.exact.as_dict() == {"blocks": 2, "barriers": 3}


def test_exact_keeps_what_the_machine_code_confirmed():
    labels = {"warp_instructions": "sass", "blocks": "ncu"}
    exact = rules.Counters(NAMES, labels=labels).exact
    assert exact.as_dict() == {"warp_instructions": 40, "barriers": 3}
    assert exact.label("warp_instructions") == "sass"


def test_exact_shows_itself_as_all_counters_do():
    exact = rules.Counters({"blocks": 2, "warp_instructions": 40}).exact
    row = "  blocks                                     2  exact"
    assert repr(exact) == f"Counters (simulator)\n{row}"


def test_exact_has_no_count_of_ptx():
    with pytest.raises(AttributeError, match="warp_instructions is not exact"):
        rules.Counters(NAMES).exact.warp_instructions  # noqa: B018


def test_exact_keeps_the_lines():
    line = rules.Counters({"blocks": 1, "branches": 7})
    exact = rules.Counters(NAMES, lines={("a.cu", 3): line}).exact
    assert exact.by_line()["a.cu", 3].as_dict() == {"blocks": 1}


def test_headings_of_the_table_stand_over_their_columns():
    html = rules.Counters(NAMES)._repr_html_()
    assert 'style="text-align:left">counter<' in html
    assert 'style="text-align:right">count<' in html
