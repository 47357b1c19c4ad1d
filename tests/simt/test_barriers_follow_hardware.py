"""Barriers that not all threads reach: what a GPU does, and the simulator does, too.

The answers are those of an NVIDIA H100 (driver 580, nvcc 13.0, 2026-11-25): one block
of 256 threads, each kernel in a process of its own. None means that the kernel did not
end within a second.
"""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
import pytest

import coursekit as ck
from coursekit import errors
from coursekit.simt.interpreter.program import load
from coursekit.simt.memory.memory import Memory, storage
from coursekit.simt.run.launch import launch

ALL = "__syncthreads();"
BACKWARDS = "o[t] = s[n - 1 - t];"
RETURN = "if (t >= n) return; s[t] = x[t];"
TREE = f"""{RETURN} {ALL}
for (int half = 128; half; half /= 2) {{
    if (t < half && t + half < n) s[t] += s[t + half];
    {ALL}
}}
if (!t) *o = s[0];"""
IN_BRANCH = f"""s[t] = x[t]; {ALL}
for (int half = 128; half > 0; half /= 2)
    if (t < half) {{ s[t] += s[t + half]; {ALL} }}
if (!t) *o = s[0];"""
TRIPS = f"for (int i = 0; i < {{}}; i++) {ALL} o[t] = t;"
STRIDE = f"""for (int i = t; i < n; i += 256) {{
    s[t] = x[i]; {ALL} o[t] += s[(t + 1) % 256]; {ALL}
}}"""
BOTH = f"""if (WHICH) {{ s[t] = x[t]; {ALL} }}
else {{ s[t] = 2 * x[t]; {ALL} }}
o[t] = s[255 - t];"""
SPIN = f"if (t < n) {{ s[t] = x[t]; {ALL} *flag = 1; }} else while (!*flag);"
# The body, n, and the hash of the 512 results.
CASES = {
    "return at 200": (f"{RETURN} {ALL} {BACKWARDS}", 200, 908847004),
    "return at 128": (f"{RETURN} {ALL} {BACKWARDS}", 128, 737181632),
    "return at 33": (f"{RETURN} {ALL} {BACKWARDS}", 33, 843143631),
    "return at 1": (f"{RETURN} {ALL} {BACKWARDS}", 1, 4202413023),
    "sum, return at 200": (TREE, 200, 3674919164),
    "sum, return at 128": (TREE, 128, 376100800),
    "sum, return at 33": (TREE, 33, 3911627695),
    "sum, return at 1": (TREE, 1, 4202413023),
    "return of odd lanes": (
        f"if (t % 2) return; s[t] = x[t]; {ALL} o[t] = s[254 - t];", 256, 3880390656,
    ),
    "barrier 2, return at 128": (f"{RETURN} B(2); {BACKWARDS}", 128, 737181632),
    "barrier 2, return at 33": (f"{RETURN} B(2); {BACKWARDS}", 33, 843143631),
    "count 256, 250 come": (f"{RETURN} B(2, 256); {BACKWARDS}", 250, 2027768707),
    "count 256, 128 come": (f"{RETURN} B(2, 256); {BACKWARDS}", 128, None),
    "count 128, 128 come": (f"{RETURN} B(2, 128); {BACKWARDS}", 128, 737181632),
    "count 128, 100 come": (f"{RETURN} B(2, 128); {BACKWARDS}", 100, 4215040974),
    "count 128, 97 come": (f"{RETURN} B(2, 128); {BACKWARDS}", 97, 1296078255),
    "syncwarp of the lanes left": (
        "if (t % 32 >= 20) return; s[t] = x[t]; __syncwarp(); o[t] = s[t ^ 1];",
        256, 2133024688,
    ),
    "syncwarp with a mask": (
        "if (t % 32 < 16) { s[t] = x[t]; __syncwarp(0xffff); o[t] = s[t ^ 1]; }",
        256, 261521344,
    ),
    "syncwarp in a branch": (
        "if (t % 32 < 16) { s[t] = x[t]; __syncwarp(); o[t] = s[t ^ 1]; }"
        " else o[t] = 7; o[t + 256] = o[t ^ 1];", 256, 571537408,
    ),
    "others leave": (
        f"if (t < n) {{ s[t] = x[t]; {ALL} {BACKWARDS} }} else return;", 33, 843143631,
    ),
    "whole warps skip": (
        f"if (t < n) {{ s[t] = x[t]; {ALL} {BACKWARDS} }} o[t + 256] = x[t];",
        128, 1892782144,
    ),
    "lanes skip": (
        f"if (t < n) {{ s[t] = x[t]; {ALL} {BACKWARDS} }} o[t + 256] = x[t];",
        33, 1998744143,
    ),
    "odd lanes only": (
        f"if (t & 1) {{ s[t] = x[t]; {ALL} o[t] = s[256 - t]; }} o[t + 256] = x[t];",
        256, 2320765184,
    ),
    "sum, barrier in its branch": (IN_BRANCH, 256, 466448256),
    "both sides, whole warps": (BOTH.replace("WHICH", "t < 128"), 256, 1821736768),
    "both sides, lanes": (BOTH.replace("WHICH", "t < 33"), 256, 3344990959),
    "both sides, odd lanes": (BOTH.replace("WHICH", "t & 1"), 256, 1733619584),
    "two barriers, and one": (
        f"if (t < 128) {{ {ALL} {ALL} }} else {{ {ALL} }} o[t] = 1;", 256, 3353481216,
    ),
    "as many as the lane": (TRIPS.format("t % 32"), 256, None),
    "as many as the warp": (TRIPS.format("t / 32"), 256, 2045706368),
    "as many as the thread": (TRIPS.format("t"), 256, None),
    "as many as 40 threads": (TRIPS.format("t / 40 + 1"), 256, None),
    "for each thread": (
        'for (int i = 0; i < t % 32; i++) asm volatile("barrier.sync 0;"); o[t] = t;',
        256, 2045706368,
    ),
    "44 threads twice": (STRIDE, 300, 4045936918),
    "64 threads twice": (STRIDE, 320, 131131040),
    "all threads twice": (STRIDE, 512, 4189470464),
    "half of the block spins": (SPIN, 128, None),
    "all but 33 spin": (SPIN, 33, None),
    "flag behind the barrier": (
        f"if (!t) while (!*flag); {ALL} if (t == 1) *flag = 1;", 256, None,
    ),
    "barriers 1 and 2": ("if (t < 128) B(1); else B(2); o[t] = 1;", 256, None),
    "barriers 1 and 2 of 128": (
        "if (t < 128) B(1, 128); else B(2, 128); o[t] = 1;", 256, 3353481216,
    ),
}  # fmt: skip
ENDS = [name for name, case in CASES.items() if case[2] is not None]
HANGS = [name for name, case in CASES.items() if case[2] is None]
ENGINES = ("interpreter", "compiled", "general")
# Launches that compiled code runs to the end.
COMPILED = [
    name
    for name in ENDS
    if name.startswith(("return", "sum, return", "as many", "two", "all threads"))
]
KERNEL = """
#define B(...) asm volatile("bar.sync " #__VA_ARGS__ ";" ::: "memory")
extern "C" __global__ void k(int *x, int *o, int n)
{
    __shared__ int s[512];
    volatile int *flag = x + 1024;
    int t = threadIdx.x;
    BODY
}
"""


