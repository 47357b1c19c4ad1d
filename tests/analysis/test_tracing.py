"""ck.trace: every step of one warp, and how each lane came to its index."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from traced_kernels import N, kernel, row_sums

import coursekit as ck
from coursekit.runtime import simulator
from coursekit.simt.interpreter.access import Access
from coursekit.simt.tracing.arithmetic import formulas

ALL = 0xFFFFFFFF


@pytest.fixture(scope="module")
def trace():
    return ck.trace(*row_sums())


def at(trace, line):
    """The accesses of one line."""
    return [access for step in trace.at_line(line) for access in step.accesses]


def run(body, *arguments, parameters, grid=1, block=32, **options):
    """Trace a kernel `k` with a body of one's choice."""
    source = f"__global__ void k({parameters}) {{\n{body}\n}}"
    return ck.trace(kernel(source, "k"), grid, block, arguments, **options)


def ints(n=64):
    return np.arange(1, n + 1, dtype=np.int32)


# ---------------------------------------------------------------- steps


def test_trace_begins_at_the_first_instruction_and_ends_with_the_return(trace):
    assert trace[0].ptx.startswith("ld.param")
    assert trace[-1].ptx == "ret;"


def test_steps_are_the_warp_instructions_that_are_counted(trace):
    counted = ck.count(*row_sums())
    other = ck.trace(*row_sums(), 1)
    assert len(trace) + len(other) == counted.warp_instructions


def test_counts_of_the_steps_add_up_to_the_counters_of_the_launch(trace):
    found = Counter()
    for one in (trace, ck.trace(*row_sums(), 1)):
        for _, _, access in one.accesses():
            found.update(access.counts)
    counted = ck.count(*row_sums()).as_dict()
    assert found == {name: counted[name] for name in found}


def test_every_step_names_its_line(trace):
    assert {step.line for step in trace} == {3, 5, 7, 8, 9, 10, 11, 12}


def test_all_lanes_run_before_the_branch(trace):
    assert trace[0].mask == trace[0].live == ALL


def test_branch_tells_which_lanes_jump():
    trace = ck.trace(*row_sums(), 1)
    (parting,) = [step for step in trace if step.diverges]
    assert (parting.line, parting.mask, parting.taken) == (11, ALL, ALL & ~0xFF)


def test_lanes_after_a_branch_are_those_that_did_not_jump():
    trace = ck.trace(*row_sums(), 1)
    assert {step.mask for step in trace.at_line(11) if step.accesses} == {0xFF}


def test_registers_hold_the_values_written(trace):
    (step,) = [step for step in trace if step.ptx.startswith("mov.u32 %r1, %tid.x")]
    assert step.registers == {"%r1": tuple(range(32))}


def test_registers_of_inactive_lanes_are_left_out():
    trace = ck.trace(*row_sums(), 1)
    (step,) = [s for s in trace if s.ptx.startswith("ld.shared")]
    (values,) = step.registers.values()
    assert [value is None for value in values] == [False] * 8 + [True] * 24


def test_predicated_instruction_shows_the_lanes_that_execute_it():
    trace = run(
        "int i = threadIdx.x; int v = a[i]; if (i & 1) v *= v + 3; a[i] = v;",
        ints(), parameters="int* a",
    )  # fmt: skip
    assert all(step.mask == ALL for step in trace if step.accesses)


def test_result_of_a_shuffle_is_shown():
    trace = run("a[threadIdx.x] = __shfl_down_sync(~0u, a[threadIdx.x], 1);",
                ints(32), parameters="int* a")  # fmt: skip
    (step,) = [step for step in trace if step.ptx.startswith("shfl")]
    assert next(iter(step.registers.values())) == (*range(2, 33), 32)


def test_long_trace_ends_at_the_limit_and_says_so():
    trace = ck.trace(*row_sums(), steps=20)
    assert (len(trace), trace.full) == (20, True)


def test_endless_loop_is_traced_for_2000_steps():
    trace = run(
        "volatile int* p = a; while (p[0]) p[1]++;", ints(), parameters="int* a"
    )
    assert (len(trace), trace.full) == (2000, True)


def test_text_names_warp_lines_and_arrays(trace):
    text = repr(trace)
    assert "warp 0 of block (0, 0, 0), 76 steps; then the warp left" in text
    assert "s += a[i * stride + k];  (reads a)" in text


# ---------------------------------------------------------------- accesses


def test_access_names_array_element_and_sector(trace):
    access = at(trace, 8)[1]
    assert (access.array, access.verb, access.space) == ("a", "reads", "global")
    assert [access.element_name(lane) for lane in (0, 1, 31)] == [
        "a[0, 1]", "a[1, 1]", "a[31, 1]"
    ]  # fmt: skip
    assert access.sectors[:3] == (0, 8, 16)


