// Heat along a rod, step 4: all rounds in one launch, with a barrier of the grid.
//
// What     `rounds` rounds of heat flow along n places of a rod, in float32,
//          any n >= 1; both ends keep their temperature. x and y take turns:
//          the result is in x after an even number of rounds, else in y.
// Math     as in heat_step.cu
// Idea     A cooperative launch promises that all blocks run at once, so
//          they can wait for each other.
// Launch   cooperative; block 256 (any works); any grid that the device
//          holds at once, fewer blocks than ceil(n / block) included.
// Limits   n plus the threads of the grid below 2^31. The grid is as large
//          as the device at most, hence the loop over elements.

#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void heat_grid(float *x, float *y, int n, int rounds)
{
    cg::grid_group grid = cg::this_grid();
    int first = grid.thread_rank(), threads = grid.size();
    float *old = x, *next = y;
    for (int round = 0; round < rounds; round++) {
        for (int i = first; i < n; i += threads) {
            bool inner = 0 < i && i < n - 1;
            float here = old[i];
            next[i] = inner
                ? 0.25f * (old[i - 1] + 2.0f * here + old[i + 1])
                : here;
        }
        float *written = next;
        next = old;
        old = written;
        grid.sync();  // every block has finished the round
    }
}
