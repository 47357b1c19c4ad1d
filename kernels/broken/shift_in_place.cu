// Move all elements down by one, in place.
//
// What     x[i] = x[i + 1] in float32, for n elements; the last one stays.
// Math     x[i] becomes x[i + 1] for i in [0, n - 1)
// Launch   block 256; grid ceil(n / block).
// Defect   A thread writes x[i] while its neighbour may still have to read
//          it. Nothing orders threads of one launch without a barrier,
//          and no barrier orders blocks.
// Repair   Write to a second array.
//
// finds: n=1000 racecheck DataRaceError line 17

__global__ void shift(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n - 1)
        x[i] = x[i + 1];
}
