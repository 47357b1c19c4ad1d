"""Every lane-wise instruction of compiled CUDA C++ is in the table."""

import pytest

from coursekit.errors import UnsupportedError
from coursekit.simt.isa import lookup
from coursekit.simt.ptx import parser
from coursekit.simt.ptx.ir import Vector
from coursekit.toolchain import nvrtc

CENSUS = {
    "integers": """
extern "C" __global__ void integers(long long* l, int* a, unsigned* u, short* s) {
  int i = threadIdx.x; int x = a[i], y = a[i + 1]; unsigned v = u[i], w = u[i + 1];
  a[i] = x / y + x % y + abs(x) + min(x, y) * max(x, y) + __mulhi(x, y)
       + __popc(v) + __clz(v) + __ffs(v) + __brev(v) + __byte_perm(v, w, 0x5140)
       + __funnelshift_l(v, w, x) + __funnelshift_rc(v, w, y) + __sad(x, y, v)
       + __dp4a(x, y, 3) + __mul24(x, y) + __vadd2(v, w) + __vmaxs4(v, w)
       + __vimax_s16x2_relu(v, w) + __vimin3_s32(x, y, i) + __viaddmax_s32(x, y, i);
  u[i] = v / w + v % w + (v >> y) + (v << y) + (x >> y) + __umulhi(v, w) + (v ? 3 : 9)
       + (v & 0xff0 | w ^ 0x1234) + ((v >> 5) & 63) + (unsigned)s[i];
  l[i] = l[i] * x + l[i + 1] / (l[i + 2] | 1) + (l[i] >> y) + __popcll(l[i])
       + __clzll(l[i]) + __mul64hi(l[i], l[i + 3]) + (long long)v * w;
  s[i] = (short)(s[i] * s[i + 1] - s[i + 2] / (short)(s[i + 3] | 1));
}""",
    "floats": """
extern "C" __global__ void floats(float* a, int* n, unsigned long long* u) {
  int i = threadIdx.x; float x = a[i], y = a[i + 1];
  a[i] = sinf(x) + cosf(y) + expf(x) + logf(x) + powf(x, y) + sqrtf(x) + erff(x)
       + tanhf(x) + rsqrtf(x) + x / y + fminf(x, y) + fmaxf(x, y) + fabsf(x) + tanf(x)
       + floorf(x) + rintf(y) + truncf(x) + roundf(y) + copysignf(x, y) + fmodf(x, y)
       + atan2f(x, y) + cbrtf(x) + log1pf(x) + expm1f(y) + normcdff(x) + hypotf(x, y)
       + __fadd_rz(x, y) + __fmul_ru(x, y) + __fmaf_rd(x, y, x) + __fdiv_rn(x, y)
       + __frcp_rz(x) + __fsqrt_ru(x) + __saturatef(x) + __sinf(x) + __cosf(y)
       + __expf(x) + __log2f(y) + __powf(x, y) + __fdividef(x, y) + ldexpf(x, n[i])
       + exp2f(x) + exp10f(y) + (isnan(x) ? 1.0f : isinf(y) ? 2.0f : 3.0f) + u[i];
  n[i] = (int)x + __float2int_rn(y) + __float2uint_ru(x) + __float_as_int(y)
       + (x < y) + (x != x) + (x >= 1 && y <= 2) + (unsigned char)x;
  u[i] = (unsigned long long)x + (long long)y;
}""",
    "doubles": """
extern "C" __global__ void doubles(double* a, int* n, float* f) {
  int i = threadIdx.x; double x = a[i], y = a[i + 1];
  a[i] = sin(x) + exp(y) + log(x) + pow(x, y) + sqrt(x) + erf(x) + tanh(y) + x / y
       + rsqrt(x) + fma(x, y, 1.0) + fmin(x, y) + fmax(x, y) + floor(x) + rint(y)
       + cbrt(x) + __dadd_rz(x, y) + __dmul_rd(x, y) + __dsqrt_ru(x) + __ddiv_rn(x, y)
       + __hiloint2double(n[i], n[i + 1]) + f[i] + fabs(x) + n[i] + (x < y ? x : -y);
  n[i] = (int)x + __double2int_rn(y) + __double2hiint(x);
  f[i] = (float)x + __double2float_rz(y);
}""",
    "halves": """
#include <cuda_fp16.h>
extern "C" __global__ void halves(__half* a, __half2* b, float* f, int* n) {
  int i = threadIdx.x; __half x = a[i], y = a[i + 1]; __half2 p = b[i], q = b[i + 1];
  a[i] = __hfma(x, y, x) + x * y - x / y + hexp(x) + hsqrt(y) + __hmax(x, y) + __habs(x)
       + __hneg(y) + __float2half(f[i]) + __int2half_rn(n[i]) + __hfma_sat(x, y, x)
       + hrsqrt(x) + hlog2(y) + hfloor(x) + htrunc(y) + __hadd_sat(x, y);
  b[i] = __hfma2(p, q, p) + h2exp2(p) + __hmax2(p, q)
       + __floats2half2_rn(f[i], f[i + 1]) + __hmul2(p, q) + __hgt2(p, q)
       + __hneg2(p) + __lows2half2(p, q);
  n[i] = (x < y) + (x == y) + __half2int_rz(x) + __hbgt2(p, q) + __half2short_rn(y);
  f[i] = __half2float(x) + __low2float(p);
}""",
    "brains": """
#include <cuda_bf16.h>
extern "C" __global__ void brains(__nv_bfloat16* c, __nv_bfloat162* d, float* f,
                                  int* n) {
  int i = threadIdx.x; __nv_bfloat16 x = c[i], y = c[i + 1], z = c[i + 2];
  __nv_bfloat162 p = d[i], q = d[i + 1];
  c[i] = __float2bfloat16(f[i + 2]) + x * y - z + __hmin(x, y) + __hfma(x, y, z)
       + __habs(x) + hexp2(y) + __int2bfloat16_rn(n[i]) + __float2bfloat16_rz(f[i]);
  d[i] = __hfma2(p, q, p) + __floats2bfloat162_rn(f[i], f[i + 1]) + __hneg2(p)
       + __hmax2(p, q) + __hfma2_relu(p, q, p) + __hgt2(p, q) + h2tanh_approx(p);
  n[i] = (x < y) + (x == y) + __bfloat162int_rz(x) + __hble2(p, q);
  f[i] = __bfloat162float(x) + __high2float(p);
}""",
    "fp8": """
#include <cuda_fp8.h>
extern "C" __global__ void fp8(__nv_fp8_e4m3* a, __nv_fp8x2_e5m2* b, float2* f) {
  int i = threadIdx.x;
  f[i].x += float(a[i]);
  a[i + 1] = __nv_fp8_e4m3(f[i].y);
  b[i] = __nv_fp8x2_e5m2(f[i]);
}""",
    "atomics": """
extern "C" __global__ void atomics(int* a, unsigned* u, float* f, double* d,
                                   unsigned long long* l, unsigned short* s) {
  __shared__ float t[32]; __shared__ int r[32]; int i = threadIdx.x;
  t[i] = f[i]; r[i] = a[i]; __syncthreads();
  a[i] = atomicAdd(a, i) + atomicMin(a + 1, i) + atomicMax(r, i) + atomicExch(a + 2, i)
       + atomicCAS(r + 1, i, 2) + atomicAnd(a + 3, i) + atomicOr(a + 4, i)
       + atomicSub(r, 2);
  u[i] = atomicInc(u, 7) + atomicDec(u + 1, 7) + atomicXor(u + 2, i)
       + atomicMax(u + 3, i);
  atomicAdd(f, 1.0f); atomicAdd(t + 1, 2.0f); atomicAdd(d, 1.0);
  atomicAdd(l, 3ull); atomicMin(l + 1, 5ull); atomicCAS(l + 2, 1ull, 2ull);
  s[i] = atomicCAS(s, (unsigned short)1, (unsigned short)2); f[i] = t[i]; a[i] += r[i];
}""",
}  # fmt: skip
OTHERS = {
    "ld", "ldu", "st", "bra", "brx", "call", "ret", "exit", "bar", "barrier", "membar",
    "fence", "atom", "red", "cvta", "shfl", "vote", "activemask", "trap", "brkpt",
}  # fmt: skip


