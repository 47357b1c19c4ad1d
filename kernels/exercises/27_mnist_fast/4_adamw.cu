// One step of AdamW, a thread for each parameter.
__global__ void adamw(
    float *w, const float *g, float *m, float *v, int n, float rate,
    float b1, float b2, float m_fix, float v_fix, float eps, float decay)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    // Your code here: this is plain SGD, and m and v stay as they are.
    w[i] -= rate * g[i];
}
