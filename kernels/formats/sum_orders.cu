// Three ways to add the same float32 values, which round differently.
//
// What     sums[0] = x[0] + x[1] + ... in this order; sums[1] = the same with
//          Kahan's correction; sums[2] = a tree of pairs. n = 2^k >= 1 values;
//          x is overwritten by the tree.
// Idea     An addition rounds off the bits below the last place of the sum. Kahan
//          takes the error back from the next value; a tree adds values of
//          equal size.
// Launch   grid 1, block 1.
// Limits   One thread: this is about rounding, not about speed.
//
// expect: n=64 global_store_sectors = 66  # 63 sums of pairs, 3 results

__global__ void sum_orders(float *x, float *sums, int n)
{
    float plain = 0, kahan = 0, excess = 0;
    for (int i = 0; i < n; i++) {
        plain += x[i];
        float value = x[i] - excess;
        float next = kahan + value;
        excess = (next - kahan) - value; // what rounding has added
        kahan = next;
    }
    for (int apart = 1; apart < n; apart *= 2)
        for (int i = 0; i < n; i += 2 * apart)
            x[i] += x[i + apart];
    sums[0] = plain;
    sums[1] = kahan;
    sums[2] = x[0];
}