@functools.cache
def compiled(body: str):
    return ck.compile(KERNEL.replace("BODY", body))


def values() -> np.ndarray:
    return np.pad(np.arange(1, 1025, dtype=np.int32), (0, 1024))


def run(name: str, engine: str, order=None):
    """Return the result of a launch, and what it leaves in `o`."""
    body, n, _ = CASES[name]
    memory = Memory()
    program = load(compiled(body).ptx, memory)
    regions = []
    for array in values(), np.zeros(512, np.int32):
        data = storage(array.nbytes)
        data[:] = array.view(np.uint8)
        regions.append(memory.allocate(array.nbytes, name="x", data=data))
    params = np.array([r.address for r in regions], np.uint64).tobytes()
    params += np.int32(n).tobytes()
    options = {} if order is None else {"order": order}
    result = launch(
        program, "k", (1, 1, 1), (256, 1, 1), params, counters=True, engine=engine,
        **options,
    )  # fmt: skip
    return result, regions[1].data.view(np.int32).tolist()


def hashed(numbers: list[int]) -> int:
    return functools.reduce(lambda h, v: (31 * h + v) % 2**32, numbers, 0)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", ENDS)
def test_kernel_ends_with_the_results_of_a_gpu(name, engine):
    assert hashed(run(name, engine)[1]) == CASES[name][2]


@pytest.mark.parametrize("order", ["reverse", 3])
@pytest.mark.parametrize("name", ENDS)
def test_kernel_ends_in_any_order_of_the_warps(name, order):
    assert hashed(run(name, "interpreter", order)[1]) == CASES[name][2]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", HANGS)
def test_kernel_that_hangs_on_a_gpu_is_an_error(name, engine):
    with pytest.raises(
        (errors.BarrierError, errors.DeadlockError), match=r"A GPU|a GPU"
    ):
        run(name, engine)


@pytest.mark.parametrize("name", COMPILED)
def test_compiled_code_excuses_exited_threads(name):
    assert run(name, "compiled")[0].engine == "compiled"


@pytest.mark.parametrize("name", ENDS)
def test_both_engines_count_the_same(name):
    interpreted, fast = (run(name, engine)[0].counters for engine in ENGINES[:2])
    assert interpreted == dataclasses.replace(fast, note=interpreted.note)


