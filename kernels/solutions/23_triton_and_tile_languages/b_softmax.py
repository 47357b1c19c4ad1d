# Softmax of each row; one program computes a row.
import triton
import triton.language as tl


@triton.jit
def kernel(x, out, cols, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    at = tl.program_id(0) * cols + i
    row = tl.load(x + at, mask=i < cols, other=-float("inf"))
    powers = tl.exp(row - tl.max(row))
    result = powers / tl.sum(powers)
    tl.store(out + at, result, mask=i < cols)


def softmax(x, out):
    rows, cols = x.shape
    BLOCK = triton.next_power_of_2(cols)
    kernel[(rows,)](x, out, cols, BLOCK=BLOCK)
