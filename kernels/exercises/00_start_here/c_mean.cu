// Mean: each thread takes the mean of one pair of elements.
__global__ void mean(const float *a, const float *b, float *c, int n)
{
    // Your code here, three lines: index, guard, and the mean of a and b.
}
