// Overflow: the same product in three types.
//
// What     The bytes of a matrix of n x n floats, computed in int, unsigned and size_t.
// Run      overflow 40000
// Prints   A line per type. The int is wrong from n = 23171, the unsigned from 32768.

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 1000;
    unsigned m = n;
    size_t wide = n;
    printf("size_t    %zu bytes\n", wide * wide * sizeof(float));
    printf("unsigned  %u bytes\n", m * m * 4);
    printf("int       %d bytes\n", n * n * 4);
}
