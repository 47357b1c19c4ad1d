// Matrix product by one thread: C grows by A * B; all are stored by rows.
__global__ void product_c(
    const float *A, const float *B, float *C, int M, int N, int K)
{
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < K; k++)
                ;  // Your code here: the multiply-add of i, j and k.
}
