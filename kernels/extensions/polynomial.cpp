// The polynomial y = x^3 - 3 x + 1 on the CPU, as an extension of PyTorch.
//
// What     The C++ twin of polynomial.cu: an operator for float tensors.
// Build    g++, or nvcc for a .cu; torch.utils.cpp_extension calls either.
// Limits   Only the stable ABI is used: a library that is built once serves
//          later versions of PyTorch as well.

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

Tensor polynomial(const Tensor &x)
{
    STD_TORCH_CHECK(x.scalar_type() == ScalarType::Float, "x is no float");
    STD_TORCH_CHECK(x.is_contiguous(), "x is not contiguous");
    Tensor y = torch::stable::empty_like(x);
    const float *from = x.const_data_ptr<float>();
    float *to = y.mutable_data_ptr<float>();
    for (int64_t i = 0; i < x.numel(); ++i)
        to[i] = (from[i] * from[i] - 3) * from[i] + 1;
    return y;
}

STABLE_TORCH_LIBRARY(course_cpp, m)
{
    m.def("polynomial(Tensor x) -> Tensor");
}

STABLE_TORCH_LIBRARY_IMPL(course_cpp, CPU, m)
{
    m.impl("polynomial", TORCH_BOX(&polynomial));
}
