// Norm: the square root of the sum of squares, in one call of Thrust.
#include "libraries/numbers.h"

struct Square {
    __host__ __device__ float operator()(float x) const { return x * x; }
};

int main(int count, char **words) {
    auto x = numbers<Floats>(count, words);
    float sum = thrust::transform_reduce(
        x.begin(), x.end(), Square{}, 0.0f, thrust::plus<float>{});
    std::printf("%g\n", std::sqrt(sum));
}