def compiled(name, arch, *options):
    folders = [f"-I{folder}" for folder in nvrtc.include_folders()]
    flags = [f"-arch={arch}", "-std=c++17", *folders, *options]
    try:
        text = nvrtc.compile_program(CENSUS[name], f"{name}.cu", flags).code
    except UnsupportedError as reason:
        pytest.skip(str(reason))
    module = parser.parse(text.decode().rstrip("\0"))
    return [one for f in module.functions.values() for one in f.instructions]


ARCHITECTURES = ["compute_75", "compute_90", "compute_100"]
# bf16 arithmetic needs compute_80.
PAIRS = [(name, arch) for name in CENSUS for arch in ARCHITECTURES
         if (name, arch) != ("brains", "compute_75")]  # fmt: skip


@pytest.mark.parametrize("options", [(), ("-use_fast_math",)], ids=["ieee", "fast"])
@pytest.mark.parametrize(("name", "arch"), PAIRS)
def test_every_lane_wise_instruction_that_the_compiler_emits_is_known(
    name, arch, options
):
    missing = set()
    for one in compiled(name, arch, *options):
        try:
            if one.opcode in ("atom", "red"):
                lookup.atomic(one)
            elif lookup.operation(one) is None and one.opcode not in OTHERS:
                braces = any(isinstance(o, Vector) for o in one.operands)
                assert one.opcode == "mov" and braces, one.text
        except UnsupportedError:
            missing.add(one.name)
    assert missing == set()
