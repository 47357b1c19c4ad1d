# Matrix product of half-precision a and b; a program computes a tile.
import triton
import triton.language as tl


@triton.jit
def kernel(a, b, c, M, N, K, TILE: tl.constexpr):
    row = tl.program_id(0) * TILE + tl.arange(0, TILE)[:, None]
    col = tl.program_id(1) * TILE + tl.arange(0, TILE)[None, :]
    total = tl.zeros((TILE, TILE), tl.float32)
    for k0 in range(0, K, TILE):
        k = k0 + tl.arange(0, TILE)[None, :]
        a_tile = tl.load(a + row * K + k, (row < M) & (k < K), 0)
        k = k0 + tl.arange(0, TILE)[:, None]
        b_tile = tl.load(b + k * N + col, (k < K) & (col < N), 0)
        total = tl.dot(a_tile, b_tile, total)
    tl.store(c + row * N + col, total, (row < M) & (col < N))


def matmul(a, b, c):
    (M, K), (K, N) = a.shape, b.shape
    grid = triton.cdiv(M, 32), triton.cdiv(N, 32)
    kernel[grid](a, b, c, M, N, K, TILE=32)