def test_access_counts_its_sectors(trace):
    assert at(trace, 8)[0].counts == {
        "global_load_requests": 1,
        "global_load_sectors": 32,
    }


def test_shared_access_names_its_banks(trace):
    (access,) = at(trace, 9)
    assert access.banks == (0,) * 32
    assert access.counts["shared_store_wavefronts"] == 32


def test_access_of_inactive_lanes_is_left_out():
    access = at(ck.trace(*row_sums(), 1), 11)[0]
    assert access.lanes == tuple(range(8))


def test_local_arrays_are_named():
    trace = run("int t[40]; for (int k = 0; k < 40; ++k) t[k] = a[k]; "
                "a[threadIdx.x] = t[a[threadIdx.x] % 40];",
                ints(), parameters="int* a")  # fmt: skip
    assert {access.space for _, _, access in trace.accesses()} == {"global", "local"}


# ---------------------------------------------------------------- which warp


def test_block_index_chooses_the_block():
    access = at(ck.trace(*row_sums(), 1), 8)[0]
    assert access.element_name(0) == "a[32, 0]"


def test_warp_chooses_the_warp():
    trace = run("a[threadIdx.x] = 0;", ints(), parameters="int* a", block=64, warp=1)
    (found,) = [access for _, _, access in trace.accesses()]
    assert found.elements == tuple(range(32, 64))


def test_block_index_and_warp_are_taken_by_position():
    launch, grid, block, arguments = row_sums()
    assert ck.trace(launch, grid, block, arguments, 1, 0).block_index == (1, 0, 0)


def test_block_of_a_grid_of_three_dimensions():
    trace = run("a[blockIdx.y] = blockIdx.z;", ints(), parameters="int* a",
                grid=(2, 3, 4), block_index=(1, 2, 3))  # fmt: skip
    (found,) = [access for _, _, access in trace.accesses()]
    assert set(found.elements) == {2}


def test_blocks_before_are_run_where_blocks_talk():
    trace = run("int before = atomicAdd(a, 1); a[1 + threadIdx.x] = before;",
                np.zeros(64, np.int32), parameters="int* a", grid=3,
                block_index=2)  # fmt: skip
    values = [next(iter(s.registers.values())) for s in trace if "atom" in s.ptx]
    assert values[0][0] == 64


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"block_index": 2}, "the grid is"),
        ({"block_index": (0, 1)}, "the grid is"),
        ({"block_index": -1}, "the grid is"),
        ({"block_index": "0"}, "the grid is"),
        ({"warp": 1}, "has 1 warp"),
        ({"warp": True}, "has 1 warp"),
        ({"steps": 2001}, "from 1 to 2,000"),
        ({"steps": 0}, "from 1 to 2,000"),
    ],
)
def test_warp_that_does_not_exist_is_refused(options, message):
    with pytest.raises(ck.ArgumentError, match=message):
        ck.trace(*row_sums(), **options)


def test_arguments_that_are_not_a_tuple_are_refused():
    launch, grid, block, arguments = row_sums()
    with pytest.raises(ck.ArgumentError, match=r"Write ck.trace\(row_sums, 2, 32"):
        ck.trace(launch, grid, block, *arguments)


# ---------------------------------------------------------------- leaving alone


def test_arguments_are_left_unchanged():
    launch, grid, block, arguments = row_sums()
    ck.trace(launch, grid, block, arguments)
    assert not arguments[0].any()


def test_launches_that_are_not_traced_run_the_plain_program():
    launch = row_sums()[0]
    ck.trace(*row_sums())
    program = simulator.simulated_memory().program(launch.module)
    code = program.code(launch.lowered_name)
    assert {type(access) for access in code.accesses} == {Access}


def test_kernel_prints_nothing_while_it_is_traced(capsys):
    run('printf("%d", a[0]);', ints(), parameters="int* a")
    assert capsys.readouterr().out == ""


# ---------------------------------------------------------------- errors


def test_trace_ends_where_the_kernel_fails():
    trace = run("a[threadIdx.x + 40] = 1;", ints(), parameters="int* a")
    assert isinstance(trace.error, ck.OutOfBoundsError)
    (access,) = trace[-1].accesses
    assert access.outside == tuple(range(24, 32))
    assert "stopped by OutOfBoundsError" in repr(trace)


def test_null_pointer_is_an_access_of_no_array():
    trace = run("a[threadIdx.x] = 1;", None, parameters="int* a")
    assert trace[-1].accesses[0].array == ""


