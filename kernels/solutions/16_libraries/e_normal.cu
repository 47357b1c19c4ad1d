// Normal values: Box and Muller make two of two uniform ones.
__global__ void normal(const float *u, float *out, int pairs)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pairs)
        return;
    float radius = sqrtf(-2 * logf(u[2 * i]));
    out[2 * i] = radius * sinpif(2 * u[2 * i + 1]);
    out[2 * i + 1] = radius * cospif(2 * u[2 * i + 1]);
}
