// Squares in one block, which works until n passes 1024.
//
// What     x[i] = x[i] * x[i] in float32, for n elements.
// Math     x[i] becomes x[i] * x[i] for i in [0, n)
// Launch   block n; grid 1.
// Defect   A block has at most 1024 threads, so n = 1025 cannot launch.
//          The index leaves out the block and could not use a second one.
// Repair   Count the blocks in, as start/vec_add.cu does.
//
// finds: n=1025 LaunchError

__global__ void square(float *x)
{
    int i = threadIdx.x;
    x[i] = x[i] * x[i];
}
