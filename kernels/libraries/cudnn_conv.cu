// A layer by a graph of cuDNN: convolution, bias and ReLU in one kernel.
//
// What     y = relu(x * w + bias), FP16 in memory, sums in FP32; 3 x 3, a
//          border of one zero, channels last. The graph is described by
//          descriptors of the backend, as cudnn-frontend describes it.
// Build    nvcc -O3 -arch=native -o cudnn_conv cudnn_conv.cu -lcudnn
// Run      ./cudnn_conv
// Names    h_ is memory of the host, the CPU; d_ is memory of the device.
// Prints   the plan's workspace, the largest error and PASS; or what went
//          wrong, and where.

#include <cuda_fp16.h>
#include <cudnn.h>

inline const char *name_of(cudnnStatus_t status)
{
    return cudnnGetErrorString(status);
}

#include "checked.h"

const int64_t N = 4, H = 16, W = 16, C = 64, K = 64, R = 3;

// A descriptor: made, given attributes, finalized, used, destroyed.
struct Descriptor {
    cudnnBackendDescriptor_t raw = nullptr;

    explicit Descriptor(cudnnBackendDescriptorType_t type)
    {
        CHECK(cudnnBackendCreateDescriptor(type, &raw));
    }

    Descriptor(Descriptor &&other) : raw(other.raw) { other.raw = nullptr; }
    Descriptor(const Descriptor &) = delete;

    ~Descriptor()
    {
        if (raw)
            CHECK(cudnnBackendDestroyDescriptor(raw));
    }

    template <typename T>
    Descriptor &set(cudnnBackendAttributeName_t name,
                    cudnnBackendAttributeType_t type,
                    const std::vector<T> &values)
    {
        CHECK(cudnnBackendSetAttribute(raw, name, type, values.size(),
                                       values.data()));
        return *this;
    }

    Descriptor &set(cudnnBackendAttributeName_t name, const Descriptor &one)
    {
        return set<cudnnBackendDescriptor_t>(
            name, CUDNN_TYPE_BACKEND_DESCRIPTOR, {one.raw});
    }

    Descriptor &finalize()
    {
        CHECK(cudnnBackendFinalize(raw));
        return *this;
    }
};

// A tensor is named n, c, h, w; its strides say that channels are last.
Descriptor tensor(int64_t uid, std::vector<int64_t> dims,
                  cudnnDataType_t type, bool is_virtual)
{
    int64_t c = dims[1], h = dims[2], w = dims[3];
    std::vector<int64_t> strides = {c * h * w, 1, w * c, c};
    Descriptor made(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    made.set<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE,
                              CUDNN_TYPE_DATA_TYPE, {type});
    made.set(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, dims);
    made.set(CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, strides);
    made.set<int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, {uid});
    made.set<int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64,
                      {16});
    bool flags[] = {is_virtual};
    CHECK(cudnnBackendSetAttribute(made.raw, CUDNN_ATTR_TENSOR_IS_VIRTUAL,
                                   CUDNN_TYPE_BOOLEAN, 1, flags));
    made.finalize();
    return made;
}

