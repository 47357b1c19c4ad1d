// Columns: y = A x; A is m x n by columns, which lie lda elements apart.
__global__ void gemv(
    int m, int n, const float *A, int lda, const float *x, float *y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; row < m && k < n; k++)
        sum += x[k];  // Your code here: times A in this row, column k.
    if (row < m)
        y[row] = sum;
}
