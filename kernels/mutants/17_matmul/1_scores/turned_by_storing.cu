// K is turned around while it is stored: the lanes meet in two banks.
__global__ void scores(
    const float *Q, const float *K, float *S, int M, int N, int D)
{
    __shared__ float q_tile[16][16], k_tile[16][16];
    int x = threadIdx.x, y = threadIdx.y;
    int i = blockIdx.y * 16 + y, j0 = blockIdx.x * 16;
    float sum = 0.0f;
    for (int d0 = 0; d0 < D; d0 += 16) {
        bool in_q = i < M && d0 + x < D;
        bool in_k = j0 + y < N && d0 + x < D;
        q_tile[y][x] = in_q ? Q[i * D + d0 + x] : 0.0f;
        k_tile[x][y] = in_k ? K[(j0 + y) * D + d0 + x] : 0.0f;
        __syncthreads();  // the tiles are complete
        for (int d = 0; d < 16; d++)
            sum += q_tile[y][d] * k_tile[d][x];
        __syncthreads();  // all have read the tiles
    }
    if (i < M && j0 + x < N)
        S[i * N + j0 + x] = sum;
}
