// K-means: numbers move to the nearest center, and centers to their means.
#include "libraries/numbers.h"

// One step: x comes in any order, and may leave in another.
void step(Floats &x, Floats &centers) {
    int n = x.size();
    Ints labels(n), ones(n, 1), found(n), counts(n);
    Floats sums(n);
    thrust::transform(x.begin(), x.end(), labels.begin(), Nearest(centers));
    int some = 0;
    // Your code here: sort x by labels, add up x and ones per label, and
    // set `some` to how many labels there are. The rest is written.
    thrust::transform(
        sums.begin(), sums.begin() + some, counts.begin(),
        thrust::make_permutation_iterator(centers.begin(), found.begin()),
        thrust::divides<float>{});
}

int main(int count, char **words) { return kmeans(count, words, step); }
