// The kernels that time the simulator; simulator_cases.py launches them.
//
// What     One kernel for each way of using lanes and memory that costs
//          the simulator differently.
// Idea     Patterned and random addresses, shared memory with and without
//          conflicts, vector loads, divergence.
// Launch   As simulator_cases.py says: TILE x TILE or 256 threads.
// Limits   sgemm_patches: M and N multiples of SIDE, K of DEPTH.
//          transpose_*: multiples of STEP. mandelbrot: of the block.

constexpr int TILE = 16;

__global__ void matmul_naive(
    const float *A, const float *B, float *C, int M, int N, int K)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < M && col < N) {
        float sum = 0.0f;
        for (int k = 0; k < K; k++)
            sum += A[row * K + k] * B[k * N + col];
        C[row * N + col] = sum;
    }
}

__global__ void matmul_tiled(
    const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ float a_tile[TILE][TILE];
    __shared__ float b_tile[TILE][TILE];
    int col = blockIdx.x * TILE + threadIdx.x;
    int row = blockIdx.y * TILE + threadIdx.y;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += TILE) {
        int a_col = k0 + threadIdx.x, b_row = k0 + threadIdx.y;
        a_tile[threadIdx.y][threadIdx.x] =
            row < M && a_col < K ? A[row * K + a_col] : 0.0f;
        b_tile[threadIdx.y][threadIdx.x] =
            b_row < K && col < N ? B[b_row * N + col] : 0.0f;
        __syncthreads();  // the tiles are there
        for (int k = 0; k < TILE; k++)
            sum += a_tile[threadIdx.y][k] * b_tile[k][threadIdx.x];
        __syncthreads();  // and no longer needed
    }
    if (row < M && col < N)
        C[row * N + col] = sum;
}

// SGEMM with an 8 x 8 patch of C in the registers of each of 256 threads.

constexpr int SIDE = 128, DEPTH = 8, PATCH = 8;

__global__ void sgemm_patches(
    const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ float a_tile[DEPTH][SIDE];  // transposed
    __shared__ float b_tile[DEPTH][SIDE];
    int t = threadIdx.x;
    int row0 = t / (SIDE / PATCH) * PATCH;
    int col0 = t % (SIDE / PATCH) * PATCH;
    int a_row = t / (DEPTH / 4), a_col = t % (DEPTH / 4) * 4;
    int b_row = t / (SIDE / 4), b_col = t % (SIDE / 4) * 4;
    A += blockIdx.y * SIDE * K;
    B += blockIdx.x * SIDE;
    C += blockIdx.y * SIDE * N + blockIdx.x * SIDE;

    float sum[PATCH][PATCH] = {};
    for (int k0 = 0; k0 < K; k0 += DEPTH) {
        float4 a4 = *(const float4 *)&A[a_row * K + k0 + a_col];
        a_tile[a_col + 0][a_row] = a4.x;
        a_tile[a_col + 1][a_row] = a4.y;
        a_tile[a_col + 2][a_row] = a4.z;
        a_tile[a_col + 3][a_row] = a4.w;
        *(float4 *)&b_tile[b_row][b_col] =
            *(const float4 *)&B[(k0 + b_row) * N + b_col];
        __syncthreads();  // the tiles are there
        for (int k = 0; k < DEPTH; k++) {
            float a[PATCH], b[PATCH];
            for (int i = 0; i < PATCH; i += 4) {
                *(float4 *)&a[i] = *(float4 *)&a_tile[k][row0 + i];
                *(float4 *)&b[i] = *(float4 *)&b_tile[k][col0 + i];
            }
            for (int i = 0; i < PATCH; i++)
                for (int j = 0; j < PATCH; j++)
                    sum[i][j] += a[i] * b[j];
        }
        __syncthreads();  // and no longer needed
    }
    for (int i = 0; i < PATCH; i++)
        for (int j = 0; j < PATCH; j += 4)
            *(float4 *)&C[(row0 + i) * N + col0 + j] =
                *(float4 *)&sum[i][j];
}

// One partial sum a block, down a tree that parts the lanes of a warp.

constexpr int THREADS = 256;

__global__ void reduce_divergent(const float *x, float *sums, int n)
{
    __shared__ float partial[THREADS];
    int t = threadIdx.x;
    int i = blockIdx.x * THREADS + t;
    partial[t] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (int s = 1; s < THREADS; s *= 2) {
        if (t % (2 * s) == 0)
            partial[t] += partial[t + s];
        __syncthreads();
    }
    if (t == 0)
        sums[blockIdx.x] = partial[0];
}

__global__ void reduce_coalesced(const float *x, float *sums, int n)
{
    __shared__ float partial[THREADS / 32];
    int t = threadIdx.x;
    float sum = 0.0f;
    for (int i = blockIdx.x * THREADS + t; i < n; i += gridDim.x * THREADS)
        sum += x[i];
    for (int s = 16; s > 0; s /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, s);
    if (t % 32 == 0)
        partial[t / 32] = sum;
    __syncthreads();
    if (t < 32) {
        sum = t < THREADS / 32 ? partial[t] : 0.0f;
        for (int s = 16; s > 0; s /= 2)
            sum += __shfl_down_sync(0xffffffffu, sum, s);
        if (t == 0)
            sums[blockIdx.x] = sum;
    }
}

// Transposes of an n x n matrix: STEP x ROWS threads, STEP x STEP elements.

constexpr int STEP = 32, ROWS = 8;

__global__ void transpose_naive(const float *x, float *y, int n)
{
    int col = blockIdx.x * STEP + threadIdx.x;
    int row = blockIdx.y * STEP + threadIdx.y;
    for (int i = 0; i < STEP; i += ROWS)
        y[col * n + row + i] = x[(row + i) * n + col];
}

template <int PADDING>
__device__ void transpose_through_tile(const float *x, float *y, int n)
{
    __shared__ float tile[STEP][STEP + PADDING];
    int col = blockIdx.x * STEP + threadIdx.x;
    int row = blockIdx.y * STEP + threadIdx.y;
    for (int i = 0; i < STEP; i += ROWS)
        tile[threadIdx.y + i][threadIdx.x] = x[(row + i) * n + col];
    __syncthreads();  // the tile is there
    col = blockIdx.y * STEP + threadIdx.x;
    row = blockIdx.x * STEP + threadIdx.y;
    for (int i = 0; i < STEP; i += ROWS)
        y[(row + i) * n + col] = tile[threadIdx.x][threadIdx.y + i];
}

__global__ void transpose_tile(const float *x, float *y, int n)
{
    transpose_through_tile<0>(x, y, n);
}

__global__ void transpose_padded(const float *x, float *y, int n)
{
    transpose_through_tile<1>(x, y, n);
}

// The neighbouring pixels of a warp leave the loop after different turns.

__global__ void mandelbrot(int *turns, int n, int most)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    float cx = -2.0f + 3.0f * col / n, cy = -1.5f + 3.0f * row / n;
    float x = 0.0f, y = 0.0f;
    int turn = 0;
    while (turn < most && x * x + y * y <= 4.0f) {
        float next = x * x - y * y + cx;
        y = 2.0f * x * y + cy;
        x = next;
        turn++;
    }
    turns[row * n + col] = turn;
}

__global__ void gather(const float *x, const int *places, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[places[i]];
}

__global__ void vec_add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}
