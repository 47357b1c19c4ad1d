"""Sources that take NVRTC too long are compiled in a process with limits."""

from __future__ import annotations

import os
import signal

import pytest

from coursekit.errors import CompileError, LaunchError
from coursekit.runtime.compiler import compile
from coursekit.toolchain import nvrtc, nvrtc_apart, nvrtc_watch, sources
from coursekit.toolchain.sources import find

FLAGS = ["-arch=compute_90"]


def chosen(count: int) -> str:
    """Return a kernel with a chain of `count` conditional expressions."""
    chain = "".join(f"a == {i} ? {7 * i} : " for i in range(count))
    return f"__global__ void k(int* x, int a) {{ *x = {chain} 0; }}\n"


def doubled(count: int) -> str:
    """Return a kernel whose macros stand for 2 to the power of `count` statements."""
    macros = [f"#define A{i + 1} A{i} A{i}\n" for i in range(count)]
    return (
        f"#define A0 x[0] += 1;\n{''.join(macros)}"
        f"__global__ void k(int* x) {{ A{count} }}\n"
    )


def called(count: int) -> str:
    """Return a kernel with functions that each call the one above twice."""
    functions = [
        f"__device__ float f{i + 1}(float x) {{ return f{i}(x) + f{i}(2 * x); }}\n"
        for i in range(count)
    ]
    return (
        f"__device__ float f0(float x) {{ return sinf(x); }}\n{''.join(functions)}"
        f"__global__ void k(float* x) {{ *x = f{count}(*x); }}\n"
    )


TREE = """
template<int N, int M> struct Tree {
    static const long v = Tree<N - 1, 2 * M>::v + Tree<N - 1, 2 * M + 1>::v;
};
template<int M> struct Tree<0, M> { static const long v = M; };
__global__ void k(long* x) { *x = Tree<24, 1>::v; }
"""
PACK = """
template<int N, class... T> __device__ int sum(T... t) {
    if constexpr (N == 0) return (t + ... + 0);
    else return sum<N - 1>(t..., t...);
}
__global__ void k(int* x) { *x = sum<16>(1); }
"""
ARRAY = "__device__ float a[1 << 28] = {1};\n__global__ void k(float* x) { *x = a[5]; }"
HARD = {
    "choices": chosen(5000),
    "macros": doubled(25),
    "macros with arguments": "#define A(x) x x x x x x x x\n"
    "#define B(x) A(A(A(A(A(A(A(A(x))))))))\n"
    "__global__ void k(int* x) { B(x[0] += 1;) }",
    "functions": called(20),
    "templates": TREE,
    "packs of templates": PACK,
    "array with values": ARRAY,
    "brackets": f"__global__ void k(int* x) {{ *x = {'(' * 300}1{')' * 300}; }}",
    "length": "// " + "x" * 40_000 + "\n__global__ void k() {}",
    "include by a macro": '#define F "f.h"\n#include F\n__global__ void k() {}',
}


@pytest.mark.parametrize("what", HARD)
def test_source_that_may_take_long_is_compiled_apart(what):
    assert nvrtc_apart.is_needed(HARD[what])


def test_ordinary_source_is_compiled_here():
    assert not nvrtc_apart.is_needed(chosen(5))


@pytest.mark.parametrize("what", ["choices", "macros", "templates"])
def test_compiler_that_takes_too_long_is_stopped(what, monkeypatch):
    monkeypatch.setattr(nvrtc_apart, "SECONDS", 1)
    with pytest.raises(CompileError, match="took more than 1 s, and was stopped"):
        nvrtc.compile_program(HARD[what], "k.cu", FLAGS)


def test_compiler_that_takes_too_much_memory_is_stopped(monkeypatch):
    monkeypatch.setattr(nvrtc_apart, "MEMORY_BYTES", 1 << 20)
    with pytest.raises(CompileError, match="or it crashed"):
        nvrtc.compile_program(HARD["length"], "k.cu", FLAGS)


def test_array_that_the_compiler_writes_down_does_not_end_this_process(monkeypatch):
    monkeypatch.setattr(nvrtc_apart, "MEMORY_BYTES", 1 << 28)
    with pytest.raises(CompileError, match="needs more than 256 MiB, or it crashed"):
        nvrtc.compile_program(ARRAY, "k.cu", FLAGS)


