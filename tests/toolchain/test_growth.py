"""How much code a source stands for."""

from __future__ import annotations

import math

import pytest

from coursekit.toolchain.growth import uses

LINEAR = {
    "one kernel": "__global__ void k() {}",
    "calls": "__device__ int f() { return 1; }\n__global__ void k() { f(); }",
    "recursion": "__device__ int f(int n) { return n ? f(n - 1) + f(n - 2) : 0; }",
    "macro of a number": "#define N 16\n__global__ void k(int* x) { x[N] = N; }",
    "template": "template<class T> __device__ T f(T x) { return x; }\n"
    "__global__ void k(float* x) { *x = f<float>(*x) + f(2.0f); }",
    "template of two forms": "template<int N> struct S { int a[N]; };\n"
    "template<> struct S<0> {};\n__global__ void k(int* x) { S<4> s; *x = s.a[0]; }",
    "in comments": "// template<int N> struct F : F<N - 1> {};\n__global__ void k() {}",
    "namespaces": "namespace a { namespace b { __device__ int f() { return 1; } } }",
}
ENDLESS = {
    "class": "template<int N> struct F { static const int v = F<N - 1>::v; };",
    "base": "template<int N, int... I> struct S : S<N - 1, N - 1, I...> {};",
    "function": "template<int N> __device__ int f() { return f<N - 1>() + 1; }",
    "variable": "template<int N> constexpr int v = v<N - 1> + 1;",
    "two classes": "template<int N> struct B;\n"
    "template<int N> struct A { B<N - 1> b; };\n"
    "template<int N> struct B { A<N> a; };",
    "in a namespace": "namespace q { template<int N> struct F { F<N - 1> f; }; }",
}


@pytest.mark.parametrize("what", LINEAR)
def test_ordinary_source_stands_for_little(what):
    assert uses(LINEAR[what]) < 10


@pytest.mark.parametrize("what", ENDLESS)
def test_template_that_uses_itself_stands_for_any_number(what):
    assert uses(ENDLESS[what]) == math.inf


def test_macros_that_each_use_the_one_above_twice_double():
    macros = "".join(f"#define A{i + 1} A{i} \\\n A{i}\n" for i in range(10))
    assert uses(f"#define A0 x\n{macros}") == 2**11 - 1


def test_lambdas_that_each_call_the_one_above_twice_double():
    lambdas = "".join(
        f"auto f{i + 1} = [=] {{ return f{i}() + f{i}(); }};\n" for i in range(10)
    )
    source = f"__global__ void k() {{ auto f0 = [=] {{ return 1; }};\n{lambdas}}}"
    assert uses(source) > 2**10


def test_chain_of_a_thousand_macros_is_measured():
    macros = "".join(f"#define A{i + 1} A{i}\n" for i in range(3000))
    assert uses(f"#define A0 x\n{macros}") >= 3000
