// Barriers in shared memory and tensor copies (TMA) of sm_90, as short functions.
//
// A barrier counts arrivals and bytes. Its phase ends when all arrivals and all bytes
// that were announced are there; phases have parity 0, 1, 0, ... One thread may ask for
// a copy of a whole box of an array: the copy runs by itself, leaves zeros where the
// box sticks out, and reports its bytes to a barrier.
#pragma once

// What ck.tensor_map returns; a kernel takes it as `const __grid_constant__ TensorMap`.
struct alignas(128) TensorMap {
    char bytes[128];
};

using Barrier = unsigned long long;  // an object in shared memory

__device__ __forceinline__ unsigned shared_address(const void *p)
{
    return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

// True for one thread of a warp, of which all are here.
__device__ __forceinline__ bool elected()
{
    int yes;
    asm volatile("{\n\t.reg .pred one;\n\t"
                 "elect.sync _|one, 0xffffffff;\n\t"
                 "selp.b32 %0, 1, 0, one;\n\t}" : "=r"(yes));
    return yes;
}

// One thread calls it, for each barrier; then all meet before anyone uses it.
__device__ __forceinline__ void barrier_init(Barrier *barrier, int arrivals)
{
    asm volatile("mbarrier.init.shared.b64 [%0], %1;\n\t"
                 "fence.mbarrier_init.release.cluster;"
                 ::"r"(shared_address(barrier)), "r"(arrivals) : "memory");
}

__device__ __forceinline__ void arrive(Barrier *barrier)
{
    asm volatile("mbarrier.arrive.shared.b64 _, [%0];"
                 ::"r"(shared_address(barrier)) : "memory");
}

// Arrive, and announce bytes that copies will bring in this phase.
__device__ __forceinline__ void arrive_and_expect(
    Barrier *barrier, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;"
                 ::"r"(shared_address(barrier)), "r"(bytes) : "memory");
}

// Wait until the phase of this parity has ended.
__device__ __forceinline__ void wait(Barrier *barrier, int parity)
{
    asm volatile("{\n\t.reg .pred done;\n"
                 "again:\n\t"
                 "mbarrier.try_wait.parity.shared.b64 done, [%0], %1;\n\t"
                 "@!done bra again;\n\t}"
                 ::"r"(shared_address(barrier)), "r"(parity) : "memory");
}

// Ask for the box whose first element is array[row][col].
__device__ __forceinline__ void copy_box(
    void *to, const TensorMap &array, int row, int col, Barrier *barrier)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile"
                 ".mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                 ::"r"(shared_address(to)), "l"(&array), "r"(col), "r"(row),
                   "r"(shared_address(barrier)) : "memory");
}
