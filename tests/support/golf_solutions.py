"""Submissions to Count Golf: some that win gold, and what is on the way there."""

from __future__ import annotations

from coursekit import paths


def shipped(file: str, shape: str) -> str:
    """Return a kernel of the course with the line that launches it."""
    text = (paths.kernels() / file).read_text(encoding="utf-8").rstrip()
    return f"{text}\n\n// golf: {shape}\n"


PACK_WINDOW = """
constexpr unsigned ALL = 0xffffffff;

// A warp walks along a row in whole sectors of `a`, and hands the values over, so
// that it writes whole sectors of `out` as well.
__global__ void pack(const float *a, float *out, int width,
                     int top, int left, int rows, int cols)
{
    int lane = threadIdx.x % 32;
    int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (r >= rows)
        return;  // the whole warp
    const float *from = a + (top + r) * width + left;
    int lead = ((top + r) * width + left) % 8;
    int at = lane - lead;
    float here = at >= 0 && at < cols ? from[at] : 0;
    for (int first = 0; first < cols; first += 32) {
        at += 32;
        float next = at < cols ? from[at] : 0;
        float mine = __shfl_sync(
            ALL, lane < lead ? next : here, (lane + lead) % 32);
        if (first + lane < cols)
            out[r * cols + first + lane] = mine;
        here = next;
    }
}

// golf: grid = ceil(rows / 8); block = 256
"""

ROW_SUMS = """
constexpr unsigned ALL = 0xffffffff;

// A warp sums eight rows, and stores the eight sums at once.
__global__ void sums_of_eight(const float *A, float *sums, int rows, int cols)
{
    int lane = threadIdx.x % 32;
    int first = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * 8;
    float kept = 0;
    for (int k = 0; k < 8; ++k) {
        float sum = 0;
        if (first + k < rows)
            for (int col = lane; col < cols; col += 32)
                sum += A[(first + k) * cols + col];
        for (int away = 16; away > 0; away /= 2)
            sum += __shfl_xor_sync(ALL, sum, away);
        if (lane == k)
            kept = sum;
    }
    if (lane < 8 && first + lane < rows)
        sums[first + lane] = kept;
}

// golf: grid = ceil(rows / 16); block = 64
"""

SUM = """
constexpr unsigned ALL = 0xffffffff;

__global__ void sum(const float *x, float *total, int n)
{
    __shared__ float of_warp[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float own = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += gridDim.x * blockDim.x)
        own += x[i];
    for (int away = 16; away > 0; away /= 2)
        own += __shfl_down_sync(ALL, own, away);
    if (lane == 0)
        of_warp[warp] = own;
    __syncthreads();  // every warp has stored its sum
    if (warp > 0)
        return;
    own = lane < blockDim.x / 32 ? of_warp[lane] : 0;
    for (int away = 16; away > 0; away /= 2)
        own += __shfl_down_sync(ALL, own, away);
    if (lane == 0)
        atomicAdd(total, own);
}

// golf: grid = 8; block = 256
"""

TILES = "grid = ceil(cols / 32), ceil(rows / 32); block = 32, 8"
PADDED = shipped("transpose/step_03_padded.cu", TILES)
GOLD = {
    "vec_add": shipped("first/vec_add_stride.cu", "grid = 8; block = 256"),
    "pack_window": PACK_WINDOW,
    "row_sums": ROW_SUMS,
    "histogram": shipped("histogram/step_04_lanes.cu", "grid = 2; block = 1024"),
    "transpose": PADDED,
    "sum": SUM,
    "softmax": shipped("softmax/step_05_warp.cu", "grid = ceil(rows / 4); block = 128"),
}
# What is on the way there: (hole, source, medal).
WAY = {
    "one window a block": (
        "pack_window",
        shipped(
            "moving/pack_window.cu",
            "grid = ceil(cols / 32), ceil(rows / 8); block = 32, 8",
        ),
        "silver",
    ),
    "a row for each warp": (
        "row_sums",
        shipped("warps/row_sum_by_warp.cu", "grid = ceil(rows / 4); block = 128"),
        "silver",
    ),
    "counters of a block": (
        "histogram",
        shipped("histogram/step_02_shared.cu", "grid = 2; block = 256"),
        "bronze",
    ),
    "columns in one bank": (
        "transpose", shipped("transpose/step_02_tiled.cu", TILES), ""
    ),
}  # fmt: skip
