"""The GPUs of this course as their data sheets describe them.

Each board is one row. `source` names the document for every figure of the row that
`other_sources` does not name. Tensor peaks are dense (no sparsity), in
TFLOP/s, with sums kept in FP32. Data sheets say GB for memory and mostly mean 2^30
bytes; an H200's 141 GB are 140.4 GiB. `memory_rate_gbps` is the rate of one data pin;
`nvlink_gbs` counts both directions, as NVIDIA does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

GIB = 2**30
MIB = 2**20

_VOLTA = "NVIDIA Tesla V100 GPU Architecture whitepaper"
_V100 = "NVIDIA V100 Tensor Core GPU data sheet"
_AMPERE = "NVIDIA A100 Tensor Core GPU Architecture whitepaper"
_A100 = "NVIDIA A100 Tensor Core GPU data sheet"
_HOPPER = "NVIDIA H100 Tensor Core GPU Architecture whitepaper"
_H100_PCIE = "NVIDIA H100 PCIe GPU product brief"
_H200 = "NVIDIA H200 Tensor Core GPU data sheet"
_B200 = "NVIDIA HGX B200 data sheet"
_BLACKWELL_GUIDE = "CUDA Blackwell Tuning Guide"
_TURING = "NVIDIA Turing GPU Architecture whitepaper"
_T4 = "NVIDIA T4 Tensor Core GPU data sheet"
_L4 = "NVIDIA L4 Tensor Core GPU data sheet"
_L4_BRIEF = "NVIDIA L4 product brief"
_L40S = "NVIDIA L40S GPU data sheet"
_L40S_BRIEF = "NVIDIA L40S product brief"
_GA102 = "NVIDIA Ampere GA102 GPU Architecture whitepaper"
_ADA = "NVIDIA Ada GPU Architecture whitepaper"
_RTX_BLACKWELL = "NVIDIA RTX Blackwell GPU Architecture whitepaper"
_DRIVER = "attribute reported by the NVIDIA driver"

_V100_SXM2 = {
    "compute_capability": (7, 0),
    "sm_count": 80,
    "boost_clock_mhz": 1530,
    "memory_type": "HBM2",
    "memory_bus_bits": 4096,
    "memory_rate_gbps": 1.754,
    "l2_bytes": 6 * MIB,
    "fp16_tensor_tflops": 125.0,
    "pcie_generation": 3,
    "nvlink_gbs": 300,
    "tdp_w": 300,
    "source": _VOLTA,
    "other_sources": {"memory_bytes": _V100, "memory_rate_gbps": _DRIVER},
}

_A100_SXM4 = {
    "compute_capability": (8, 0),
    "sm_count": 108,
    "boost_clock_mhz": 1410,
    "memory_bus_bits": 5120,
    "l2_bytes": 40 * MIB,
    "fp16_tensor_tflops": 312.0,
    "bf16_tensor_tflops": 312.0,
    "tf32_tensor_tflops": 156.0,
    "pcie_generation": 4,
    "nvlink_gbs": 600,
    "tdp_w": 400,
    "source": _AMPERE,
}

BOARDS: tuple[Mapping[str, Any], ...] = (
    {
        "name": "V100 SXM2 16GB",
        "driver_name": "Tesla V100-SXM2-16GB",
        "memory_bytes": 16 * GIB,
        **_V100_SXM2,
    },
    {
        "name": "V100 SXM2 32GB",
        "driver_name": "Tesla V100-SXM2-32GB",
        "memory_bytes": 32 * GIB,
        **_V100_SXM2,
    },
    {
        "name": "T4",
        "driver_name": "Tesla T4",
        "compute_capability": (7, 5),
        "sm_count": 40,
        "boost_clock_mhz": 1590,
        "memory_bytes": 16 * GIB,
        "memory_type": "GDDR6",
        "memory_bus_bits": 256,
        "memory_rate_gbps": 10.0,
        "l2_bytes": 4 * MIB,
        "fp16_tensor_tflops": 65.0,
        "pcie_generation": 3,
        "tdp_w": 70,
        "source": _TURING,
        "other_sources": {"pcie_generation": _T4, "fp16_tensor_tflops": _T4},
    },
    {
        "name": "A100 SXM4 40GB",
        "driver_name": "NVIDIA A100-SXM4-40GB",
        "memory_bytes": 40 * GIB,
        "memory_type": "HBM2",
        "memory_rate_gbps": 2.43,
        **_A100_SXM4,
    },
    {
        "name": "A100 SXM4 80GB",
        "driver_name": "NVIDIA A100-SXM4-80GB",
        "memory_bytes": 80 * GIB,
        "memory_type": "HBM2e",
        "memory_rate_gbps": 3.186,
        **_A100_SXM4,
        "other_sources": {
            "memory_bytes": _A100,
            "memory_type": _A100,
            "memory_rate_gbps": _A100,
        },
    },
    {
        "name": "RTX 3070",
        "driver_name": "NVIDIA GeForce RTX 3070",
        "compute_capability": (8, 6),
        "sm_count": 46,
        "boost_clock_mhz": 1725,
        "memory_bytes": 8 * GIB,
        "memory_type": "GDDR6",
        "memory_bus_bits": 256,
        "memory_rate_gbps": 14.0,
        "l2_bytes": 4 * MIB,
        "fp16_tensor_tflops": 40.6,
        "bf16_tensor_tflops": 40.6,
        "tf32_tensor_tflops": 20.3,
        "pcie_generation": 4,
        "tdp_w": 220,
        "source": _GA102,
    },
    {
        "name": "RTX 4090",
        "driver_name": "NVIDIA GeForce RTX 4090",
        "compute_capability": (8, 9),
        "sm_count": 128,
        "boost_clock_mhz": 2520,
        "memory_bytes": 24 * GIB,
        "memory_type": "GDDR6X",
        "memory_bus_bits": 384,
        "memory_rate_gbps": 21.0,
        "l2_bytes": 72 * MIB,
        "fp16_tensor_tflops": 165.2,
        "bf16_tensor_tflops": 165.2,
        "tf32_tensor_tflops": 82.6,
        "fp8_tensor_tflops": 330.3,
        "pcie_generation": 4,
        "tdp_w": 450,
        "source": _ADA,
    },
    {
        "name": "L4",
        "driver_name": "NVIDIA L4",
        "compute_capability": (8, 9),
        "sm_count": 58,
        "boost_clock_mhz": 2040,
        "memory_bytes": 24 * GIB,
        "memory_type": "GDDR6",
        "memory_bus_bits": 192,
        "memory_rate_gbps": 12.5,
        "l2_bytes": 48 * MIB,
        "fp16_tensor_tflops": 121.0,
        "bf16_tensor_tflops": 121.0,
        "tf32_tensor_tflops": 60.0,
        "fp8_tensor_tflops": 242.5,
        "pcie_generation": 4,
        "tdp_w": 72,
        "source": _L4,
        "other_sources": {
            "sm_count": _L4_BRIEF,
            "boost_clock_mhz": _L4_BRIEF,
            "memory_bus_bits": _L4_BRIEF,
            "memory_rate_gbps": _L4_BRIEF,
            "l2_bytes": _DRIVER,
        },
    },
    {
        "name": "L40S",
        "driver_name": "NVIDIA L40S",
        "compute_capability": (8, 9),
        "sm_count": 142,
        "boost_clock_mhz": 2520,
        "memory_bytes": 48 * GIB,
        "memory_type": "GDDR6",
        "memory_bus_bits": 384,
        "memory_rate_gbps": 18.0,
        "l2_bytes": 96 * MIB,
        "fp16_tensor_tflops": 362.05,
        "bf16_tensor_tflops": 362.05,
        "tf32_tensor_tflops": 183.0,
        "fp8_tensor_tflops": 733.0,
        "pcie_generation": 4,
        "tdp_w": 350,
        "source": _L40S,
        "other_sources": {
            "boost_clock_mhz": _L40S_BRIEF,
            "memory_bus_bits": _L40S_BRIEF,
            "memory_rate_gbps": _L40S_BRIEF,
            "l2_bytes": _DRIVER,
        },
    },
    {
        "name": "H100 SXM",
        "driver_name": "NVIDIA H100 80GB HBM3",
        "compute_capability": (9, 0),
        "sm_count": 132,
        "boost_clock_mhz": 1980,
        "memory_bytes": 80 * GIB,
        "memory_type": "HBM3",
        "memory_bus_bits": 5120,
        "memory_rate_gbps": 5.238,
        "l2_bytes": 50 * MIB,
        "fp16_tensor_tflops": 989.4,
        "bf16_tensor_tflops": 989.4,
        "tf32_tensor_tflops": 494.7,
        "fp8_tensor_tflops": 1978.9,
        "pcie_generation": 5,
        "nvlink_gbs": 900,
        "tdp_w": 700,
        "source": _HOPPER,
        "other_sources": {"memory_rate_gbps": _DRIVER},
    },
    {
        "name": "H100 PCIe",
        "driver_name": "NVIDIA H100 PCIe",
        "compute_capability": (9, 0),
        "sm_count": 114,
        "boost_clock_mhz": 1755,
        "memory_bytes": 80 * GIB,
        "memory_type": "HBM2e",
        "memory_bus_bits": 5120,
        "memory_rate_gbps": 3.186,
        "l2_bytes": 50 * MIB,
        "fp16_tensor_tflops": 756.0,
        "bf16_tensor_tflops": 756.0,
        "tf32_tensor_tflops": 378.0,
        "fp8_tensor_tflops": 1513.0,
        "pcie_generation": 5,
        "nvlink_gbs": 600,
        "tdp_w": 350,
        "source": _HOPPER,
        "other_sources": {
            "boost_clock_mhz": _H100_PCIE,
            "memory_rate_gbps": _H100_PCIE,
        },
    },
    {
        "name": "H200",
        "driver_name": "NVIDIA H200",
        "compute_capability": (9, 0),
        "sm_count": 132,
        "boost_clock_mhz": 1980,
        "memory_bytes": 150_754_820_096,  # the data sheet says 141 GB
        "memory_type": "HBM3e",
        "memory_bus_bits": 6144,
        "memory_rate_gbps": 6.25,  # the published 4.8 TB/s over 6144 pins
        "l2_bytes": 60 * MIB,
        "fp16_tensor_tflops": 989.5,
        "bf16_tensor_tflops": 989.5,
        "tf32_tensor_tflops": 494.5,
        "fp8_tensor_tflops": 1979.0,
        "pcie_generation": 5,
        "nvlink_gbs": 900,
        "tdp_w": 700,
        "source": _H200,
        "other_sources": {
            "memory_bytes": _DRIVER,
            "sm_count": _DRIVER,
            "boost_clock_mhz": _DRIVER,
            "memory_bus_bits": _DRIVER,
            "l2_bytes": _DRIVER,
        },
    },
    {
        "name": "HGX B200",
        "driver_name": "NVIDIA B200",
        "compute_capability": (10, 0),
        "sm_count": 148,
        "boost_clock_mhz": 1965,
        "memory_bytes": 180 * GIB,
        "memory_type": "HBM3e",
        "memory_bus_bits": 7680,
        "memory_rate_gbps": 7.992,
        "l2_bytes": 126 * MIB,
        "fp16_tensor_tflops": 2250.0,
        "bf16_tensor_tflops": 2250.0,
        "tf32_tensor_tflops": 1100.0,
        "fp8_tensor_tflops": 4500.0,
        "pcie_generation": 5,
        "nvlink_gbs": 1800,
        "tdp_w": 1000,
        "source": _B200,
        "other_sources": {
            "sm_count": _DRIVER,
            "boost_clock_mhz": _DRIVER,
            "memory_bus_bits": _DRIVER,
            "memory_rate_gbps": _DRIVER,
            "l2_bytes": _BLACKWELL_GUIDE,
        },
    },
    {
        "name": "RTX 5090",
        "driver_name": "NVIDIA GeForce RTX 5090",
        "compute_capability": (12, 0),
        "sm_count": 170,
        "boost_clock_mhz": 2407,
        "memory_bytes": 32 * GIB,
        "memory_type": "GDDR7",
        "memory_bus_bits": 512,
        "memory_rate_gbps": 28.0,
        "l2_bytes": 96 * MIB,
        "fp16_tensor_tflops": 209.5,
        "bf16_tensor_tflops": 209.5,
        "tf32_tensor_tflops": 104.8,
        "fp8_tensor_tflops": 419.0,
        "pcie_generation": 5,
        "tdp_w": 575,
        "source": _RTX_BLACKWELL,
    },
)
