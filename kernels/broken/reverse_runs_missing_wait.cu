// Runs of 256 elements in reverse, through copies that nobody waits for.
//
// What     y holds the elements of x, each run of 256 in reverse order;
//          n elements, n a multiple of 256.
// Math     y[256 b + t] = x[256 b + 255 - t] for t in [0, 256)
// Launch   block 256; grid n / 256.
// On chip  256 * 4 B = 1 KiB of shared memory per block.
// Defect   The copies run on their own. __syncthreads() waits for threads,
//          not for their copies: the tile may still be on its way.
// Repair   Call __pipeline_wait_prior(0) before the barrier.
//
// finds: n=512 racecheck DataRaceError line 28
// finds: n=512 initcheck UninitializedReadError line 28
// finds: n=512 synccheck BarrierError line 28
// needs: sm_80

#include <cuda_pipeline.h>

__global__ void reverse_runs(const float *x, float *y, int n)
{
    __shared__ float tile[256];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    __pipeline_memcpy_async(&tile[t], &x[i], sizeof(float));
    __pipeline_commit();
    __syncthreads();  // all threads are here

    y[i] = tile[255 - t];
}
