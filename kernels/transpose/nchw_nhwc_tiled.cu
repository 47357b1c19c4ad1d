// Channels last through tiles: rows of pixels in, rows of channels out.
//
// What     out = x with channels last, in float32: x is N x C x H x W, out is
//          N x H x W x C, for HW = H * W pixels; any sizes >= 1.
// Math     out[image][pixel][channel] = x[image][channel][pixel]
// Idea     Step 3 of this ladder for each image: a tile of 32 channels and 32
//          pixels turns around in padded shared memory.
// Launch   block (32, 8); grid (ceil(HW / 32), ceil(C / 32), N); a thread
//          moves four values.
// On chip  32 * 33 * 4 B = 4.125 KiB of shared memory a block.
// Limits   N * C * HW below 2^31. With C far below 32 most lanes have no
//          channel to write; such images need tiles of another shape.
//
// expect: N=1,C=HW=64 global_store_sectors = 512      # 4096 * 4 B / 32 B
// expect: N=1,C=HW=64 shared_load_bank_conflicts = 0  # a column lies in 32 banks

constexpr int TILE = 32, STEP = 8;

__global__ void nchw_nhwc_tiled(const float *x, float *out, int C, int HW)
{
    __shared__ float tile[TILE][TILE + 1];
    int image = blockIdx.z * C * HW;  // where it begins, in both arrays
    int pixel = blockIdx.x * TILE + threadIdx.x;
    for (int down = threadIdx.y; down < TILE; down += STEP) {
        int channel = blockIdx.y * TILE + down;
        if (pixel < HW && channel < C)
            tile[down][threadIdx.x] = x[image + channel * HW + pixel];
    }
    __syncthreads();  // the tile is complete before it is read crosswise
    int channel = blockIdx.y * TILE + threadIdx.x;
    for (int down = threadIdx.y; down < TILE; down += STEP) {
        int out_pixel = blockIdx.x * TILE + down;
        if (out_pixel < HW && channel < C)
            out[image + out_pixel * C + channel] = tile[threadIdx.x][down];
    }
}
