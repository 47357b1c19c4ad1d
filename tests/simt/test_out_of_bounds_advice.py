"""The advice in an OutOfBoundsError fits the distance from the array."""

import numpy as np
import pytest

import coursekit as ck

pytestmark = pytest.mark.usefixtures("simulated")


def message(body, launch_threads, array):
    """Run a kernel that leaves `x`; return what the error says."""
    source = f"__global__ void k(float *x, int n)\n{{\n{body}\n}}"
    with pytest.raises(ck.OutOfBoundsError) as caught:
        ck.compile(source).k[1, launch_threads](array, array.size)
    return str(caught.value)


def floats(count):
    return np.ones(count, np.float32)


def test_first_element_past_the_end_may_be_a_wrong_comparison():
    text = message("int i = threadIdx.x; if (i <= n) x[i] = 0;", 8, floats(6))
    assert "`<=` lets in one index too many" in text


def test_first_element_past_the_end_may_be_a_missing_guard():
    text = message("int i = threadIdx.x; x[i] = 0;", 8, floats(6))
    assert "blocks have threads without work" in text


def test_further_past_the_end_no_comparison_is_blamed():
    text = message("int i = threadIdx.x; if (i) x[i * 5] = 0;", 8, floats(4))
    assert "x[5], but x has 4 elements" in text
    assert "Often the grid is rounded up" in text and "`<=`" not in text


def test_element_is_counted_in_the_type_of_the_array():
    text = message("((float4 *)x)[threadIdx.x].x = 0;", 3, floats(8))
    assert "x[8], but x has 8 elements" in text and "`<=`" in text


@pytest.mark.parametrize("space", ["", "__shared__"], ids=["local", "shared"])
def test_first_element_past_an_array_of_the_kernel_too(space):
    body = f"""{space} float own[4];
    for (int k = 0; k <= n; ++k) own[k] = x[0];
    __syncthreads();
    x[threadIdx.x] = own[n & 3] + own[threadIdx.x & 3];"""
    assert "`<=` lets in one index too many" in message(body, 1, floats(4))
