// Vector addition, step 1: one thread walks through the whole array.
//
// What     c = a + b in float32, for n elements, any n >= 1.
// Math     c[i] = a[i] + b[i] for i in [0, n)
// Idea     The loop of a CPU runs on a GPU as it is.
// Launch   block 1; grid 1.
// Limits   n below 2^31. One lane of one warp works, and each load brings
//          one value; the next step shares the loop among 256 threads.
//
// expect: n=1000 global_load_requests = 2000  # 1000 turns * 2 loads
// expect: n=1000 global_load_sectors = 2000   # 1 sector for each value
// expect: n=1000 global_store_sectors = 1000  # again one each
// expect: n=1000 flops_fp32 = 1000            # one addition an element

__global__ void vec_add_one_thread(
    const float *a, const float *b, float *c, int n)
{
    for (int i = 0; i < n; i++)
        c[i] = a[i] + b[i];
}
