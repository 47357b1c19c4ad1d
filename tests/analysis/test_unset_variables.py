"""Variables that are declared without a value: found in the text, and when read."""

from __future__ import annotations

import numpy as np
import pytest

import coursekit as ck
from coursekit.analysis import unset_variables

pytestmark = pytest.mark.usefixtures("simulated")

DECLARED = {
    "float sum;": ["sum"],
    "float a, b = 2, c[3], *p;": ["a", "c", "p"],
    "unsigned long long n;": ["n"],
    "float acc[4][4];": ["acc"],
    "Pair<int, 3> both;": ["both"],
    "cuda::std::array<int, 4> list;": ["list"],
    "if (n) { int inner; inner = 1; }": ["inner"],
    "switch (n) { case 1: int here; here = 1; }": ["here"],
    "auto f = [&](int m) { float x; return m; };": ["x"],
    "for (int i; i < n; ++i) { }": [],
    "__shared__ float tile[32]; extern __shared__ int more[];": [],
    "float sum = 0, product{1}; Pair<int, 3> one(2), two{1, 2};": [],
    "int least = min(n, a, b), y; Trio t = {a, b, f(a, b)}, u{n, a};": ["y"],
    "n = 3; n * 3; g(n); ++n; return;": [],
    "struct Local { int member; }; goto end; end:": [],
    'const char* text = "int a;"; // float b;': [],
}


@pytest.mark.parametrize("body", DECLARED)
def test_variables_without_a_value_are_found_in_the_text(body):
    source = f"struct P {{ int x; }};\n__global__ void k(int n) {{\n  {body}\n}}"
    assert [name for _, name in unset_variables.declared(source)] == DECLARED[body]


def check(body: str, n: int = 32, **options):
    source = f"__global__ void k(const int* x, int* out) {{\n{body}\n}}"
    arguments = np.arange(n, dtype=np.int32), np.zeros(n, np.int32)
    options = {"grid": 1, "block": n, **options}
    return ck.initcheck(ck.compile(source)["k"], args=arguments, **options)


READ = {
    "int sum; for (int i = 0; i < 4; ++i) sum += x[i];\nout[0] = sum;": 2,
    "int v; out[threadIdx.x] = v * x[threadIdx.x];": 2,
    "int v; if (x[threadIdx.x] > 3) v = 1;\nout[threadIdx.x] = v;": 3,
    "int bins[2];\nfor (int i = 0; i < 4; ++i) bins[i % 2] += x[i];\n"
    "out[0] = bins[0];": 3,
    "int most;\nfor (int i = 0; i < 4; ++i) most = max(most, x[i]);\nout[0] = most;": 3,
    "int4 v; v.x = 1; v.y = 2; v.z = 3;\nout[threadIdx.x] = v.x + v.w;": 3,
    "__shared__ int scale; if (x[0] > 0) scale = 2;\n__syncthreads();\n"
    "out[0] = scale;": 4,
}
SET = [
    "int v; if (x[threadIdx.x] > 3) v = 1; else v = 2;\nout[threadIdx.x] = v;",
    "int v; if (x[0] < 9) v = 1;\nif (x[0] < 9) out[threadIdx.x] = v + 1;",
    "int4 v; v.x = 1; v.y = 2;\nout[threadIdx.x] = v.x + v.y;",
    "int w[4]; for (int i = 0; i < 4; ++i) w[i] = i;\nout[0] = w[x[0] % 4];",
    'unsigned lane; asm("mov.u32 %0, %%laneid;" : "=r"(lane));\nout[0] = lane;',
    "int v, *p = &v; *p = 3;\nout[0] = v;",
]


@pytest.mark.parametrize("body", READ)
def test_variable_that_is_read_before_it_is_set_is_found(body):
    found = check(body)
    assert [(one.severity, one.kind, one.line) for one in found] == [
        ("error", "UninitializedReadError", READ[body])
    ]


@pytest.mark.parametrize("body", SET)
def test_variable_that_is_set_in_time_is_silent(body):
    found = check(body)
    assert (list(found), found.notes) == ([], ())


def test_finding_names_the_variable_and_the_source_as_it_is():
    body = "int sum; for (int i = 0; i < 4; ++i) sum += x[i];\nout[0] = sum;"
    (found,) = check(body)
    assert "thread (0, 0, 0) of block (0, 0, 0) reads sum, in its own" in found.message
    assert f"kernel.cu:2    {body.splitlines()[0]}\n" in found.message
    assert "`float sum = 0;`" in found.message


def test_last_block_is_looked_at_too():
    body = (
        "int v, i = blockIdx.x * blockDim.x + threadIdx.x;\nif (i < 300) v = x[0];\n"
        "out[threadIdx.x] = v;"
    )
    (found,) = check(body, grid=10)
    assert (found.block, found.thread, found.line) == ((9, 0, 0), (12, 0, 0), 4)


def test_text_that_a_kernel_prints_comes_once(capsys):
    check('int v; if (threadIdx.x < 99) v = 1;\nprintf("%d\\n", v);', 1)
    assert capsys.readouterr().out == "1\n"


def test_kernel_that_cannot_be_built_so_is_checked_as_it_is():
    body = "constexpr auto f = [](int m) { int v; v = m; return v; };\nout[0] = f(2);"
    assert len(check(body)) == 0


def test_copy_of_fresh_memory_to_an_array_of_the_host_is_an_error():
    source = "__global__ void k(const int* x, int* out) {\nout[0] = x[0];\n}"
    kernel = ck.compile(source)["k"]
    (found,) = ck.initcheck(kernel, 1, 1, (ck.empty(4, "int32"), np.zeros(4, "i4")))
    assert (found.kind, found.line) == ("UninitializedReadError", 2)
    assert "writes a value to out[0] that nothing has written" in found.message
