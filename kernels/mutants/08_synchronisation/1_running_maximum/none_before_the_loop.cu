// The loop begins before all parts are there.
__global__ void running_maximum(float *x, int n)
{
    __shared__ float part[1024];
    int i = threadIdx.x;
    if (i < n)
        part[i] = x[i];
    for (int away = 1; away < n; away *= 2) {
        float other = 0.0f;
        if (i < n && i >= away)
            other = part[i - away];
        __syncthreads();  // all have read
        if (i < n && i >= away)
            part[i] = max(part[i], other);
        __syncthreads();  // all have written
    }
    if (i < n)
        x[i] = part[i];
}
