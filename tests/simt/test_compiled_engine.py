"""Compiled code: when it runs, when it gives way, and that nobody can tell."""

from __future__ import annotations

import dataclasses
import re
import time
import types

import numpy as np
import pytest

import coursekit as ck
from coursekit import errors
from coursekit.simt.compiled import engine as choice
from coursekit.simt.compiled import machine
from coursekit.simt.compiled.fast import FastTier
from coursekit.simt.compiled.general import GeneralTier
from coursekit.simt.interpreter.program import load
from coursekit.simt.memory.memory import Memory, storage
from coursekit.simt.run import engines, limits
from coursekit.simt.run.launch import launch
from coursekit.toolchain.cache import Cache, _header

SCALE = """
extern "C" __global__ void scale(float* x, int n, int reach) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i + reach] *= 2.0f;
}
"""


@pytest.fixture
def compiled(monkeypatch):
    """No launch is tried in the interpreter first."""
    monkeypatch.setattr(engines, "TRIAL_BYTES", -1)


def program_of(source):
    """Return the program of a source, with memory of its own."""
    return load(ck.compile(source).ptx, Memory())


def run(source, name, grid, block, arrays, numbers=(), **options):
    """Run a kernel on arrays of float32; returns the result and the arrays."""
    memory = Memory()
    program = load(ck.compile(source).ptx, memory)
    regions = []
    for array in arrays:
        data = storage(array.nbytes)
        data[:] = array.view(np.uint8).ravel()
        regions.append(memory.allocate(array.nbytes, name="x", data=data))
    params = np.array([r.address for r in regions], np.uint64).tobytes()
    params += np.array(numbers, np.int32).tobytes()
    result = error = None
    try:
        result = launch(
            program, name, (grid, 1, 1), (block, 1, 1), params, counters=True, **options
        )
    except errors.KernelError as raised:
        error = raised
    return result, error, [r.data.view(np.float32).copy() for r in regions]


def test_a_fault_in_a_late_block_reads_as_in_the_interpreter():
    x = np.ones(4096, np.float32)
    given = SCALE, "scale", 17, 256, [x], (4352, 0)
    _, expected, before = run(*given, engine="interpreter")
    _, found, after = run(*given, engine="compiled")
    assert isinstance(found, errors.OutOfBoundsError)
    assert str(found) == str(expected)
    np.testing.assert_array_equal(after[0], before[0], strict=True)


def test_what_runs_is_said():
    x = np.ones(64, np.float32)
    assert run(SCALE, "scale", 1, 64, [x], (64, 0), engine="compiled")[0].engine == (
        "compiled"
    )
    assert run(SCALE, "scale", 1, 64, [x], (64, 0), engine="interpreter")[0].engine == (
        "interpreter"
    )


def test_a_kernel_that_is_not_compiled_says_so_in_its_counters(compiled, capsys):
    source = """
    extern "C" __global__ void speak(float* x) { printf("%f\\n", x[threadIdx.x]); }
    """
    kernel = ck.compile(source).speak
    counters = ck.count(kernel, 1, 1, (np.ones(1, np.float32),))
    assert "interpreted: calls of functions" in repr(counters)
    assert "interpreted: calls of functions" in counters._repr_html_()


def test_a_short_launch_needs_no_compiling(monkeypatch):
    monkeypatch.setattr(machine, "compile_text", None)
    source = SCALE.replace("2.0f", "3.0f")  # nobody else has compiled this one
    x = np.ones(64, np.float32)
    result, _, (after,) = run(source, "scale", 1, 64, [x], (64, 0))
    assert result.engine == "interpreter"
    assert (after == 3).all()


@pytest.mark.parametrize("large_ones", [False, True])
def test_only_what_a_short_launch_writes_decides_whether_it_is_compiled(large_ones):
    source = """
    extern "C" __global__ void add(float* x, float* large, int writes) {
        int i = threadIdx.x;
        x[i] += large[i] + 1.0f;
        if (writes) large[i] += 1.0f;
    }
    """
    x, large = np.zeros(32, np.float32), np.zeros(engines.TRIAL_BYTES, np.float32)
    result, _, found = run(source, "add", 1, 32, [x, large], (large_ones,))
    assert result.engine == ("compiled" if large_ones else "interpreter")
    assert [set(array[:32]) for array in found] == [{1.0}, {float(large_ones)}]


