"""Nsight Compute's metrics that the course explains: meaning, and what to do.

Source: Nsight Compute's Kernel Profiling Guide, "Metrics Structure" and "Warp
Stall Reasons", for what each metric counts; labels are those of its details page.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric: its name, its label on the details page, its unit, two sentences.

    Attributes
    ----------
    unit : str
        "%", "B", "B/s", "ns", "Hz", "cycles", or "" for counts and ratios.
    """

    name: str
    label: str
    unit: str
    means: str
    do: str


@dataclass(frozen=True, slots=True)
class Section:
    """Metrics under one heading, with the headings they have on the details page."""

    title: str
    headings: tuple[str, ...]
    metrics: tuple[Metric, ...]


SPEED_OF_LIGHT = Section(
    "Speed of Light", ("GPU Speed Of Light Throughput",),
    (
        Metric("gpu__time_duration.sum", "Duration", "ns",
               "Time of this launch, from its first block to its last.",
               "Compare kernels by a benchmark: this is one run, caches flushed."),
        Metric("sm__throughput.avg.pct_of_peak_sustained_elapsed",
               "Compute (SM) Throughput", "%",
               "How busy the busiest unit of the SMs was, of what it can do.",
               "Above 80 %: do less arithmetic, or use tensor cores."),
        Metric("gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
               "Memory Throughput", "%",
               "How busy the busiest part of the memory system was.",
               "Above 80 %: move fewer bytes; look below which part it is."),
        Metric("gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
               "DRAM Throughput", "%",
               "Bytes to and from device memory, of the most it carries.",
               "Above 80 %: the roof is reached; fuse kernels or shrink types."),
        Metric("l1tex__throughput.avg.pct_of_peak_sustained_active",
               "L1/TEX Cache Throughput", "%",
               "How busy the L1 caches were, shared memory included.",
               "High with low DRAM: combine requests, or keep values in registers."),
        Metric("lts__throughput.avg.pct_of_peak_sustained_elapsed",
               "L2 Cache Throughput", "%",
               "How busy the L2 cache was.",
               "High with low DRAM: reuse values in shared memory."),
        Metric("sm__cycles_active.avg", "SM Active Cycles", "cycles",
               "Cycles in which an SM had a warp, averaged over the SMs.",
               "Far below the elapsed cycles: the grid is too small or uneven."),
        Metric("gpc__cycles_elapsed.max", "Elapsed Cycles", "cycles",
               "Cycles that the launch took.",
               "Compare it with the cycles in which the SMs were active."),
        Metric("gpc__cycles_elapsed.avg.per_second", "SM Frequency", "Hz",
               "Clock of the SMs during the launch.",
               "Compare launches only at the same clock."),
        Metric("dram__cycles_elapsed.avg.per_second", "DRAM Frequency", "Hz",
               "Clock of the device memory.",
               "Nothing: it tells whether the memory ran at full speed."),
    ),
)  # fmt: skip
MEMORY = Section(
    "Memory", ("Memory Workload Analysis",),
    (
        Metric("dram__bytes.sum.per_second", "Memory Throughput", "B/s",
               "Bytes a second to and from device memory.",
               "Compare it with a copy kernel: that is what can be had."),
        Metric("dram__bytes_read.sum", "", "B",
               "Bytes read from device memory.",
               "More than the inputs: something is fetched more than once."),
        Metric("dram__bytes_write.sum", "", "B",
               "Bytes written to device memory.",
               "Less than the outputs: the rest still waits in L2."),
        Metric("l1tex__t_sector_hit_rate.pct", "L1/TEX Hit Rate", "%",
               "Sectors that L1 had already.",
               "Low where values are reused: put a tile into shared memory."),
        Metric("lts__t_sector_hit_rate.pct", "L2 Hit Rate", "%",
               "Sectors that L2 had already; written ones count as hits.",
               "Low where blocks share values: let neighbours run together."),
        Metric("sm__memory_throughput.avg.pct_of_peak_sustained_elapsed",
               "Mem Pipes Busy", "%",
               "How busy the pipes of the SMs that send memory requests were.",
               "High: use wider accesses, four values with one request."),
        Metric("gpu__compute_memory_request_throughput.avg"
               ".pct_of_peak_sustained_elapsed", "Max Bandwidth", "%",
               "How busy the links between SMs, caches and memory were.",
               "High: move fewer bytes over the busiest of them."),
        Metric("gpu__compute_memory_access_throughput.avg"
               ".pct_of_peak_sustained_elapsed", "Mem Busy", "%",
               "How busy the units of the caches and of memory were.",
               "High: move fewer sectors."),
    ),
)  # fmt: skip
LAUNCH = Section(
    "Launch", ("Launch Statistics",),
    (
        Metric("launch__grid_size", "Grid Size", "",
               "Blocks of the launch.",
               "Fewer than the GPU holds at once: part of it idles."),
        Metric("launch__block_size", "Block Size", "",
               "Threads of a block.",
               "A multiple of 32; 128 to 256 suits most kernels."),
        Metric("launch__waves_per_multiprocessor", "Waves Per SM", "",
               "How often the GPU is filled until the grid is done.",
               "Little above a whole number: the last wave is nearly empty."),
        Metric("launch__registers_per_thread", "Registers Per Thread", "",
               "Registers of a thread.",
               "Many: fewer blocks fit; ck.occupancy tells how many fewer."),
        Metric("launch__shared_mem_per_block_static",
               "Static Shared Memory Per Block", "B",
               "Shared memory that the kernel declares.",
               "Nothing, unless shared memory limits the blocks."),
        Metric("launch__shared_mem_per_block_dynamic",
               "Dynamic Shared Memory Per Block", "B",
               "Shared memory that the launch gives.",
               "Nothing, unless shared memory limits the blocks."),
        Metric("launch__shared_mem_per_block_driver",
               "Driver Shared Memory Per Block", "B",
               "Shared memory that the driver takes of every block.",
               "Nothing: it cannot be had back."),
        Metric("launch__shared_mem_config_size",
               "Shared Memory Configuration Size", "B",
               "Share of L1 that was set aside as shared memory.",
               "Nothing: the driver decides, and leaves the rest to L1."),
    ),
)  # fmt: skip
OCCUPANCY = Section(
    "Occupancy", ("Occupancy",),
    (
        Metric("launch__occupancy_limit_blocks", "Block Limit SM", "",
               "Blocks for which an SM has slots.",
               "The least limit: make blocks larger."),
        Metric("launch__occupancy_limit_registers", "Block Limit Registers", "",
               "Blocks for which an SM has registers.",
               "The least limit: use fewer registers, or smaller blocks."),
        Metric("launch__occupancy_limit_shared_mem", "Block Limit Shared Mem", "",
               "Blocks that fit the shared memory set aside.",
               "The least limit: use smaller tiles."),
        Metric("launch__occupancy_limit_warps", "Block Limit Warps", "",
               "Blocks for whose warps an SM has slots.",
               "The least limit: nothing, unless slots are left over."),
        Metric("sm__maximum_warps_per_active_cycle_pct",
               "Theoretical Occupancy", "%",
               "Warps that fit an SM by these limits, of its slots.",
               "Low is not slow as long as other warps hide the waiting."),
        Metric("sm__maximum_warps_avg_per_active_cycle",
               "Theoretical Active Warps per SM", "",
               "Warps that fit an SM by these limits.",
               "See which limit is the least."),
        Metric("sm__warps_active.avg.pct_of_peak_sustained_active",
               "Achieved Occupancy", "%",
               "Warps that an SM had on average, of its slots.",
               "Well below the theoretical: blocks are uneven, or too few."),
        Metric("sm__warps_active.avg.per_cycle_active",
               "Achieved Active Warps Per SM", "",
               "Warps that an SM had on average.",
               "Compare it with what fits."),
    ),
)  # fmt: skip
SCHEDULER = Section(
    "Scheduler",
    ("Scheduler Statistics", "Warp State Statistics", "Compute Workload Analysis"),
    (
        Metric("smsp__issue_active.avg.per_cycle_active", "Issued Warp Per Scheduler",
               "", "Instructions that a scheduler issued a cycle; 1 is the most.",
               "Near 1: only fewer instructions help."),
        Metric("smsp__warps_active.avg.per_cycle_active",
               "Active Warps Per Scheduler", "",
               "Warps that a scheduler could choose from.",
               "Few: raise the occupancy."),
        Metric("smsp__warps_eligible.avg.per_cycle_active",
               "Eligible Warps Per Scheduler", "",
               "Warps that were ready to issue.",
               "Below 1: warps wait; the stalls below say for what."),
        Metric("smsp__average_warp_latency_per_inst_issued.ratio",
               "Warp Cycles Per Issued Instruction", "cycles",
               "Cycles between two instructions of a warp.",
               "The stalls below are its parts; shrink the largest."),
        Metric("sm__inst_executed.avg.per_cycle_active", "Executed Ipc Active", "",
               "Warp instructions that an SM executed a cycle; 4 is the most.",
               "Near 4: only fewer instructions help."),
        Metric("smsp__thread_inst_executed_per_inst_executed.ratio",
               "Avg. Active Threads Per Warp", "",
               "Lanes that were active, of 32.",
               "Below 32: branches split the warps, or blocks end within one."),
    ),
)  # fmt: skip
SECTIONS = (SPEED_OF_LIGHT, MEMORY, LAUNCH, OCCUPANCY, SCHEDULER)

