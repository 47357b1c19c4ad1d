// Macro: the square of any expression, wherever it stands.
#include <cstdio>
#include <cstdlib>

// Your code here: change this line.
#define SQUARE(x) x * x

int main(int, char **words) {
    int n = std::atoi(words[1]);
    std::printf("%d\n", SQUARE(n));
    std::printf("%d\n", SQUARE(n + 1));
    std::printf("%d\n", 100 / SQUARE(n));
}
