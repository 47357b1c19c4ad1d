// Whole numbers: C = scale * A B' by columns; an int holds four int8.
__global__ void product_s8(
    const int *A, const int *B, float *C, int m, int n,
    int fours, float scale)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    int col = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || col >= n)
        return;
    int sum = 0;
    for (int k = 0; k < fours; k++) {
        int a = A[row * fours + k], b = B[col * fours + k];
        sum = __dp4a(a, b, sum);
    }
    C[row + col * m] = scale * sum;
}
