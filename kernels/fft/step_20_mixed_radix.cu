// FFT, step 20: lengths with small factors, with the values in registers.
//
// What     X = Fourier transform of each row of x, complex float32, rows x LENGTH;
//          LENGTH the product of RADICES, each from 2 to 16. SIGN = 1: the inverse.
// Math     as in step 4, with one of RADICES in each stage. A radix of two factors
//          without a common one, such as 10 = 2 * 5, is a transform of both in turn.
// Idea     The compiler knows all radices. A value stays in a register for a whole
//          stage, and its way from one stage to the next is one row on the chip.
// Launch   block (THREADS, ROWS); grid ceil(rows / ROWS). Few threads are idle where
//          THREADS is LENGTH / R for one of the radices R.
// On chip  ROWS rows with gaps, at most 48 KiB: 8 KiB for a row of 1000 values.
// Limits   rows * LENGTH below 2^31. A row of more values needs step 21.
//
// expect: rows=3,length=1000,threads=100,share=2 global_load_sectors = 750   # 3 * 1000 * 8 B / 32 B
// expect: rows=3,length=1000,threads=100,share=2 global_store_sectors = 750  # as many
// expect: rows=1,length=1536,threads=96 shared_store_bank_conflicts = 0      # gaps
// expect: rows=1,length=1536,threads=96 shared_load_bank_conflicts = 0       # neighbours

#ifndef LENGTH
#define LENGTH 60
#endif
#ifndef RADICES
#define RADICES 6, 10  // their product is LENGTH
#endif
#ifndef THREADS
#define THREADS 6  // of a row
#endif
#ifndef ROWS
#define ROWS 1  // of a block
#endif
#include "mixed.cuh"

constexpr int RADIX[] = {RADICES}, STAGES = sizeof(RADIX) / sizeof(int);
constexpr int FIRST = RADIX[0], LAST = RADIX[STAGES - 1];
constexpr int VALUES = values_of<LENGTH, THREADS, RADICES>();
constexpr int PLACES = places_of<LENGTH, 1, RADICES>();
// The next row's first thread takes the bank after that of the last one.
constexpr int PITCH = PLACES + (THREADS + 15 * PLACES) % 16;

__global__ void __launch_bounds__(THREADS *ROWS)
fft_mixed_radix(const float2 *x, float2 *X, int rows)
{
    __shared__ float2 space[ROWS * PITCH];
    int t = threadIdx.x, row = blockIdx.x * ROWS + threadIdx.y;
    float2 v[VALUES] = {};
    for_values<LENGTH, THREADS, FIRST>(t, [&](int i, int b, int r) {
        if (row < rows)
            v[i] = x[row * LENGTH + b + r * (LENGTH / FIRST)];
    });
    float2 *own = space + threadIdx.y * PITCH;
    mixed_transform<LENGTH, THREADS, 1, 1, RADICES>(v, own, t);
    float by = SIGN > 0 ? 1.0f / LENGTH : 1.0f;
    for_values<LENGTH, THREADS, LAST>(t, [&](int i, int b, int r) {
        if (row < rows)
            X[row * LENGTH + b + r * (LENGTH / LAST)] = scaled(v[i], by);
    });
}
