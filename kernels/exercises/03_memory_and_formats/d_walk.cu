// Walk: end[i] is reached from element i after `steps` steps.
__global__ void walk(const int *next, int *end, int steps, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int at = i;
    // Your code here: the element behind element k is next[k].
    end[i] = at;
}
