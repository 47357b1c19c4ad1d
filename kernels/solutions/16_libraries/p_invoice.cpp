// Invoice: the sum of quantities times prices, which an index looks up.
#include <cstdio>
#include <cstdlib>
#include <thrust/device_vector.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/permutation_iterator.h>

int main(int count, char **words) {
    thrust::device_vector<float> prices{2.5f, 10, 4, 0.5f};
    thrust::device_vector<int> articles, quantities;
    for (int i = 1; i + 1 < count; i += 2) {
        articles.push_back(std::atoi(words[i]));
        quantities.push_back(std::atoi(words[i + 1]));
    }
    int n = articles.size();
    auto price = thrust::make_permutation_iterator(
        prices.begin(), articles.begin());
    float sum = thrust::inner_product(
        price, price + n, quantities.begin(), 0.0f);
    std::printf("%g\n", sum);
}
