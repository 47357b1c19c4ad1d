"""Programs for the host that include Thrust: it computes on the CPU there."""

from __future__ import annotations

import pytest

import coursekit as ck
from coursekit.toolchain import thrust_options

SORT = """
#include <thrust/device_vector.h>
#include <thrust/sort.h>
#include <cstdio>
struct Twice {
    __host__ __device__ int operator()(int x) const { return 2 * x; }
};
int main() {
    thrust::device_vector<int> x{3, 1, 2};
    thrust::sort(x.begin(), x.end());
    thrust::transform(x.begin(), x.end(), x.begin(), Twice{});
    std::printf("%d %d %d\\n", int(x[0]), int(x[1]), int(x[2]));
}
"""


@pytest.mark.parametrize("sanitize", [False, True])
def test_thrust_computes_on_the_cpu(sanitize):
    ran = ck.program(SORT, sanitize=sanitize).run()
    assert ran.stdout == "2 4 6\n"


def test_thrust_gives_no_warnings():
    assert not ck.program(SORT).warnings


@pytest.mark.parametrize(
    "text", ["#include <vector>", "// #include <thrust/sort.h>", 'char x[] = "thrust/"']
)
def test_other_programs_get_no_options(text):
    assert thrust_options.options(text) == []


def test_headers_are_those_of_nvrtc():
    folders = [o for o in thrust_options.options(SORT) if o.startswith("-isystem")]
    assert len(folders) == 1
