// Points, step 2: each coordinate has an array of its own.
//
// What     squares[i] = squared distance of point i from the origin, in
//          float32; points is 3 x n, row-major, any n >= 1.
// Math     squares[i] = points[0][i]^2 + points[1][i]^2 + points[2][i]^2
// Idea     A structure of arrays: neighbouring lanes read neighbours.
// Launch   block 256 (any works); grid ceil(n / block).
// Limits   3 * n below 2^31. Rows begin at a sector only where n is a
//          multiple of 8. All coordinates of one point now lie far apart,
//          which is bad for a thread that wants just that point.
//
// expect: n=1024 global_load_requests = 96  # as many as before
// expect: n=1024 global_load_sectors = 384  # 4 each

__global__ void points_apart(const float *points, float *squares, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float x = points[i];
        float y = points[n + i];
        float z = points[2 * n + i];
        squares[i] = x * x + y * y + z * z;
    }
}
