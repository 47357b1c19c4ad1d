// Matmul on the CPU in C: the loops in two orders, and in blocks.
//
// What     C = A * B in float32, row-major. A is M x K, B is K x N, C is M x N.
// Math     C[row][col] = sum over k in [0, K) of A[row][k] * B[k][col]
// Idea     The same multiply-adds, in orders that meet the caches better and better.
// Build    cc -O3 -march=native -ffast-math -shared -fPIC on_cpu.c -o on_cpu.so
// Limits   One core.

// One sum after the other: every step of the inner loop is in another row of B.
void matmul_by_sums(
    const float *A, const float *B, float *C, int M, int N, int K)
{
    for (int row = 0; row < M; row++)
        for (int col = 0; col < N; col++) {
            float sum = 0;
            for (int k = 0; k < K; k++)
                sum += A[(long)row * K + k] * B[(long)k * N + col];
            C[(long)row * N + col] = sum;
        }
}

// A row of C at once: the inner loop goes along rows of B and C, eight or more
// numbers an instruction.
void matmul_by_rows(
    const float *A, const float *B, float *C, int M, int N, int K)
{
    for (int row = 0; row < M; row++) {
        float *sums = C + (long)row * N;
        for (int col = 0; col < N; col++)
            sums[col] = 0;
        for (int k = 0; k < K; k++) {
            float a = A[(long)row * K + k];
            for (int col = 0; col < N; col++)
                sums[col] += a * B[(long)k * N + col];
        }
    }
}

enum { DEPTH = 64, ACROSS = 256 };  // a block of B: 64 KiB, which a cache keeps

// The same, in blocks of B that are used for all rows before the next one.
void matmul_by_blocks(
    const float *A, const float *B, float *C, int M, int N, int K)
{
    for (long i = 0; i < (long)M * N; i++)
        C[i] = 0;
    for (int k0 = 0; k0 < K; k0 += DEPTH)
        for (int col0 = 0; col0 < N; col0 += ACROSS)
            for (int row = 0; row < M; row++)
                for (int k = k0; k < K && k < k0 + DEPTH; k++) {
                    float a = A[(long)row * K + k];
                    for (int col = col0; col < N && col < col0 + ACROSS; col++)
                        C[(long)row * N + col] += a * B[(long)k * N + col];
                }
}
