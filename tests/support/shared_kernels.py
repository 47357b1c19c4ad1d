"""Kernels whose shared accesses the assembler joins, keeps apart, or moves."""

# TILE is replaced; the reads of a_tile are joined, those of b_tile are not.
TILED = """__global__ void k(const float* a, const float* b, float* c, int n) {
  __shared__ float a_tile[TILE][TILE], b_tile[TILE][TILE];
  int col = blockIdx.x * TILE + threadIdx.x;
  int row = blockIdx.y * TILE + threadIdx.y;
  float sum = 0;
  for (int k0 = 0; k0 < n; k0 += TILE) {
    a_tile[threadIdx.y][threadIdx.x] = a[row * n + k0 + threadIdx.x];
    b_tile[threadIdx.y][threadIdx.x] = b[(k0 + threadIdx.y) * n + col];
    __syncthreads();
    for (int k = 0; k < TILE; ++k)
      sum += a_tile[threadIdx.y][k] * b_tile[k][threadIdx.x];
    __syncthreads();
  }
  c[row * n + col] = sum;
}"""
# A block of 256 threads makes 64 x 64 values, a thread 4 x 4; the scalar reads
# of a column of 4 values become one, and ptxas unrolls the loop over k again.
REGISTERS = """__global__ void k(const float* a, const float* b, float* c, int n) {
  __shared__ float a_tile[8][64], b_tile[8][64];
  int x = threadIdx.x % 16 * 4, y = threadIdx.x / 16 * 4;
  float sum[4][4] = {};
  for (int k0 = 0; k0 < n; k0 += 8) {
    for (int i = threadIdx.x; i < 512; i += 256) {
      a_tile[i % 8][i / 8] = a[(blockIdx.y * 64 + i / 8) * n + k0 + i % 8];
      b_tile[i / 64][i % 64] = b[(k0 + i / 64) * n + blockIdx.x * 64 + i % 64];
    }
    __syncthreads();
    for (int k = 0; k < 8; ++k)
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) sum[i][j] += a_tile[k][y + i] * b_tile[k][x + j];
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j)
      c[(blockIdx.y * 64 + y + i) * n + blockIdx.x * 64 + x + j] = sum[i][j];
}"""
# The same with float4 for b, which is wide in the PTX already.
REGISTERS_FLOAT4 = (
    REGISTERS.replace(
        "    for (int k = 0; k < 8; ++k)\n",
        "    for (int k = 0; k < 8; ++k) {\n"
        "      float4 v = *(float4*)&b_tile[k][x];\n"
        "      float four[4] = {v.x, v.y, v.z, v.w};\n",
    )
    .replace("b_tile[k][x + j];", "four[j];\n    }")
    .replace("float a_tile[8][64], b", "__align__(16) float a_tile[8][64], b")
)
# The last step reads s[t] and s[t + 1]: neighbours, but not aligned.
REDUCTION = """__global__ void k(const float* x, float* out) {
  __shared__ float s[256];
  int t = threadIdx.x;
  s[t] = x[blockIdx.x * 256 + t];
  __syncthreads();
  for (int h = 128; h > 0; h /= 2) {
    if (t < h) s[t] += s[t + h];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}"""
# Three of four words are read as four; three stores are a pair and one.
THREE_WORDS = """__global__ void k(const float* x, float* out) {
  __shared__ float s[512];
  int t = threadIdx.x;
  s[4 * t] = x[t];
  s[4 * t + 1] = x[t] + 1;
  s[4 * t + 2] = x[t] + 2;
  __syncthreads();
  float a = s[4 * (t ^ 7)];
  float b = s[4 * (t ^ 7) + 1];
  out[t] = a * b + s[4 * (t ^ 7) + 2];
}"""
# ptxas unrolls the loop over `count` once more: alike only if all lanes agree on it.
UNROLLED = """__global__ void k(const int* count, float* out) {
  extern __shared__ float s[];
  int t = threadIdx.x;
  s[t] = t;
  __syncthreads();
  float sum = 0;
  int n = count[t];
  for (int i = 0; i < n; ++i) sum += s[i];
  out[t] = sum;
}"""
# The second read is executed always: the first one proves that its memory exists.
MADE_UNCONDITIONAL = """__global__ void k(const float* x, float* out) {
  __shared__ float s[512];
  int t = threadIdx.x;
  for (int i = 0; i < 16; ++i) s[t + 32 * i] = x[t];
  __syncthreads();
  float a = s[4 * t];
  if (x[t] > 0) a += s[4 * t + 2];
  out[t] = a;
}"""
ATOMICS = """__global__ void k(const int* index, int* out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = s[t + 32] = 0;
  __syncthreads();
  atomicAdd(s + index[t], VALUE);
  __syncthreads();
  out[t] = s[t] + s[t + 32];
}"""
