// Scaling: multiply every element by one number.
//
// What     y = s * x in float32, for n elements, any n >= 1.
// Math     y[i] = s * x[i] for i in [0, n)
// Idea     A number that all threads share is a parameter, not an array.
// Launch   block 256 (any works); grid ceil(n / block).
// Limits   n below 2^31. Run after vec_add.cu it reads again what that
//          kernel wrote; add_scale.cu spares the round trip.
//
// expect: n=1000 bytes_read = 4000     # one array
// expect: n=1000 bytes_written = 4000  # one array

__global__ void scale(const float *x, float s, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = s * x[i];
}