def test_a_long_launch_begins_anew_in_compiled_code():
    source = """
    extern "C" __global__ void count(float* x, int n) {
        x[threadIdx.x] += 1.0f;
        for (int i = 0; i < n; i++) x[threadIdx.x] = x[threadIdx.x] * 0.5f + 1.0f;
    }
    """
    x = np.zeros(32, np.float32)
    result, _, (after,) = run(source, "count", 1, 32, [x], (200_000,))
    assert result.engine == "compiled"
    assert (after == 2).all()


def test_a_launch_of_many_short_blocks_is_long():
    x = np.ones(64 * 5000, np.float32)  # a second and more in the interpreter
    result, _, (after,) = run(SCALE, "scale", 5000, 64, [x], (x.size, 0))
    assert result.engine == "compiled"
    assert (after == 2).all()


@pytest.mark.parametrize(
    ("worth", "engine", "most"), [(2000, "interpreter", 100), (1000, "compiled", 30)]
)
def test_blocks_that_are_done_tell_how_long_a_launch_takes(
    worth, engine, most, monkeypatch
):
    looks = []
    monkeypatch.setattr(
        limits.Trial, "check",
        lambda *given, check=limits.Trial.check: looks.append(given) or check(*given),
    )  # fmt: skip
    monkeypatch.setattr(engines, "TRIALS_WORK", worth)
    monkeypatch.setattr(engines, "WORK_EACH", 0)
    monkeypatch.setattr(limits, "GLANCE_WORK", 200)
    x = np.ones(32 * 100, np.float32)  # a warp executes 15 instructions or so
    result, _, _ = run(SCALE, "scale", 100, 32, [x], (x.size, 0))
    assert (result.engine, len(looks) <= most) == (engine, True)


def test_a_short_launch_is_compiled_when_it_comes_often(monkeypatch):
    monkeypatch.setattr(engines, "TRIALS_WORK", 10_000)
    monkeypatch.setattr(engines, "WORK_EACH", 0)
    memory = Memory()
    program = load(ck.compile(SCALE.replace("2.0f", "2.5f")).ptx, memory)
    region = memory.allocate(256, name="x", data=storage(256))
    params = np.uint64(region.address).tobytes() + np.array([64, 0], "i4").tobytes()
    used = [
        launch(program, "scale", (4, 1, 1), (64, 1, 1), params).engine
        for _ in range(200)  # each executes a hundred instructions and more
    ]
    assert (used[0], used[-1]) == ("interpreter", "compiled")


@pytest.mark.parametrize("engine", ["compiled", "general"])
def test_compiling_is_no_part_of_the_time_of_a_launch(engine, monkeypatch):
    source = """
    extern "C" __global__ void wait(float* x, int n) {
        for (int i = 0; i < n; i++) x[threadIdx.x] = x[threadIdx.x] * 0.5f + 1.0f;
    }
    """
    seconds, compile_text = [0.0], machine.compile_text

    def slowly(*given):
        seconds[0] += 100
        return compile_text(*given)

    clock = types.SimpleNamespace(thread_time=lambda: seconds[0])
    monkeypatch.setattr("coursekit.simt.run.launch.time", clock)
    monkeypatch.setattr(machine, "compile_text", slowly)
    x = np.zeros(32, np.float32)
    result, error, _ = run(source, "wait", 1, 32, [x], (200_000,), engine=engine)
    assert (error, result.engine) == (None, "compiled")


@pytest.mark.parametrize("engine", ["interpreter", "compiled"])
def test_an_endless_loop_names_thread_and_line(engine):
    source = """extern "C" __global__ void spin(float* x) {
    while (x[threadIdx.x] >= 0.0f)
        x[threadIdx.x] += 1.0f;
}
"""
    _, error, _ = run(
        source, "spin", 3, 32, [np.ones(32, np.float32)], timeout_s=0.3, engine=engine
    )
    assert isinstance(error, errors.DeadlockError)
    assert re.search(r"thread \(\d+, 0, 0\) of block \(0, 0, 0\)", str(error))
    assert re.search(r"kernel\.cu:[23]", str(error))


def test_code_that_cannot_be_made_in_mid_launch_is_interpreted(monkeypatch):
    source = """
    extern "C" __global__ void part(float* x) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        x[i] += 1.0f;
        if (blockIdx.x != 2 || x[i] <= 16.0f) return;
        x[i] *= 3.0f;
        __syncwarp(__activemask());
    }
    """

    def refuse(tier):
        raise errors.UnsupportedError("an instruction of tomorrow")

    given = source, "part", 4, 32, [np.arange(128, dtype=np.float32) % 32]
    expected, _, (before,) = run(*given, engine="interpreter")
    monkeypatch.setattr(GeneralTier, "module", refuse)
    result, _, (after,) = run(*given, engine="compiled")
    assert "an instruction of tomorrow" in result.note
    np.testing.assert_array_equal(after, before, strict=True)
    assert dataclasses.replace(result.counters, note="") == expected.counters


