// Uniform floats by cuRAND's host interface, on the CPU and on the GPU.
//
// What     n floats of Philox from 2^-33 to 1 by two generators with one
//          seed. They are equal, bit for bit, in the order LEGACY.
// Build    nvcc -O3 -arch=native -o curand_host curand_host.cu -lcurand
// Run      ./curand_host
// Names    h_ is memory of the host, the CPU; d_ is memory of the device.
// Prints   The first values of the CPU, for which no GPU is needed; then
//          PASS, or what went wrong, and where.

#include <curand.h>

#include "checked.h"

const char *name_of(curandStatus_t status)
{
    switch (status) {
    case CURAND_STATUS_TYPE_ERROR: return "CURAND_STATUS_TYPE_ERROR";
    case CURAND_STATUS_OUT_OF_RANGE: return "CURAND_STATUS_OUT_OF_RANGE";
    case CURAND_STATUS_LENGTH_NOT_MULTIPLE:
        return "CURAND_STATUS_LENGTH_NOT_MULTIPLE";
    case CURAND_STATUS_INITIALIZATION_FAILED:
        return "CURAND_STATUS_INITIALIZATION_FAILED";
    default: return "another curandStatus_t";
    }
}

// What both generators have in common: they differ in where they run.
void configure(curandGenerator_t generator)
{
    CHECK(curandSetPseudoRandomGeneratorSeed(generator, 1234ull));
    CHECK(curandSetGeneratorOffset(generator, 0));
    CHECK(curandSetGeneratorOrdering(generator,
                                     CURAND_ORDERING_PSEUDO_LEGACY));
}

int main()
{
    const size_t n = 1 << 20;
    std::vector<float> h_x(n);
    curandGenerator_t on_host, on_device;
    CHECK(curandCreateGeneratorHost(&on_host,
                                    CURAND_RNG_PSEUDO_PHILOX4_32_10));
    configure(on_host);
    CHECK(curandGenerateUniform(on_host, h_x.data(), n));
    CHECK(curandDestroyGenerator(on_host));
    std::printf("%.6f %.6f %.6f %.6f\n", h_x[0], h_x[1], h_x[2], h_x[3]);

    OnDevice<float> d_x(n);
    CHECK(curandCreateGenerator(&on_device,
                                CURAND_RNG_PSEUDO_PHILOX4_32_10));
    configure(on_device);
    CHECK(curandGenerateUniform(on_device, d_x.data, n));
    CHECK(curandDestroyGenerator(on_device));

    std::vector<float> found = d_x.to_host();  // waits for the generator
    if (found != h_x) {
        std::fprintf(stderr, "FAIL: CPU and GPU differ\n");
        return EXIT_FAILURE;
    }
    std::puts("PASS");
}
