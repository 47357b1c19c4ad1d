// Backward pass of a ReLU, from an output that no forward pass has kept.
//
// What     dx[i] = dy[i] where the forward pass gave y[i] > 0, else 0, in
//          float32, for n elements; y[i] = max(0, x[i]).
// Math     as above, for i in [0, n)
// Launch   block 256; grid ceil(n / block); y from ck.empty.
// Defect   The layer reserves y and hands another array on, so that nothing
//          has ever been written to this one.
// Repair   Ask the input, `x[i] > 0`, or keep what the forward pass returns.
//
// finds: n=1000 initcheck UninitializedReadError line 18

__global__ void relu_backward(
    const float *x, const float *y, const float *dy, float *dx, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        dx[i] = y[i] > 0 ? dy[i] : 0.0f;
}
