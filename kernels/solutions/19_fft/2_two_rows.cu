// Full convolution of two real rows with one real filter, by complex transforms.
#define LENGTH 512
#include "fft/registers.cuh"

__device__ inline int place(int index)
{
    return index + index / 16;
}

__global__ void
two_rows(const float *x, const float *w, float *y, int rows, int n, int m)
{
    __shared__ float2 space[LENGTH / 16 * 17];
    int t = threadIdx.x, pair = blockIdx.x;
    float2 v[VALUES] = {}, W[VALUES] = {};
    if (2 * pair >= rows)
        return;
    const float *a = x + 2 * pair * n, *b = a + n;
    for (int i = 0; i < VALUES; ++i) {
        int j = t + i * THREADS;
        W[i].x = j < m ? w[j] : 0;
        if (j < n)
            v[i] = make_float2(a[j], b[j]);
    }
    transform(W, space, t);
    transform(v, space, t);
    for (int i = 0; i < VALUES; ++i)
        v[i] = swapped(times(v[i], W[i]));
    transform(v, space, t);
    float *first = y + 2 * pair * (n + m - 1), *second = first + n + m - 1;
    for (int i = 0; i < VALUES; ++i)
        if (int j = t + i * THREADS; j < n + m - 1) {
            first[j] = v[i].y / LENGTH;
            second[j] = v[i].x / LENGTH;
        }
}
