"""Kernels `k(int* x, int n)` of many kinds of PTX, to be spoiled by crash_fuzz.py."""

HEAD = "__global__ void k(int* x, int n) {\n  int t = threadIdx.x;\n"
SOURCES = {
    "shuffles and votes": HEAD
    + """
  int v = x[t];
  for (int h = 16; h; h /= 2) v += __shfl_xor_sync(~0u, v, h);
  unsigned m = __ballot_sync(__activemask(), v > n);
  x[t] = v + __popc(m) + __all_sync(__activemask(), t < n);
}""",
    "local array": HEAD
    + """
  int a[8];
  for (int i = 0; i < n; ++i) a[i % 8] = x[i];
  x[t] = a[t % 8];
}""",
    "dynamic shared memory": """extern __shared__ int s[];
"""
    + HEAD
    + """
  s[t] = x[t];
  __syncthreads();
  x[t] = s[(t + n) % blockDim.x];
}""",
    "calls": """__device__ __noinline__ int twice(int v, int *p) {
  return v < 2 ? *p : twice(v - 2, p) + 1;
}
"""
    + HEAD
    + """
  x[t] = twice(n, x + t);
}""",
    "switch": HEAD
    + """
  switch (x[t] % 8) {
    case 0: x[t] += 3; break;
    case 1: x[t] *= n; break;
    case 2: x[t] ^= t; break;
    case 3: x[t] /= n; break;
    case 4: x[t] %= n; break;
    case 5: x[t] = __clz(x[t]); break;
    default: x[t] = 0;
  }
}""",
    "doubles": HEAD
    + """
  double d = x[t] / 3.0 + sqrt((double)n);
  float f = sinf(d) * __expf(x[t]) + fmaf(d, 2.0f, rsqrtf(n));
  x[t] = (int)d + __float2int_rn(f) + (long long)(d * f) % 7;
}""",
    "printing": HEAD
    + """
  if (t < 3) printf("%d %s %5.2f %c %%\\n", x[t], "text", 1.5 * n, 'c');
  assert(n > 0);
  if (n > 100) __trap();
}""",
    "bytes and words": HEAD
    + """
  unsigned char *c = (unsigned char *)x;
  short *s = (short *)(x + 64);
  long long *l = (long long *)(x + 128);
  int4 v = ((int4 *)x)[t];
  c[t] = s[t] + l[t];
  s[t] = __dp4a(v.x, v.y, v.z) + __byte_perm(v.w, n, 0x3210);
  l[t] = __umul64hi(l[t], n) + __ffsll(l[t]);
}""",
    "constants and globals": """__constant__ int c[4] = {1, 2, 3, 4};
__device__ int g[8];
__device__ int *p = g + 2;
"""
    + HEAD
    + """
  atomicAdd(&g[t % 8], c[t % 4]);
  x[t] = *p + n;
}""",
    "asynchronous copies": """#include <cuda_pipeline.h>
"""
    + HEAD
    + """
  __shared__ __align__(16) int s[256];
  for (int i = 0; i < 2; ++i) {
    __pipeline_memcpy_async(s + 4 * t, x + 4 * (t + i), 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    x[1024 + t] += s[255 - t];
    __syncthreads();
  }
}""",
}
