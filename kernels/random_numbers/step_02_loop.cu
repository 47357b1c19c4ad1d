// Random numbers, step 2: a thread keeps its generator and draws many values.
//
// What     n floats from 2^-33 to 1, uniformly distributed. states has six
//          words per thread, not all 0, and is advanced.
// Math     xorwow (Marsaglia 2003): five words are shifted and mixed by
//          exclusive or; a sixth counts in steps of 362437, and is added.
// Idea     The state stays in registers: it is loaded and stored once per
//          thread, not once per value.
// Launch   block 256 (any works); any grid; one state per thread.
// Limits   n below 2^30, and less than 2^30 threads. Which value stands
//          where depends on the number of threads, and thread 0's thousandth
//          value needs the 999 before it; step 3 has no state.
//
// expect: n=4096,grid=1 global_load_sectors = 1152   # 256 / 32 * 6 * 24
// expect: n=4096,grid=1 global_store_sectors = 1664  # as many, and 512

struct Xorwow {
    unsigned x, y, z, w, v, counter;

    __device__ unsigned next()
    {
        unsigned mixed = x ^ (x >> 2);
        x = y, y = z, z = w, w = v;
        v = (v ^ (v << 4)) ^ (mixed ^ (mixed << 1));
        counter += 362437;
        return v + counter;
    }
};

__global__ void random_loop(Xorwow *states, float *out, int n)
{
    int first = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x;
    Xorwow state = states[first];
    for (int i = first; i < n; i += threads)
        out[i] = state.next() * 0x1p-32f + 0x1p-33f;
    states[first] = state;
}
