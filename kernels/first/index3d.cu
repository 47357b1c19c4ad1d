// Three dimensions: every thread says where it is, and which number that is.
//
// What     One line of text from each thread of a grid of up to three
//          dimensions: its block, its place in the block, its number.
// Math     block = x + gridDim.x * (y + gridDim.y * z), thread likewise;
//          number = block * threads a block + thread
// Idea     Three coordinates become one number, x running fastest.
// Launch   Any grid and block of up to three dimensions; no arguments.
// Limits   At most 2^32 threads. Only for looking around: vec_add_*.cu use
//          such numbers for work.

__global__ void index3d()
{
    unsigned block = blockIdx.x
                   + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    unsigned thread = threadIdx.x
                    + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    unsigned threads = blockDim.x * blockDim.y * blockDim.z;
    printf("block (%u,%u,%u) thread (%u,%u,%u) is number %u\n",
           blockIdx.x, blockIdx.y, blockIdx.z,
           threadIdx.x, threadIdx.y, threadIdx.z, block * threads + thread);
}
