// Running maximum: x[i] becomes the largest of x[0] to x[i], in one block.
__global__ void running_maximum(float *x, int n)
{
    __shared__ float part[1024];
    int i = threadIdx.x;
    if (i < n)
        part[i] = x[i];
    // Your code here, and below: where do barriers belong?
    for (int away = 1; away < n; away *= 2) {
        float other = 0.0f;
        if (i < n && i >= away)
            other = part[i - away];
        if (i < n && i >= away)
            part[i] = max(part[i], other);
    }
    if (i < n)
        x[i] = part[i];
}
