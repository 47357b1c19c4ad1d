// Cell: a step of an LSTM behind the products; order of gates i, f, g, o.
__device__ float sigmoid(float x) { return 1 / (1 + expf(-x)); }

__global__ void cell(const float *gates, float *c, float *h, int n)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= n)
        return;
    float i = sigmoid(gates[k]), f = sigmoid(gates[n + k]);
    float g = tanhf(gates[2 * n + k]), o = sigmoid(gates[3 * n + k]);
    // Your code here: c keeps a part f, and takes a part i of g; then h.
}
