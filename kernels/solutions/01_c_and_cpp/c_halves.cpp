// Halves: the sum of n >= 1 numbers is that of its two halves.
#include <cstdio>
#include <cstdlib>

float sum(char **words, int n) {
    if (n == 1) return std::atof(words[0]);
    int half = n / 2;
    return sum(words, half) + sum(words + half, n - half);
}

int main(int count, char **words) {
    std::printf("%.1f\n", sum(words + 1, count - 1));
}
