// Largest element, by the last block: parts[b] is that of block b.
__global__ void largest(const float *x, float *parts, unsigned *tickets,
                        float *most, int n)
{
    if (threadIdx.x != 0)
        return;
    float part = x[blockIdx.x * 64];
    for (int i = blockIdx.x * 64; i < n && i < blockIdx.x * 64 + 64; i++)
        part = max(part, x[i]);
    parts[blockIdx.x] = part;
    // Your code here: who says that the part can be seen?
    unsigned ticket = atomicAdd(tickets, 1);
    if (ticket < gridDim.x - 1)
        return;
    float all = parts[0];
    for (int b = 0; b < gridDim.x; b++)
        all = max(all, parts[b]);
    *most = all;
}
