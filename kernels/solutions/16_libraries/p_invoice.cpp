// Invoice: the sum of quantities times prices, which an index looks up.
#include "libraries/numbers.h"

int main(int count, char **words) {
    Floats prices{2.5f, 10, 4, 0.5f};
    auto articles = numbers<Ints>(count, words, 1, 2);
    auto quantities = numbers<Ints>(count, words, 2, 2);
    auto price = thrust::make_permutation_iterator(
        prices.begin(), articles.begin());
    float sum = thrust::inner_product(
        price, price + articles.size(), quantities.begin(), 0.0f);
    std::printf("%g\n", sum);
}
