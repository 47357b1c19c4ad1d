// Halves: a sum of n >= 1 floats is the sum of its two halves.
#include <cstdio>
#include <cstdlib>
#include <vector>

float sum(const float *x, int n) {
    if (n == 1) return x[0];
    int half = n / 2;
    return sum(x, half) + sum(x + half, n - half);
}

int main(int, char **words) {
    std::vector<float> x(std::atoi(words[1]), 0.1f);
    x[0] = 3;
    std::printf("%.1f\n", sum(x.data(), x.size()));
}
