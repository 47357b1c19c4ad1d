// K-means: numbers move to the nearest center, and centers to their means.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <thrust/device_vector.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>
#include <thrust/transform.h>

struct Nearest {
    const float *centers;
    int k;
    __host__ __device__ int operator()(float x) const {
        int best = 0;
        for (int c = 1; c < k; c++)
            if (std::abs(x - centers[c]) < std::abs(x - centers[best]))
                best = c;
        return best;
    }
};

using Floats = thrust::device_vector<float>;

// One step: x comes in any order, and may leave in another.
void step(Floats &x, Floats &centers) {
    int n = x.size(), k = centers.size();
    thrust::device_vector<int> labels(n), ones(n, 1), found(k), counts(k);
    Floats sums(k);
    Nearest nearest{thrust::raw_pointer_cast(centers.data()), k};
    thrust::transform(x.begin(), x.end(), labels.begin(), nearest);
    // Your code here: sort x by labels, add up x and ones for each label, and
    // divide. A center without numbers stays where it is.
}

int main(int count, char **words) {
    Floats centers{0, 1, 100}, x;
    for (int i = 1; i < count; i++)
        x.push_back(std::atof(words[i]));
    for (int round = 0; round < 10; round++)
        step(x, centers);
    for (int c = 0; c < 3; c++)
        std::printf("%g\n", float(centers[c]));
}
