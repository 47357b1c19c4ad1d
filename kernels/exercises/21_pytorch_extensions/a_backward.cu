// From grad_y to grad_x, for y = p(x) = x^3 - 3 x + 1.
__global__ void polynomial_backward(
    const double *x, const double *grad_y, double *grad_x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        grad_x[i] = 0;  // Your code here.
}
