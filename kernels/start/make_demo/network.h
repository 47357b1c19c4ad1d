// What main.cpp and network.cpp both know: the struct, and one declaration.
#pragma once

struct Network {
    float w1, b1;
};

float predict(const Network *nn, float x);
