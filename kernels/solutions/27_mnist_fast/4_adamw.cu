// AdamW: two means for each parameter; the weight decays by itself.
__global__ void adamw(
    float *w, const float *g, float *m, float *v, int n, float rate,
    float b1, float b2, float m_fix, float v_fix, float eps, float decay)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    m[i] = b1 * m[i] + (1 - b1) * g[i];
    v[i] = b2 * v[i] + (1 - b2) * g[i] * g[i];
    float step = m[i] * m_fix / (sqrtf(v[i] * v_fix) + eps);
    w[i] -= rate * (step + decay * w[i]);
}