def test_words_put_together_are_the_same_in_all_lanes():
    source = """
    extern "C" __global__ void words(float* x, int n) {
        unsigned long long both = 0, low = n, high = n + 1;
        for (int i = 0; i < n; i++) {
            asm volatile("mov.b64 %0, {%1, %2};" : "=l"(both)
                         : "r"((unsigned)low), "r"((unsigned)high));
            asm volatile("{ .reg .b32 t; mov.b64 {%0, t}, %2; mov.b32 %1, t; }"
                         : "=r"(*(unsigned*)&high), "=r"(*(unsigned*)&low) : "l"(both));
        }
        x[threadIdx.x] = (float)(both >> 32) * 100.0f + (float)(unsigned)both;
    }
    """
    given = source, "words", 1, 32, [np.zeros(32, np.float32)], (5,)
    _, _, (expected,) = run(*given, engine="interpreter")
    for engine in ("compiled", "general"):
        result, _, (found,) = run(*given, engine=engine)
        assert result.engine == "compiled"
        np.testing.assert_array_equal(found, expected, strict=True)


@pytest.fixture
def kept(tmp_path):
    """Return a cache, and how a launch runs with it."""
    store = Cache(tmp_path / "cache")

    def launch():
        options = {"engine": "compiled", "cache": lambda: store}
        x = np.ones(64, np.float32)
        return run(SCALE, "scale", 1, 64, [x], (64, 0), **options)[2][0]

    launch()
    return store, launch


def entries(store):
    return [path for path in store.folder.rglob("*") if path.is_file()]


def test_machine_code_of_an_earlier_session_is_used(kept, monkeypatch):
    monkeypatch.setattr(machine, "compile_text", None)
    assert (kept[1]() == 2).all()


def test_a_spoiled_cache_is_made_anew(kept):
    store, launch = kept
    for path in entries(store):
        path.write_bytes(b"not machine code")
    assert (launch() == 2).all()


FORGED = ["[]", "null", "3", "{}", '{"object": "AA=="}', "[" * 100_000]


@pytest.mark.parametrize("content", FORGED, ids=lambda text: text[:20])
def test_machine_code_without_its_notes_is_made_anew(kept, content):
    store, launch = kept
    for path in entries(store):
        payload = content.encode()
        path.write_bytes(_header(path.stem, payload) + payload)
    assert (launch() == 2).all()


def test_machine_code_that_others_could_write_is_not_loaded(kept, monkeypatch):
    store, launch = kept
    for path in entries(store):
        path.chmod(0o666)
    made = []
    compile_text = machine.compile_text
    monkeypatch.setattr(
        machine, "compile_text", lambda *a: made.append(a) or compile_text(*a)
    )
    assert (launch() == 2).all()
    assert made


def test_folder_of_machine_code_is_closed_to_other_users(kept):
    store, _ = kept
    modes = {path.stat().st_mode & 0o777 for path in store.folder.rglob("*")}
    assert (store.folder.stat().st_mode & 0o777, modes) == (0o700, {0o700, 0o600})


def test_a_lock_is_left_to_the_interpreter():
    source = """
    extern "C" __global__ void add(float* x, int* lock) {
        while (atomicCAS(lock, 0, 1)) ;
        __threadfence();
        x[0] += 1.0f;
        __threadfence();
        atomicExch(lock, 0);
    }
    """
    x, lock = np.zeros(1, np.float32), np.zeros(1, np.float32)
    _, _, (after, _) = run(source, "add", 2, 4, [x, lock], engine="compiled")
    assert after[0] == 8


def test_progress_is_told_of_a_long_launch():
    told = []
    x = np.ones(1 << 20, np.float32)
    run(
        SCALE, "scale", 4096, 256, [x], (1 << 20, 0), engine="compiled",
        progress=lambda done, blocks: told.append((done, blocks)),
    )  # fmt: skip
    assert told
    assert all(0 <= done < blocks == 4096 for done, blocks in told)


@pytest.mark.parametrize("order", ["forward", "reverse", 3, [3, 1]])
def test_a_race_shows_alike_in_every_order(order):
    source = """
    extern "C" __global__ void last(float* x) {
        __shared__ float who;
        who = threadIdx.x / 32;
        if (threadIdx.x / 32 == 1) who += 10.0f;
        __syncthreads();
        x[threadIdx.x] = who;
    }
    """
    given = source, "last", 1, 128, [np.zeros(128, np.float32)]
    _, _, (expected,) = run(*given, engine="interpreter", order=order)
    _, _, (found,) = run(*given, engine="compiled", order=order)
    np.testing.assert_array_equal(found, expected, strict=True)