# ---------------------------------------------------------------- arithmetic


def explained(trace, lane):
    """(names, numbers) of every access that is explained."""
    found = formulas(trace.steps, trace.parameters)
    return [
        (one.text(), one.numbers(lane))
        for groups in found.values()
        for one in groups
        if one.mask >> lane & 1
    ]


def test_index_is_told_in_the_terms_of_the_source(trace):
    assert explained(trace, 5)[1] == (
        "stride * (blockIdx.x * blockDim.x + threadIdx.x) + 1",
        "64 * (0 * 32 + 5) + 1",
    )


def test_every_access_of_global_and_shared_memory_is_explained(trace):
    assert len(explained(trace, 0)) == N + 3


def test_index_that_the_compiler_keeps_in_bytes_is_told_in_bytes(trace):
    (found,) = [
        one
        for groups in formulas(trace.steps, trace.parameters).values()
        for one in groups
        if one.in_bytes
    ]
    assert found.text() == "(-128 * threadIdx.x - 1) & 3968"


def test_offset_before_a_difference_comes_first():
    trace = run("a[31 - threadIdx.x] = 1;", ints(), parameters="int* a")
    assert explained(trace, 3) == [("31 - threadIdx.x", "31 - 3")]


def test_loaded_index_is_told_as_a_value_of_its_array():
    trace = run("b[a[threadIdx.x]] = 1;", ints(32), ints(),
                parameters="const int* a, int* b")  # fmt: skip
    assert explained(trace, 3)[1] == ("a[...]", "4")


def test_grid_stride_is_a_multiple_of_the_grid():
    trace = run("for (int i = threadIdx.x; i < n; i += gridDim.x * blockDim.x)"
                "\n#pragma unroll 1\n for (int k = 0; k < 1; ++k) a[i] = 1;",
                ints(96), 96, parameters="int* a, int n")  # fmt: skip
    texts = [text for text, _ in explained(trace, 1)]
    assert texts[-1] == "threadIdx.x + 2 * gridDim.x * blockDim.x"


def test_formula_gives_the_index_that_was_used():
    trace = run("unsigned i = threadIdx.x * 0x10000001u; a[i % 32] = 1;",
                ints(), parameters="int* a")  # fmt: skip
    found = formulas(trace.steps, trace.parameters)
    for number, groups in found.items():
        (access,) = trace[number].accesses
        for one in groups:
            values = [eval(one.numbers(lane)) for lane in range(32)]
            assert values == list(access.offsets if one.in_bytes else access.elements)


SUMS = [  # an index, and how it is told
    ("(i & 1) * 12 + (i >> 1) + 3", "12 * (threadIdx.x & 1) + (threadIdx.x >> 1) + 3"),
    ("i % n + 2", "threadIdx.x % n + 2"),
    ("i / n * 3", "3 * (threadIdx.x / n)"),
]


@pytest.mark.parametrize(("index", "told"), SUMS, ids=[one for one, _ in SUMS])
def test_operation_beside_others_is_bracketed_as_c_reads_it(index, told):
    trace = run(f"unsigned i = threadIdx.x; a[{index}] = 1;", ints(64), 2,
                parameters="int* a, unsigned n")  # fmt: skip
    texts = [text for text, _ in explained(trace, 0)]
    assert texts == [told]
    (access,) = next(step for step in trace if step.accesses).accesses
    numbers = [explained(trace, lane)[0][1].replace("/", "//") for lane in range(32)]
    assert [eval(one) for one in numbers] == list(access.elements)


# ---------------------------------------------------------------- memory_access


def test_figure_shows_the_dearest_access(trace):
    chart = ck.plot.memory_access(trace)
    assert chart.alt.startswith("32 lanes read a: 32 sectors.")


def test_figure_of_a_shared_access_tells_the_busiest_bank(trace):
    chart = ck.plot.memory_access(trace, line=9)
    assert "busiest bank is asked for 32 of its words" in chart.alt
    assert chart.rows[1] == (1, "tile[32]", 0)


def test_figure_names_the_gpu_that_was_simulated(trace):
    chart = ck.plot.memory_access(trace)
    assert chart.get_supxlabel().endswith("; simulated H200")


def test_figure_says_where_there_are_accesses(trace):
    with pytest.raises(ck.ArgumentError, match="Lines with accesses are: 8, 9, 11"):
        ck.plot.memory_access(trace, line=5)


def test_figure_is_drawn_with_alt_text_and_table(trace):
    html = ck.plot.memory_access(trace)._repr_mimebundle_()["text/html"]
    assert 'alt="32 lanes read a' in html
    assert '<th scope="col">sector</th>' in html
