// The transforms of a matrix's columns by one plan of cuFFT, and back.
//
// What     COLS transforms of ROWS complex values. The matrix lies by rows,
//          so that the values of a column are COLS elements apart.
// Build    nvcc -O3 -arch=native -o cufft_plan cufft_plan.cu -lcufft
// Run      ./cufft_plan
// Names    h_ is memory of the host, the CPU; d_ is memory of the device.
// Prints   PASS; or what went wrong, and where.

#include <cufft.h>

#include "checked.h"

const char *name_of(cufftResult status)
{
    switch (status) {
    case CUFFT_INVALID_PLAN: return "CUFFT_INVALID_PLAN";
    case CUFFT_ALLOC_FAILED: return "CUFFT_ALLOC_FAILED";
    case CUFFT_INVALID_VALUE: return "CUFFT_INVALID_VALUE";
    case CUFFT_INVALID_SIZE: return "CUFFT_INVALID_SIZE";
    case CUFFT_INTERNAL_ERROR: return "CUFFT_INTERNAL_ERROR";
    default: return "another cufftResult";
    }
}

int main()
{
    const int ROWS = 64, COLS = 5;
    std::vector<cufftComplex> h_x(ROWS * COLS);
    for (int i = 0; i < ROWS * COLS; i++)
        h_x[i] = {float(i % 7) - 3, float(i % 11) - 5};
    OnDevice<cufftComplex> d_x(h_x), d_y(ROWS * COLS);

    // From value to value of a column: COLS; from column to column: 1.
    // inembed must not be null: cuFFT then ignores stride and distance.
    int length[] = {ROWS}, embed[] = {ROWS};
    cufftHandle plan;
    CHECK(cufftPlanMany(&plan, 1, length, embed, COLS, 1,
                        embed, COLS, 1, CUFFT_C2C, COLS));
    CHECK(cufftExecC2C(plan, d_x.data, d_y.data, CUFFT_FORWARD));
    std::vector<cufftComplex> h_y = d_y.to_host();
    CHECK(cufftExecC2C(plan, d_y.data, d_y.data, CUFFT_INVERSE));
    CHECK(cufftDestroy(plan));

    std::vector<cufftComplex> back = d_y.to_host();
    std::vector<float> found;
    std::vector<double> exact;
    for (int col = 0; col < COLS; col++) {
        double real = 0, imag = 0;  // frequency 0 is the sum
        for (int row = 0; row < ROWS; row++) {
            const cufftComplex &x = h_x[row * COLS + col];
            real += x.x, imag += x.y;
            // Nobody has divided: there and back is ROWS times as much.
            found.push_back(back[row * COLS + col].x / ROWS);
            exact.push_back(x.x);
        }
        found.insert(found.end(), {h_y[col].x, h_y[col].y});
        exact.insert(exact.end(), {real, imag});
    }
    if (!(worst(found, exact) < 1e-3)) {
        std::fprintf(stderr, "FAIL: off by %g\n", worst(found, exact));
        return EXIT_FAILURE;
    }
    std::puts("PASS");
}
