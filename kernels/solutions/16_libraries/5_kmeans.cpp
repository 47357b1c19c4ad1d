// K-means: numbers move to the nearest center, and centers to their means.
#include "libraries/numbers.h"

// One step: x comes in any order, and may leave in another.
void step(Floats &x, Floats &centers) {
    int n = x.size();
    Ints labels(n), ones(n, 1), found(n), counts(n);
    Floats sums(n);
    thrust::transform(x.begin(), x.end(), labels.begin(), Nearest(centers));
    thrust::sort_by_key(labels.begin(), labels.end(), x.begin());
    auto ends = thrust::reduce_by_key(
        labels.begin(), labels.end(), x.begin(), found.begin(),
        sums.begin());
    thrust::reduce_by_key(
        labels.begin(), labels.end(), ones.begin(), found.begin(),
        counts.begin());
    int some = ends.first - found.begin();
    thrust::transform(
        sums.begin(), sums.begin() + some, counts.begin(),
        thrust::make_permutation_iterator(centers.begin(), found.begin()),
        thrust::divides<float>{});
}

int main(int count, char **words) { return kmeans(count, words, step); }
