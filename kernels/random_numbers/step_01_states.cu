// Random numbers, step 1: each value has a generator of its own in memory.
//
// What     n floats from 2^-33 to 1, uniformly distributed. states has six
//          words per value, not all 0, and is advanced by one number.
// Math     xorwow (Marsaglia 2003): five words are shifted and mixed by
//          exclusive or; a sixth counts in steps of 362437, and is added.
// Idea     Thread i loads the state of value i, draws, and stores it.
// Launch   block 256 (any works); grid ceil(n / block).
// Limits   n below 2^28. 48 bytes of state are moved for 4 bytes of random
//          numbers; step 2 keeps the state in registers.
//
// expect: n=4096 global_load_sectors = 18432   # 4096 / 32 * 6 * 24: a lane
//                                              # every 24 B, 768 B per load
// expect: n=4096 global_store_sectors = 18944  # as many, and 4096 * 4 B / 32 B

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

__global__ void random_states(Xorwow *states, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        Xorwow state = states[i];
        out[i] = state.next() * 0x1p-32f + 0x1p-33f;
        states[i] = state;
    }
}
