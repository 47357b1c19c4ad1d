// Matrix product of operands that may be transposed.
//
// What     y = a b, float32. a is M x K, b is K x N, y is M x N, row-major;
//          element (row, k) of a is a[row * a_row + k * a_col]; sizes >= 1.
// Math     y[row][col] = sum over k in [0, K) of a[row][k] * b[k][col]
// Idea     With strides, one kernel serves the product and both of its gradients:
//          dy b' and a' dy read a transposed matrix where it lies.
// Launch   block 256 (any works); grid ceil(M * N / block).
// Limits   Elements of each array below 2^31. Every value of a is read N times;
//          the ladder in matmul/ is about that.
//
// expect: M=32,N=32,K=32 flops_fp32 = 65536          # 2 * 32 * 32 * 32
// expect: M=32,N=32,K=32 global_store_sectors = 128  # 4096 B / 32 B

__global__ void matmul(
    const float *a, const float *b, float *y, int M, int N, int K,
    int a_row, int a_col, int b_row, int b_col)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= M * N)
        return;
    int row = i / N, col = i % N;
    float sum = 0;
    for (int k = 0; k < K; ++k)
        sum += a[row * a_row + k * a_col] * b[k * b_row + col * b_col];
    y[i] = sum;
}
