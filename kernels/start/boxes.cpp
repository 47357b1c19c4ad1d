// Boxes: variables, their addresses, and a pointer that changes one of them.
//
// What     A float, a pointer to it, a pointer to that pointer, and an array.
// Run      boxes
// Prints   The float, after it was changed through its address.

#include "coursekit_boxes.h"

int main() {
    float weight = 0.5f;
    float *p = &weight;  // p holds the address of weight
    float **pp = &p;     // pp holds the address of p
    float row[4] = {1, 2, 3, 4};
    SHOW(weight);
    SHOW(p);
    SHOW(pp);
    SHOW(row);
    *p = 2.5f;  // the float at that address changes
    SHOW(weight);
    p = &row[2];
    SHOW(p);
    std::printf("%g %g\n", weight, **pp);
}
