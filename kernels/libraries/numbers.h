// What the programs of chapter 16c begin with: Thrust's headers, short names for its
// vectors, and numbers from the words behind a program's name.

#pragma once

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include <thrust/device_vector.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>

using Floats = thrust::device_vector<float>;
using Ints = thrust::device_vector<int>;

// Words from number `first` on, and from there every one that is `apart` further.
template <class Numbers>
Numbers numbers(int count, char **words, int first = 1, int apart = 1)
{
    Numbers found;
    for (int i = first; i < count; i += apart)
        found.push_back(std::atof(words[i]));
    return found;
}

// The index of the nearest center.
struct Nearest {
    const float *centers;
    int count;

    explicit Nearest(const Floats &all)
        : centers(thrust::raw_pointer_cast(all.data())), count(all.size())
    {
    }

    __host__ __device__ int operator()(float x) const
    {
        int best = 0;
        for (int c = 1; c < count; c++)
            if (std::abs(x - centers[c]) < std::abs(x - centers[best]))
                best = c;
        return best;
    }
};

// Ten steps from three centers; prints where these are then.
template <class Step>
int kmeans(int count, char **words, Step step)
{
    Floats x = numbers<Floats>(count, words), centers{0, 1, 100};
    for (int round = 0; round < 10; round++)
        step(x, centers);
    for (int c = 0; c < 3; c++)
        std::printf("%g\n", float(centers[c]));
    return 0;
}
