// A polynomial of every element, backward: grad_x = grad_y * p'(x).
//
// What     grad_x = grad_y * (3 x^2 - 3) element by element, T is float or
//          double, n elements; any n >= 0.
// Math     p(x) = x^3 - 3 x + 1 has the derivative p'(x) = 3 x^2 - 3
// Idea     x is saved by the forward pass and p'(x) is computed again: the
//          derivative is never stored.
// Launch   block 256 (any works); grid ceil(n / block).
// Limits   n below 2^31. Its own derivative, for second derivatives, is a
//          formula in Python.
//
// expect: n=1000 global_load_sectors = 250   # x and grad_y: 2 * 1000 * 4 B / 32 B
// expect: n=1000 global_store_sectors = 125  # 1000 * 4 B / 32 B

template <typename T>
__global__ void polynomial_backward(
    const T *x, const T *grad_y, T *grad_x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        grad_x[i] = grad_y[i] * (3 * x[i] * x[i] - 3);
}

template __global__ void polynomial_backward<float>(
    const float *, const float *, float *, int);
template __global__ void polynomial_backward<double>(
    const double *, const double *, double *, int);
