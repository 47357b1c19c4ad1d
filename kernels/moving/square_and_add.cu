// The second of two kernels: it begins with what it need not wait for.
//
// What     y[i] = weights[i]^2 + x[i] for i in [0, n), in int32; x comes from the kernel before.
// Idea     Reading and squaring the weights overlaps with the end of the kernel before; only then it waits.
// Launch   block any; grid ceil(n / block.x); with cudaLaunchAttributeProgrammaticStreamSerialization.
// Limits   Nothing that the kernel before writes, or still reads, may be touched in front of the wait.
//
// needs: sm_90
// expect: n=1024 global_load_sectors = 256    # weights and x, 4096 B each / 32 B

__global__ void square_and_add(
    const int *weights, const int *x, int *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int w = i < n ? weights[i] : 0;
    int square = w * w;
    // In a program: cudaGridDependencySynchronize();
    asm volatile("griddepcontrol.wait;" ::: "memory");
    if (i < n)
        y[i] = square + x[i];
}
