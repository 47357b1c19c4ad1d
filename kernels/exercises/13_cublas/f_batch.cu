// Batch: C[b] = A[b] B[b] by columns, n x n; b counts layers of the grid.
__global__ void batch(
    const float *A, long long stride_a, const float *B, long long stride_b,
    float *C, long long stride_c, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    int col = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= n || col >= n)
        return;
    // Your code here: go to the matrices of this layer.
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += A[row + k * n] * B[k + col * n];
    C[row + col * n] = sum;
}