Descriptor convolution_mode()
{
    std::vector<int64_t> one = {1, 1};
    Descriptor made(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    made.set<cudnnDataType_t>(CUDNN_ATTR_CONVOLUTION_COMP_TYPE,
                              CUDNN_TYPE_DATA_TYPE, {CUDNN_DATA_FLOAT});
    // What PyTorch computes; CUDNN_CONVOLUTION would flip the filter.
    made.set<cudnnConvolutionMode_t>(CUDNN_ATTR_CONVOLUTION_CONV_MODE,
                                     CUDNN_TYPE_CONVOLUTION_MODE,
                                     {CUDNN_CROSS_CORRELATION});
    made.set<int64_t>(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64,
                      {2});
    for (auto name : {CUDNN_ATTR_CONVOLUTION_DILATIONS,
                      CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES,
                      CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS,
                      CUDNN_ATTR_CONVOLUTION_POST_PADDINGS})
        made.set(name, CUDNN_TYPE_INT64, one);
    made.finalize();
    return made;
}

// An operation on each element: y = op(x), or y = op(x, b).
Descriptor pointwise(cudnnPointwiseMode_t mode, const Descriptor &x,
                     const Descriptor *b, const Descriptor &y)
{
    Descriptor how(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    how.set<cudnnPointwiseMode_t>(CUDNN_ATTR_POINTWISE_MODE,
                                  CUDNN_TYPE_POINTWISE_MODE, {mode});
    how.set<cudnnDataType_t>(CUDNN_ATTR_POINTWISE_MATH_PREC,
                             CUDNN_TYPE_DATA_TYPE, {CUDNN_DATA_FLOAT});
    how.finalize();
    Descriptor made(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    made.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, how);
    made.set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x);
    if (b)
        made.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, *b);
    made.set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y).finalize();
    return made;
}

Descriptor convolution(const Descriptor &x, const Descriptor &w,
                       const Descriptor &y)
{
    Descriptor how = convolution_mode();
    Descriptor made(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
    made.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, how);
    made.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, x);
    made.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, w);
    made.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, y);
    made.set<float>(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
                    CUDNN_TYPE_FLOAT, {1});
    made.set<float>(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA,
                    CUDNN_TYPE_FLOAT, {0});
    made.finalize();
    return made;
}