@pytest.mark.parametrize("tier", [FastTier, GeneralTier])
def test_parts_of_a_tier_do_not_share_names(tier):
    owners: dict[str, list[str]] = {}
    for part in tier.__mro__[2:-1]:
        for name in vars(part):
            if not name.startswith("__") and callable(getattr(part, name)):
                owners.setdefault(name, []).append(part.__name__)
    assert {n: o for n, o in owners.items() if len(o) > 1} == {}


def test_interrupting_compiled_code_is_prompt(compiled):
    source = """
    extern "C" __global__ void spin(float* x) { while (x[0] >= 0.0f) x[0] += 1.0f; }
    """
    stopped = []

    def interrupt(done, blocks):
        stopped.append(time.monotonic())
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(
            source, "spin", 1, 32, [np.ones(1, np.float32)], engine="compiled",
            progress=interrupt,
        )  # fmt: skip
    assert len(stopped) == 1


UNROLLED = """
extern "C" __global__ void unrolled(float* x) {
    float v = x[threadIdx.x];
    #pragma unroll
    for (int i = 0; i < 64; i++) v = sinf(v + i);
    x[threadIdx.x] = v;
}
"""
ONE_ROW = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry row(.param .u64 p) {
    .reg .f32 %f<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [p];
    ld.global.f32 %f1, [%rd1];
    STEPS
    st.global.f32 [%rd1], %f1;
    ret;
}
"""
LONG = """
extern "C" __global__ void long_one(float* x) {
    float v = x[threadIdx.x];
    SUMS
    x[threadIdx.x] = v;
}
""".replace("SUMS", " ".join(f"v = v * {i + 1}.5f + x[{i % 7}];" for i in range(40)))


def test_kernel_that_is_too_long_to_compile_is_interpreted(monkeypatch):
    monkeypatch.setattr(choice, "MOST_INSTRUCTIONS", 50)
    x = np.zeros(32, np.float32)
    result, _, _ = run(LONG, "long_one", 1, 32, [x], engine="compiled")
    assert result.engine == "interpreter"
    assert "too many to compile" in result.note


@pytest.mark.parametrize(("worth", "said"), [(50, 1), (100_000, 0)])
def test_launch_of_a_long_kernel_says_that_it_compiles(monkeypatch, worth, said):
    monkeypatch.setattr(choice, "WORTH_A_WORD", worth)
    told = []
    x = np.zeros(32, np.float32)
    run(LONG, "long_one", 1, 32, [x], engine="compiled", notice=told.append)
    instructions = program_of(LONG).kernel("long_one").instructions
    assert told == [len(instructions)] * said


@pytest.mark.parametrize(
    ("limit", "level"), [("MOST_OPTIMIZED", 0), ("MOST_OPTIMIZED_IN_A_ROW", 0), ("", 2)]
)
def test_kernel_that_is_long_is_compiled_without_optimizing(monkeypatch, limit, level):
    if limit:
        monkeypatch.setattr(choice, limit, 50)
    levels, compile_text = [], machine.compile_text
    monkeypatch.setattr(
        machine, "compile_text", lambda *a: levels.append(a[1]) or compile_text(*a)
    )
    machine.runtime_address("ck_run")  # compiled once for all kernels
    x = np.ones(32, np.float32)
    result, _, found = run(LONG, "long_one", 1, 32, [x], engine="compiled")
    _, _, expected = run(LONG, "long_one", 1, 32, [x], engine="interpreter")
    assert (result.engine, levels) == ("compiled", [level])
    np.testing.assert_array_equal(found[0], expected[0], strict=True)


def test_kernel_of_64_sines_is_compiled_without_optimizing():
    """LLVM's optimizations of it take 17 s."""
    code = program_of(UNROLLED).code("unrolled")
    assert not choice.is_optimized(code)


def test_kernel_of_7000_instructions_in_a_row_is_compiled():
    steps = "add.f32 %f1, %f1, 0f3F800000;\n" * 7_000
    memory = Memory()
    program = load(ONE_ROW.replace("STEPS", steps), memory)
    x = memory.allocate(4, name="x")
    x.data[:] = 0
    given = (1, 1, 1), (32, 1, 1), x.address.to_bytes(8, "little")
    assert launch(program, "row", *given, engine="compiled").engine == "compiled"
    assert x.data.view("f4") == 7_000
