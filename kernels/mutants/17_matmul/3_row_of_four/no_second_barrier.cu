// Tiles are replaced while others still read them.
__global__ void row_of_four(
    const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ float a_tile[16][16];
    __shared__ float4 b_tile[16][16];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * 16 + y, col = blockIdx.x * 64 + 4 * x;
    float4 sum = {}, zero = {};
    for (int k0 = 0; k0 < K; k0 += 16) {
        a_tile[y][x] = row < M && k0 + x < K ? A[row * K + k0 + x] : 0.0f;
        const float4 *from = (const float4 *)(B + (k0 + y) * N + col);
        b_tile[y][x] = k0 + y < K && col < N ? *from : zero;
        __syncthreads();  // the tiles are complete
        for (int k = 0; k < 16; k++) {
            float4 b = b_tile[k][x];
            sum.x += a_tile[y][k] * b.x, sum.y += a_tile[y][k] * b.y;
            sum.z += a_tile[y][k] * b.z, sum.w += a_tile[y][k] * b.w;
        }
    }
    if (row < M && col < N)
        *(float4 *)(C + row * N + col) = sum;
}
