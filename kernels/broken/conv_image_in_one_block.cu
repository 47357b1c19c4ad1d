// Filter and ReLU of an image that a block keeps in shared memory.
//
// What     out = max(0, x filtered by w) in float32; x is rows x cols, w is
//          3 x 3, out is (rows - 2) x (cols - 2), all row-major.
// Math     out[r][c] = max(0, sum of w[i][j] * x[r + i][c + j])
// Launch   block 256 (any size works); grid 1.
// On chip  1024 * 4 B = 4 KiB of shared memory.
// Defect   The image has to fit: 32 x 32 does, 33 x 32 does not.
// Repair   Let the launch say how much is needed, `extern __shared__`; beyond
//          what a block can have, give each block a tile with its halo.
//
// finds: rows=33,cols=32 OutOfBoundsError line 20
// finds: rows=33,cols=32 memcheck OutOfBoundsError line 20

__global__ void conv_relu(
    const float *x, const float *w, float *out, int rows, int cols)
{
    __shared__ float image[1024];
    for (int i = threadIdx.x; i < rows * cols; i += blockDim.x)
        image[i] = x[i];
    __syncthreads();  // the image is complete
    int wide = cols - 2;
    for (int i = threadIdx.x; i < (rows - 2) * wide; i += blockDim.x) {
        const float *corner = image + i / wide * cols + i % wide;
        float sum = 0.0f;
        for (int k = 0; k < 9; k++)
            sum += w[k] * corner[k / 3 * cols + k % 3];
        out[i] = fmaxf(sum, 0.0f);
    }
}
