// Points, step 1: the three numbers of a point lie together.
//
// What     squares[i] = squared distance of point i from the origin, in
//          float32; points is n x 3, row-major, any n >= 1.
// Math     squares[i] = points[i][0]^2 + points[i][1]^2 + points[i][2]^2
// Idea     An array of points, as one writes it in C and in NumPy.
// Launch   block 256 (any works); grid ceil(n / block).
// Limits   3 * n below 2^31. The lanes read every third float, so each
//          of three loads touches the same 12 sectors; points_apart.cu
//          touches 4 in each.
//
// expect: n=1024 global_load_requests = 96   # 32 warps * 3 coordinates
// expect: n=1024 global_load_sectors = 1152  # 12 each

__global__ void points_together(const float *points, float *squares, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float x = points[3 * i];
        float y = points[3 * i + 1];
        float z = points[3 * i + 2];
        squares[i] = x * x + y * y + z * z;
    }
}
