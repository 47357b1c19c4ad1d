// The first of two kernels: it lets the next one come before it has ended.
//
// What     x[i] += 1 for i in [0, n), in int32.
// Idea     As soon as the next kernel may take up room, a block says so. The later it does, the less can overlap.
// Launch   block any; grid ceil(n / block.x). The next launch in the stream must ask for programmatic serialisation.
// Limits   The message orders nothing: who needs x waits for the whole grid, as square_and_add.cu does.
//
// needs: sm_90
// expect: n=1024 global_load_sectors = 128    # 4096 B / 32 B

__global__ void count_up(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += 1;
    // In a program: cudaTriggerProgrammaticLaunchCompletion();
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