LEVELS = {
    "return at 33": ["note"],
    "return of odd lanes": ["note"],
    "barrier 2, return at 128": ["note"],
    "others leave": ["note"],
    "64 threads twice": ["note"],
    "whole warps skip": ["note"],
    "lanes skip": ["error", "note"],
    "all threads twice": [],
    "both sides, whole warps": ["warning"],
    "both sides, lanes": ["error", "warning"],
    "odd lanes only": ["error", "note"],
    "syncwarp in a branch": ["error", "note"],
    "half of the block spins": ["error"],
    "count 256, 128 come": ["error"],
    "as many as the lane": ["error"],
}


def checked(name: str, **options) -> ck.simt.Findings:
    body, n, _ = CASES[name]
    arguments = values(), np.zeros(512, np.int32), n
    with ck.simulator():
        return ck.synccheck(compiled(body)["k"], 1, 256, arguments, **options)


@pytest.mark.parametrize("name", LEVELS)
def test_synccheck_ranks_what_it_finds(name):
    found = checked(name)
    assert sorted({one.level for one in (*found, *found.notes)}) == LEVELS[name]


@pytest.mark.parametrize("name", ["return at 33", "both sides, whole warps"])
def test_notes_and_warnings_are_not_raised(name):
    assert checked(name, raise_=True).kernel == "k"


@pytest.mark.parametrize("name", ["odd lanes only", "half of the block spins"])
def test_errors_are_raised(name):
    with pytest.raises(ck.BarrierError):
        checked(name, raise_=True)


def test_early_return_is_said_to_be_excused():
    (note,) = checked("return at 33").notes
    assert "without thread (33, 0, 0), which has left the kernel" in note.message
    assert "waits only for threads that have not exited" in note.message


def test_spinning_thread_is_named_with_its_line():
    with pytest.raises(errors.BarrierError) as caught:
        run("half of the block spins", "interpreter")
    assert caught.value.thread == (0, 0, 0)
    assert "thread (128, 0, 0) runs for ever in a loop elsewhere" in str(caught.value)
    assert "a GPU waits for ever, too" in str(caught.value)


def test_loop_is_blamed_where_its_thread_would_come_to_the_barrier():
    with pytest.raises(errors.DeadlockError, match=r"thread \(0, 0, 0\).*for ever"):
        run("flag behind the barrier", "interpreter")


def test_count_that_includes_exited_threads_says_so():
    with pytest.raises(errors.BarrierError, match="until 256 threads have come") as e:
        run("count 256, 128 come", "compiled")
    assert "thread (128, 0, 0) has left the kernel" in str(e.value)
    assert "does not excuse those that have exited" in str(e.value)


REFUSED = {
    "16": "its number is 16", "-1": "its number is -1", "1000": "its number is 1000",
    "1, 33": "its count is 33", "1, 0": "its count is 0", "1, -32": "its count is -32",
}  # fmt: skip


def barrier(operands: str) -> str:
    return f'__global__ void k() {{\n  asm volatile("bar.sync {operands};");\n}}'


@pytest.mark.parametrize("operands", REFUSED)
def test_barrier_that_the_assembler_refuses_is_a_compile_error(operands):
    kernel = ck.compile(barrier(operands))["k"]
    with ck.simulator(), pytest.raises(ck.CompileError) as caught:
        kernel[1, 64]()
    assert REFUSED[operands] in str(caught.value)
    assert (caught.value.file, caught.value.line) == ("kernel.cu", 2)


def test_arrival_without_a_count_is_a_compile_error():
    kernel = ck.compile(barrier("1").replace("bar.sync", "bar.arrive"))["k"]
    with ck.simulator(), pytest.raises(ck.CompileError, match="it has no count"):
        kernel[1, 64]()


@pytest.mark.parametrize("operands", ["15", "1, 64", "0"])
def test_barrier_that_exists_is_run(operands):
    with ck.simulator():
        ck.compile(barrier(operands))["k"][1, 64]()


GIVEN = {"%0": (16, 64), "%0, 64": (-1, 64), "1, %1": (0, 33), "2, %1": (0, 0)}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("operands", GIVEN)
def test_computed_barrier_that_does_not_exist_is_an_error(operands, engine):
    source = f"""extern "C" __global__ void k(int name, int count) {{
      asm volatile("{{.reg .u32 unused; mov.u32 unused, %1; bar.sync {operands};}}"
                   :: "r"(name), "r"(count));
    }}"""
    program = load(ck.compile(source).ptx, Memory())
    params = np.array(GIVEN[operands], np.int32).tobytes()
    with pytest.raises(errors.BarrierError, match="barrier that does not exist"):
        launch(program, "k", (1, 1, 1), (64, 1, 1), params, engine=engine)
