// The barrier of a cluster, and stores into its other blocks, as short functions.
//
// Blocks of a cluster run at the same time, and each can write into the shared memory of
// the others. Their barrier has two halves. To arrive is to say that what this thread
// has stored may be read; to wait is to stand until all threads of the cluster have
// arrived. Between the two a thread may do something else. SHARE is the number of blocks
// of a cluster; the functions use no cluster where it is 1.
#pragma once

#ifndef SHARE
#error "define SHARE, the number of blocks of a cluster, before cluster.cuh"
#endif

// Arrive without a word about memory, so that nothing has to be waited for.
__device__ void begin()
{
    if constexpr (SHARE > 1)
        asm volatile("barrier.cluster.arrive.relaxed.aligned;");
}

// Say that what this thread has stored is there for those who wait.
__device__ void arrive()
{
    if constexpr (SHARE > 1)
        asm volatile("barrier.cluster.arrive.release.aligned;"
                     ::: "memory");
}

// Wait until all threads of the cluster have arrived.
__device__ void wait()
{
    if constexpr (SHARE > 1)
        asm volatile("barrier.cluster.wait.acquire.aligned;"
                     ::: "memory");
    else
        __syncthreads();
}

// Store a pair at its place in the shared memory of a block of the cluster.
__device__ void tell(float2 *place, int block, float2 pair)
{
    if constexpr (SHARE > 1) {
        unsigned here = __cvta_generic_to_shared(place), there;
        asm("mapa.shared::cluster.u32 %0, %1, %2;"
            : "=r"(there) : "r"(here), "r"(block));
        asm volatile("st.shared::cluster.v2.f32 [%0], {%1, %2};"
                     ::"r"(there), "f"(pair.x), "f"(pair.y) : "memory");
    } else
        *place = pair;
}
