// Five algorithms of Thrust, with a functor of our own and with iterators.
//
// What     Numbers 1 to 12 by a counting iterator; their squares; running sums;
//          every third of these, looked up; the largest remainder by 7.
// Build    nvcc -O3 -std=c++17 -arch=native -o thrust_pipeline thrust_pipeline.cu
// CPU      g++ -x c++ -std=c++17 -DTHRUST_DEVICE_SYSTEM=THRUST_DEVICE_SYSTEM_CPP
//          -D__host__= -D__device__= -I$CUDA_HOME/include/cccl
//          -o thrust_pipeline thrust_pipeline.cu
// Run      ./thrust_pipeline
// Prints   PASS, after what each step found; or which error Thrust has thrown.

#include <cstdio>
#include <exception>

#include <thrust/device_vector.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>

struct Square {
    __host__ __device__ int operator()(int x) const { return x * x; }
};

struct Remainder {
    int by;
    __host__ __device__ int operator()(int x) const { return x % by; }
};

bool found()
{
    const int n = 12;
    // A counting iterator is an array that nobody has stored.
    thrust::counting_iterator<int> one(1);
    thrust::device_vector<int> squares(n), sums(n), third(n / 3);
    thrust::transform(one, one + n, squares.begin(), Square{});
    thrust::inclusive_scan(squares.begin(), squares.end(), sums.begin());

    // Indices 2, 5, 8, 11 are stored; what they look up is not.
    for (int i = 0; i < n / 3; i++)
        third[i] = 3 * i + 2;
    auto chosen = thrust::make_permutation_iterator(
        sums.begin(), third.begin());
    int total = thrust::reduce(chosen, chosen + n / 3, 0);

    // One pass: the remainders are stored nowhere.
    int largest = thrust::transform_reduce(
        squares.begin(), squares.end(), Remainder{7}, 0,
        thrust::maximum<int>{});
    thrust::sort(squares.begin(), squares.end(), thrust::greater<int>{});
    int first = squares[0];  // one element, copied from the device
    std::printf("%d %d %d\n", total, largest, first);
    return total == 14 + 91 + 285 + 650 && largest == 4 && first == 144;
}

int main()
{
    try {
        if (!found())
            return 1;
    } catch (const std::exception &error) {  // Thrust throws; no CHECK
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    std::puts("PASS");
}
