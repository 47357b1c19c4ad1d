// Prints what a network of one weight predicts for the number it is given.
#include <cstdio>
#include <cstdlib>

#include "network.h"

int main(int, char **words) {
    Network nn = {2.0f, 0.5f};
    std::printf("%g\n", predict(&nn, std::atof(words[1])));
}
