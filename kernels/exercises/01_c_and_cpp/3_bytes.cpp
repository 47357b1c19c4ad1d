// Bytes: the size of a matrix of floats, for matrices of any size.
#include <cstdio>
#include <cstdlib>

std::size_t bytes(int rows, int cols) {
    // Your code here: change this line. It is wrong for large matrices.
    return rows * cols * sizeof(float);
}

int main(int, char **words) {
    int rows = std::atoi(words[1]), cols = std::atoi(words[2]);
    std::printf("%zu\n", bytes(rows, cols));
}
