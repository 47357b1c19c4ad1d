// What a kernel asks of those before and after it, and its warps of each other.
#pragma once

// Where a kernel may begin before the one in front has ended: wait for all
// that was launched before, and let the next one begin.
__device__ __forceinline__ void wait_for_kernels_before()
{
    asm volatile("griddepcontrol.wait;" ::: "memory");
}

__device__ __forceinline__ void let_the_next_begin()
{
    asm volatile("griddepcontrol.launch_dependents;");
}

// All threads of a block meet, wherever in the program they are;
// __syncthreads() is for those at one place. `bar.sync`, which is aligned,
// would promise that a warp's threads are at the same barrier; this one
// promises nothing.
template <int THREADS>
__device__ __forceinline__ void meet()
{
    asm volatile("barrier.sync 1, %0;" :: "n"(THREADS) : "memory");
}