// The graph: three operations, and two virtual tensors between them.
Descriptor layer(cudnnHandle_t handle)
{
    auto half = CUDNN_DATA_HALF, wide = CUDNN_DATA_FLOAT;
    Descriptor x = tensor('x', {N, C, H, W}, half, false);
    Descriptor w = tensor('w', {K, C, R, R}, half, false);
    Descriptor bias = tensor('b', {1, K, 1, 1}, half, false);
    Descriptor y = tensor('y', {N, K, H, W}, half, false);
    // Virtual tensors have no memory: they stay in registers.
    Descriptor product = tensor('p', {N, K, H, W}, wide, true);
    Descriptor sum = tensor('s', {N, K, H, W}, wide, true);

    Descriptor first = convolution(x, w, product);
    Descriptor second = pointwise(CUDNN_POINTWISE_ADD, product, &bias, sum);
    Descriptor third = pointwise(CUDNN_POINTWISE_RELU_FWD, sum, nullptr, y);

    Descriptor graph(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    graph.set<cudnnHandle_t>(CUDNN_ATTR_OPERATIONGRAPH_HANDLE,
                             CUDNN_TYPE_HANDLE, {handle});
    graph.set<cudnnBackendDescriptor_t>(
        CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
        {first.raw, second.raw, third.raw});
    graph.finalize();
    return graph;
}

// The heuristics propose plans, best guess first; the first that can be
// built is taken.
Descriptor planned(cudnnHandle_t handle, const Descriptor &graph)
{
    Descriptor heuristics(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    heuristics.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
    heuristics.set<cudnnBackendHeurMode_t>(CUDNN_ATTR_ENGINEHEUR_MODE,
                                           CUDNN_TYPE_HEUR_MODE,
                                           {CUDNN_HEUR_MODE_A});
    heuristics.finalize();

    const int most = 16;
    int64_t count = 0;
    std::vector<Descriptor> configs;
    std::vector<cudnnBackendDescriptor_t> raw;
    for (int i = 0; i < most; i++) {
        configs.emplace_back(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
        raw.push_back(configs.back().raw);
    }
    CHECK(cudnnBackendGetAttribute(
        heuristics.raw, CUDNN_ATTR_ENGINEHEUR_RESULTS,
        CUDNN_TYPE_BACKEND_DESCRIPTOR, most, &count, raw.data()));

    for (int i = 0; i < count; i++) {
        Descriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
        plan.set<cudnnHandle_t>(CUDNN_ATTR_EXECUTION_PLAN_HANDLE,
                                CUDNN_TYPE_HANDLE, {handle});
        plan.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configs[i]);
        // A proposal may be refused here; the next one is then tried.
        if (cudnnBackendFinalize(plan.raw) == CUDNN_STATUS_SUCCESS)
            return plan;
    }
    std::fprintf(stderr, "FAIL: none of %lld plans is for this GPU\n",
                 (long long)count);
    std::exit(EXIT_FAILURE);
}

// The same in float64, pixel by pixel.
std::vector<double> reference(const std::vector<__half> &x,
                              const std::vector<__half> &w,
                              const std::vector<__half> &bias)
{
    std::vector<double> y(N * H * W * K);
    for (int64_t i = 0; i < (int64_t)y.size(); i++) {
        int64_t k = i % K, col = i / K % W, row = i / (K * W) % H;
        double sum = (float)bias[k];
        for (int64_t tap = 0; tap < R * R; tap++) {
            int64_t at_row = row + tap / R - 1, at_col = col + tap % R - 1;
            if (at_row < 0 || at_row >= H || at_col < 0 || at_col >= W)
                continue;
            int64_t n = i / (K * W * H);
            const __half *pixel = &x[((n * H + at_row) * W + at_col) * C];
            const __half *weights = &w[(k * R * R + tap) * C];
            for (int64_t c = 0; c < C; c++)
                sum += (double)(float)pixel[c] * (double)(float)weights[c];
        }
        y[i] = sum > 0 ? sum : 0;
    }
    return y;
}

std::vector<__half> drawn(int64_t count, float spread)
{
    std::vector<__half> values(count);
    unsigned state = 1;
    for (auto &value : values) {
        state = state * 1664525u + 1013904223u;
        value = __float2half(spread * ((int)(state >> 24) - 128) / 128);
    }
    return values;
}

// Run a plan: which memory belongs to which tensor, and the workspace.
void execute(cudnnHandle_t handle, const Descriptor &plan,
             std::vector<void *> memory)
{
    int64_t bytes = 0, count = 0;
    CHECK(cudnnBackendGetAttribute(
        plan.raw, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
        CUDNN_TYPE_INT64, 1, &count, &bytes));
    OnDevice<char> workspace(bytes + 1);
    std::printf("workspace: %lld bytes\n", (long long)bytes);

    Descriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    pack.set<int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64,
                      {'x', 'w', 'b', 'y'});
    pack.set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR,
             memory);
    pack.set<void *>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR,
                     {workspace.data});
    pack.finalize();
    CHECK(cudnnBackendExecute(handle, plan.raw, pack.raw));
    CHECK(cudaDeviceSynchronize());  // before the workspace is freed
}

int main()
{
    auto h_x = drawn(N * H * W * C, 1), h_w = drawn(K * R * R * C, 0.1f);
    auto h_bias = drawn(K, 1);
    OnDevice<__half> d_x(h_x), d_w(h_w), d_bias(h_bias), d_y(N * H * W * K);
    cudnnHandle_t handle;
    CHECK(cudnnCreate(&handle));
    {
        Descriptor graph = layer(handle);
        Descriptor plan = planned(handle, graph);
        execute(handle, plan, {d_x.data, d_w.data, d_bias.data, d_y.data});
    }
    CHECK(cudnnDestroy(handle));

    std::vector<__half> h_y = d_y.to_host();
    std::vector<float> found(h_y.begin(), h_y.end());
    // A result below 16 is rounded to FP16 once: by at most 2^-8.
    double off = worst(found, reference(h_x, h_w, h_bias));
    std::printf("off by up to %.4f\n", off);
    if (!(off <= 1.0 / 256)) {
        std::fprintf(stderr, "FAIL\n");
        return EXIT_FAILURE;
    }
    std::puts("PASS");
}
