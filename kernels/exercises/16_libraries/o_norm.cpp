// Norm: the square root of the sum of squares, in one call of Thrust.
#include "libraries/numbers.h"

struct Square {
    __host__ __device__ float operator()(float x) const { return x; }
};

int main(int count, char **words) {
    auto x = numbers<Floats>(count, words);
    // Your code here, and in Square: transform_reduce in place of reduce.
    float sum = thrust::reduce(x.begin(), x.end(), 0.0f);
    std::printf("%g\n", std::sqrt(sum));
}
