// Lanes take a row each: nothing conflicts, but every sector comes twice.
__global__ void pack(const float *A, float *out, int M, int K)
{
    __shared__ __align__(16) float tile[8][128];
    int row0 = blockIdx.x * 128, k0 = blockIdx.y * 8;
    int row = threadIdx.x % 128, k = threadIdx.x / 128 * 4;
    if (row0 + row < M && k0 + k < K) {
        const float *from = A + (row0 + row) * K + k0 + k;
        float4 a = *(const float4 *)from;
        for (int i = 0; i < 4; i++)
            tile[k + i][row] = (&a.x)[i];
    }
    __syncthreads();  // the tile is complete
    k = threadIdx.x / 32, row = threadIdx.x % 32 * 4;
    if (row0 + row < M && k0 + k < K)
        *(float4 *)(out + (k0 + k) * M + row0 + row)
            = *(const float4 *)&tile[k][row];
}