# Reason: (what the warp waits for, what to do).
STALLS = {
    "long_scoreboard": ("data of global or local memory",
                        "Have more loads in flight, or fetch less."),
    "short_scoreboard": ("data of shared memory or of a special function",
                         "Avoid bank conflicts; keep values in registers."),
    "barrier": ("the other warps at __syncthreads()",
                "Give the warps of a block equal work, or synchronise less."),
    "mio_throttle": ("room in the queue of shared memory and special functions",
                     "Use wider shared accesses, fewer of them."),
    "lg_throttle": ("room in the queue of global memory",
                    "Use fewer, wider accesses."),
    "tex_throttle": ("room in the queue of the texture unit",
                     "Use fewer, wider accesses."),
    "math_pipe_throttle": ("a busy arithmetic unit",
                           "Good news: the unit works; only less work helps."),
    "wait": ("a fixed number of cycles after its last instruction",
             "More warps or independent instructions cover it."),
    "not_selected": ("its turn: another ready warp was issued",
                     "Nothing: there is more than enough to issue."),
    "selected": ("nothing: it was issued", "Nothing: this is the work itself."),
    "dispatch_stall": ("the dispatcher, which was held up",
                       "Rare; look at the instructions around it."),
    "drain": ("its last stores, before it ends",
              "Store in order, so that the stores combine."),
    "membar": ("a memory fence", "Fence less often, or for a smaller scope."),
    "branch_resolving": ("the target of a branch",
                         "Unroll loops, or choose without branching."),
    "no_instruction": ("its next instruction to be fetched",
                       "Shorten the code, or avoid jumping far."),
    "imc_miss": ("a constant or a kernel parameter to be fetched",
                 "Read the same constants in all lanes."),
    "sleeping": ("the end of __nanosleep()", "Sleep for shorter times."),
    "gmma": ("the tensor cores", "Good news: the tensor cores work."),
    "misc": ("something else", "Look at the lines with most samples."),
}  # fmt: skip
STALL_METRIC = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"


def every() -> dict[str, Metric]:
    """Return the metrics of all sections by name."""
    return {metric.name: metric for section in SECTIONS for metric in section.metrics}
