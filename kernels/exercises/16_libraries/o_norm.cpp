// Norm: the square root of the sum of squares, in one call of Thrust.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <thrust/device_vector.h>
#include <thrust/transform_reduce.h>

struct Square {
    __host__ __device__ float operator()(float x) const {
        return x;  // Your code here, and in main.
    }
};

int main(int count, char **words) {
    thrust::device_vector<float> x;
    for (int i = 1; i < count; i++)
        x.push_back(std::atof(words[i]));
    // Your code here: transform_reduce applies a functor before it adds.
    float sum = thrust::reduce(x.begin(), x.end(), 0.0f);
    std::printf("%g\n", std::sqrt(sum));
}
