// Reading shared memory with a stride: which banks the lanes of a warp ask.
//
// What     y[lane] = word `lane * stride` of a tile that holds x, in float32;
//          x has 1024 elements, y 32; stride from 0 to 33.
// Math     y[lane] = x[lane * stride] for lane in [0, 32)
// Idea     Word w of shared memory lies in bank w % 32, and a bank gives out
//          one word at a time.
// Launch   block 32; grid 1.
// On chip  1024 * 4 B = 4 KiB of shared memory a block.
// Limits   One warp, and 4 bytes a lane; read_wide.cu takes up to 16.
//
// expect: n=1024,stride=1 shared_load_bank_conflicts = 0    # 32 words in 32 banks
// expect: n=1024,stride=0 shared_load_wavefronts = 1        # one word for all lanes
// expect: n=1024,stride=2 shared_load_wavefronts = 2        # 16 banks, 2 words in each
// expect: n=1024,stride=32 shared_load_bank_conflicts = 31  # 32 words in one bank
// expect: n=1024,stride=33 shared_load_bank_conflicts = 0   # 33 is odd

__global__ void read_banks(const float *x, float *y, int stride)
{
    __shared__ float tile[1024];
    int lane = threadIdx.x;
    for (int word = lane; word < 1024; word += 32)
        tile[word] = x[word];
    __syncthreads();  // the tile is complete before others' words are read
    y[lane] = tile[lane * stride];
}
