// Convolution, step 5: the implicit product on the tensor cores.
//
// What     y = x * w, 3 x 3, stride 1, a border of one zero, all halves with sums in
//          float32. x is N x H x W x C, w is K x 3 x 3 x C, y is N x H x W x K.
// Math     y[pixel][k] = sum over tap, c of
//          x[pixel shifted by tap][c] * w[k][tap][c], with tap = r * 3 + s
// Idea     mma.sync multiplies 16 x 16 by 16 x 8 halves in one instruction of a warp,
//          and ldmatrix loads its operands. Tiles of 64 channels arrive behind the
//          products by cp.async, which fills with zeros outside of the image.
// Launch   block 256; grid (ceil(N * H * W / 128), K / 64); dynamic shared memory
//          STAGES * sizeof(Stage) = 72 KiB.
// On chip  3 * (128 + 64) * 128 B = 72 KiB of shared memory per block.
// Limits   C and K multiples of 64. Fewer than 2^31 numbers. Threads compute addresses
//          and start copies; in step 6 a copy engine does both.
//
// needs: sm_80
// expect: N=1,H=W=8,C=K=64 barriers = 72                   # 8 warps * 9 taps

#include <cuda_fp16.h>
#include <cuda_pipeline.h>

constexpr int PIXELS = 128, FILTERS = 64, DEPTH = 64, STAGES = 3;
constexpr int THREADS = 256, WORDS = DEPTH / 8;  // of 16 bytes in a row
constexpr int DOWN = 32, ACROSS = 32;            // of a warp

struct Stage {
    uint4 pixels[PIXELS][WORDS], weights[FILTERS][WORDS];
};

struct Sizes {
    int N, H, W, C, K;
};

// Start the copies of a step: of 64 channels of one tap.
__device__ void fetch(
    Stage &to, const __half *x, const __half *w, Sizes size, int step)
{
    int tap = step / (size.C / DEPTH), c = step % (size.C / DEPTH) * DEPTH;
    int down = tap / 3 - 1, right = tap % 3 - 1, word = threadIdx.x % WORDS;
#pragma unroll
    for (int i = threadIdx.x / WORDS; i < PIXELS; i += THREADS / WORDS) {
        int pixel = blockIdx.x * PIXELS + i;
        int row = pixel / size.W % size.H + down;
        int col = pixel % size.W + right;
        bool inside = pixel < size.N * size.H * size.W && row >= 0
            && row < size.H && col >= 0 && col < size.W;
        int from = inside ? (pixel + down * size.W + right) * size.C : 0;
        __pipeline_memcpy_async(&to.pixels[i][word ^ i % 8],
                                x + from + c + word * 8, 16,
                                inside ? 0 : 16);
    }
#pragma unroll
    for (int i = threadIdx.x / WORDS; i < FILTERS; i += THREADS / WORDS) {
        int k = blockIdx.y * FILTERS + i;
        __pipeline_memcpy_async(&to.weights[i][word ^ i % 8],
                                w + (k * 9 + tap) * size.C + c + word * 8,
                                16);
    }
}

// Load 16 x 16 halves: lane l gives the address of row l % 16, half l / 16.
__device__ void load_16x16(
    unsigned (&a)[4], const uint4 (*rows)[WORDS], int row, int word)
{
    auto from = (unsigned)__cvta_generic_to_shared(
        &rows[row][word ^ row % 8]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 "
                 "{%0, %1, %2, %3}, [%4];"
                 : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
                 : "r"(from) : "memory");
}

__device__ void product_16x8x16(
    float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]),
                   "r"(b0), "r"(b1));
}

struct Warp {
    int top, left, lane;
    float sum[2][4][4];

    __device__ void multiply(const Stage &now)
    {
#pragma unroll
        for (int k = 0; k < DEPTH / 16; k++) {
            unsigned a[2][4], b[2][4];
            int row = lane % 16, word = 2 * k + lane / 16;
#pragma unroll
            for (int i = 0; i < 2; i++) {
                load_16x16(a[i], now.pixels, top + 16 * i + row, word);
                load_16x16(b[i], now.weights, left + 16 * i + row, word);
            }
#pragma unroll
            for (int i = 0; i < 8; i++) {
                const unsigned *by = b[i / 2 % 2] + i % 2;  // 8 filters
                product_16x8x16(sum[i / 4][i % 4], a[i / 4], by[0], by[2]);
            }
        }
    }
    __device__ void store(__half *y, Sizes size) const
    {
        int k = blockIdx.y * FILTERS + left + lane % 4 * 2;
#pragma unroll
        for (int i = 0; i < 16; i++) {
            const float *pair = sum[i / 8][i / 2 % 4] + i % 2 * 2;
            int row = top + i / 8 * 16 + i % 2 * 8 + lane / 4;
            int pixel = blockIdx.x * PIXELS + row;
            if (pixel < size.N * size.H * size.W)
                *reinterpret_cast<__half2 *>(
                    y + pixel * size.K + k + i / 2 % 4 * 8)
                    = __floats2half2_rn(pair[0], pair[1]);
        }
    }
};

__global__ void __launch_bounds__(THREADS, 2) convolution_tensor_cores(
    const __half *x, const __half *w, __half *y,
    int N, int H, int W, int C, int K)
{
    extern __shared__ __align__(128) Stage stages[];
    Sizes size = {N, H, W, C, K};
    int warp = threadIdx.x / 32, steps = 9 * C / DEPTH;
    Warp own = {warp / 2 * DOWN, warp % 2 * ACROSS, int(threadIdx.x % 32)};
    for (int step = 0; step < STAGES - 1; step++) {
        fetch(stages[step], x, w, size, step);
        __pipeline_commit();
    }
    for (int step = 0; step < steps; step++) {
        __pipeline_wait_prior(STAGES - 2);  // own copies have arrived
        __syncthreads();  // and those of others; all have left the oldest
        if (step + STAGES - 1 < steps)
            fetch(stages[(step + STAGES - 1) % STAGES], x, w, size,
                  step + STAGES - 1);
        __pipeline_commit();
        own.multiply(stages[step % STAGES]);
    }
    own.store(y, size);
}
