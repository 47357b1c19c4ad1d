// A polynomial of every element, forward: y = x^3 - 3 x + 1.
//
// What     y = p(x) element by element, T is float or double, n elements; any
//          n >= 0.
// Math     p(x) = x^3 - 3 x + 1, by Horner's rule
// Idea     The forward half of an operator that PyTorch can differentiate:
//          T is a parameter, for gradients are checked in float64.
// Launch   block 256 (any works); grid ceil(n / block).
// Limits   n below 2^31. PyTorch knows no derivative of it; that is a second
//          kernel.
//
// expect: n=1000 global_load_sectors = 125   # 1000 * 4 B / 32 B
// expect: n=1000 global_store_sectors = 125  # 1000 * 4 B / 32 B

template <typename T>
__global__ void polynomial(const T *x, T *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = (x[i] * x[i] - 3) * x[i] + 1;
}

template __global__ void polynomial<float>(const float *, float *, int);
template __global__ void polynomial<double>(const double *, double *, int);
