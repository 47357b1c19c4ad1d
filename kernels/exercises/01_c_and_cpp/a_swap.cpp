// Swap: the two numbers whose addresses arrive change places.
#include <cstdio>
#include <cstdlib>

void swap(int *a, int *b) {
    // Your code here, three lines: the first keeps what a points to.
}

int main(int, char **words) {
    int left = std::atoi(words[1]), right = std::atoi(words[2]);
    swap(&left, &right);
    std::printf("%d %d\n", left, right);
}
