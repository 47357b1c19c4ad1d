// A message from one block to the others, with a flag like any other int.
//
// What     Block 0 stores the squares of 0 to blockDim.x - 1 in `data` and
//          raises `flag`, which starts as 0; every other block b waits for
//          it and copies `data` to row b - 1 of `out`, int32.
// Math     out[(b - 1) * blockDim.x + t] = t * t for b in [1, gridDim.x)
// Launch   block any; grid 2 or more, at most as many as run at once.
// Defect   Nothing orders the flag and the data, and a compiler may read
//          the flag once and never again.
// Repair   A release store and an acquire load of an atomic flag.
//
// finds: n=4 racecheck DataRaceError line 24

__global__ void message(int *data, int *flag, int *out)
{
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        data[t] = t * t;
        __syncthreads();  // the whole block has written
        if (t == 0)
            *flag = 1;
        return;
    }
    if (t == 0)
        while (*flag == 0) {}
    __syncthreads();  // the flag is up, for the whole block
    out[(blockIdx.x - 1) * blockDim.x + t] = data[t];
}
