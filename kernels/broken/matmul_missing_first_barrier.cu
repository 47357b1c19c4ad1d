// Matrix product in tiles, without the barrier behind the loads.
//
// What     C = A * B in float32, row-major, square, n a multiple of 16.
// Math     C[row][col] = sum over k in [0, n) of A[row][k] * B[k][col]
// Launch   block (16, 16); grid (n / 16, n / 16).
// On chip  2 * 16 * 16 * 4 B = 2 KiB of shared memory per block.
// Defect   A thread multiplies before the others have brought their
//          part of the tiles.
// Repair   Put a __syncthreads() in front of the loop over k.
//
// finds: n=32 racecheck DataRaceError line 26

const int TILE = 16;

__global__ void matmul_tiled(
    const float *A, const float *B, float *C, int n)
{
    __shared__ float a_tile[TILE][TILE], b_tile[TILE][TILE];
    int col = blockIdx.x * TILE + threadIdx.x;
    int row = blockIdx.y * TILE + threadIdx.y;
    float sum = 0;
    for (int k0 = 0; k0 < n; k0 += TILE) {
        a_tile[threadIdx.y][threadIdx.x] = A[row * n + k0 + threadIdx.x];
        b_tile[threadIdx.y][threadIdx.x] = B[(k0 + threadIdx.y) * n + col];
        for (int k = 0; k < TILE; ++k)
            sum += a_tile[threadIdx.y][k] * b_tile[k][threadIdx.x];
        __syncthreads();  // nobody overwrites tiles still in use
    }
    C[row * n + col] = sum;
}
