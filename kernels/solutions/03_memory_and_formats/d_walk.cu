// Walk: end[i] is reached from element i after `steps` steps.
__global__ void walk(const int *next, int *end, int steps, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int at = i;
    for (int step = 0; step < steps; step++)
        at = next[at];
    end[i] = at;
}
