// Allocate: the caller's pointer receives a block of n floats.
#include <cstdio>
#include <cstdlib>

void allocate(float **values, int n) {
    *values = static_cast<float *>(std::malloc(n * sizeof(float)));
}

int main(int, char **words) {
    int n = std::atoi(words[1]);
    float *squares = nullptr;
    allocate(&squares, n);
    for (int i = 0; i < n; i++)
        squares[i] = i * i;
    std::printf("%g\n", squares[n - 1]);
    std::free(squares);
}