@pytest.mark.parametrize(
    ("limit", "words"),
    [("SECONDS", "took more than 120 s, and was stopped"),
     ("MEMORY_BYTES", "needs more than 8,192 MiB")],
)  # fmt: skip
def test_unrolled_loop_that_takes_too_long_is_stopped_here(monkeypatch, limit, words):
    source = (
        "__global__ void k(float* x) {\n#pragma unroll 1000\n"
        "for (int i = 0; i < 1000; i++) *x = sinf(*x + i); }"
    )
    assert not nvrtc_apart.is_needed(source)
    monkeypatch.setattr(nvrtc_watch, limit, -1)
    with pytest.raises(CompileError, match=words):
        nvrtc.compile_program(source, "k.cu", FLAGS)


@pytest.mark.parametrize(("seconds", "least", "most"), [(0, 100, 10**6), (3600, 1, 1)])
def test_time_and_memory_are_looked_at_now_and_then(monkeypatch, seconds, least, most):
    """A look at each of thousands of questions took half the time of a compilation."""
    monkeypatch.setattr(nvrtc_watch, "LOOK_SECONDS", seconds)
    told = []
    with nvrtc_watch.telling(lambda: told.append(1)):
        nvrtc.compile_program(chosen(5), "k.cu", FLAGS)
    assert least <= len(told) <= most


def test_interrupt_ends_a_compilation():
    def interrupt():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), nvrtc_watch.telling(interrupt):
        nvrtc.compile_program(chosen(5), "k.cu", FLAGS)


@pytest.fixture
def usual_interrupt():
    """Let Ctrl-C raise, also where the tests run in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_signal_during_a_compilation_is_noted_and_handled_afterwards(usual_interrupt):
    during = []

    def interrupt():
        if not during:
            during.append(signal.getsignal(signal.SIGINT))
            signal.raise_signal(signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), nvrtc_watch.telling(interrupt):
        nvrtc.compile_program(chosen(5), "k.cu", FLAGS)
    assert during[0] is not before
    assert signal.getsignal(signal.SIGINT) is before


def test_compilation_apart_is_told_of_again_and_again(monkeypatch):
    monkeypatch.setattr(nvrtc_apart, "SECONDS", 2)
    told = []
    with pytest.raises(CompileError), nvrtc_watch.telling(lambda: told.append(1)):
        nvrtc.compile_program(HARD["templates"], "k.cu", FLAGS)
    assert told


def test_output_is_the_same_apart_and_here(monkeypatch):
    source = chosen(20)
    here = nvrtc.compile_program(source, "k.cu", FLAGS, ["k"])
    monkeypatch.setattr(nvrtc_apart, "MOST_CHOICES", 10)
    assert nvrtc.compile_program(source, "k.cu", FLAGS, ["k"]) == here


def test_refusal_is_the_same_apart_and_here(monkeypatch):
    source = chosen(20).replace("*x", "*y")
    monkeypatch.setattr(nvrtc_apart, "MOST_CHOICES", 10)
    with pytest.raises(CompileError, match='identifier "y" is undefined'):
        compile(source)


@pytest.mark.parametrize(
    "line",
    [
        '#include "pipe.h"',
        '#include "/dev/zero"',
        '/* first */ #include "pipe.h"',
        '# /* middle */ include /* end */ "pipe.h"',
        '#inc\\\nlude "pipe.h"',
        '%:include "pipe.h"',
        '#include_next "pipe.h"',
        '#import "pipe.h"',
    ],
)
def test_include_of_what_is_no_regular_file_is_refused(tmp_path, monkeypatch, line):
    os.mkfifo(tmp_path / "pipe.h")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(LaunchError, match="names something that is no regular file"):
        find(f"{line}\n__global__ void k() {{}}\n")


@pytest.mark.parametrize(
    "line",
    ['// #include "pipe.h"', '/* #include "pipe.h" */', "#define A 1 // include"],
)
def test_include_in_a_comment_is_none(tmp_path, monkeypatch, line):
    os.mkfifo(tmp_path / "pipe.h")
    monkeypatch.chdir(tmp_path)
    assert not find(f"{line}\n__global__ void k() {{}}\n").headers


def test_compiler_that_waits_for_a_pipe_is_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(nvrtc_apart, "IDLE_SECONDS", 1)
    os.mkfifo(tmp_path / "pipe.h")
    source = f'#define F "{tmp_path}/pipe.h"\n#include F\n__global__ void k() {{}}\n'
    with pytest.raises(CompileError, match="waited for 1 s, and was stopped"):
        nvrtc.compile_program(source, "k.cu", FLAGS)


def test_folder_of_the_name_of_an_include_is_passed_over(tmp_path):
    (tmp_path / "a" / "h.cuh").mkdir(parents=True)
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "h.cuh").write_text("// here\n")
    found = sources._first((tmp_path / "a", tmp_path / "b"), "h.cuh")
    assert found == tmp_path / "b" / "h.cuh"
