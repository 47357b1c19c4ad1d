// Normalise: bytes of pictures become floats of mean 0 and deviation 1.
//
// What     x[i] = (pixels[i] / 255 - mean) / deviation, for n pixels >= 1; mean
//          and deviation are those of all pixels / 255 to learn from.
// Idea     Bytes travel to the device, a quarter of the traffic of floats.
// Launch   block 256; grid ceil(n / block).
// Limits   n below 2^31. Writes n floats that the first layer reads again; a
//          fused layer would read the bytes itself.
//
// expect: n=1024 global_load_sectors = 32    # 1024 B / 32 B
// expect: n=1024 global_store_sectors = 128  # 4096 B / 32 B

__global__ void normalise(
    const unsigned char *pixels, float *x, int n, float mean,
    float deviation)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = (pixels[i] / 255.0f - mean) / deviation;
}
