// Scores: S[i][j] = sum over d of Q[i][d] * K[j][d], by tiles of 16 x 16.
__global__ void scores(
    const float *Q, const float *K, float *S, int M, int N, int D)
{
    int i = blockIdx.y * 16 + threadIdx.y;
    int j = blockIdx.x * 16 + threadIdx.x;
    // Your code here: right, but the lanes of a warp read 16 rows of K.
    float sum = 0.0f;
    if (i < M && j < N) {
        for (int d = 0; d < D; d++)
            sum += Q[i * D + d] * K[j * D + d];
        S[i * N + j] = sum;
    }
}
