"""The GPU table against published figures, and reading a GPU through its driver."""

from dataclasses import FrozenInstanceError, fields
from types import SimpleNamespace

import pytest

from coursekit import hardware
from coursekit.errors import CourseError, DeviceError, UnsupportedError
from coursekit.hardware import device, devices, read_gpu
from coursekit.hardware.architectures import SM_LIMITS, sm_limits


@pytest.fixture(autouse=True)
def no_backend_variable(monkeypatch):
    monkeypatch.delenv("COURSEKIT_BACKEND", raising=False)


@pytest.fixture
def simulator():
    from coursekit.runtime.simulator import simulator

    return simulator


# name, FP32 TFLOP/s, FP64 TFLOP/s, GB/s: as the data sheets print them.
PUBLISHED = [
    ("V100 SXM2 16GB", 15.7, 7.8, 900),
    ("V100 SXM2 32GB", 15.7, 7.8, 900),
    ("T4", 8.1, 0.25, 320),
    ("A100 SXM4 40GB", 19.5, 9.7, 1555),
    ("A100 SXM4 80GB", 19.5, 9.7, 2039),
    ("RTX 3070", 20.3, 0.318, 448),
    ("RTX 4090", 82.6, 1.29, 1008),
    ("L4", 30.3, 0.473, 300),
    ("L40S", 91.6, 1.431, 864),
    ("H100 SXM", 66.9, 33.5, 3350),
    ("H100 PCIe", 51.2, 25.6, 2039),
    ("H200", 66.9, 33.5, 4800),
    ("HGX B200", 75, 37, 7700),
    ("RTX 5090", 104.8, 1.637, 1792),
]


def test_every_gpu_of_the_table_is_compared_with_published_figures():
    assert sorted(devices()) == sorted(row[0] for row in PUBLISHED)


@pytest.mark.parametrize(("name", "fp32", "fp64", "gbs"), PUBLISHED)
def test_fp32_peak_is_the_published_one(name, fp32, fp64, gbs):
    # Data sheets round to three digits or fewer: 1 %.
    assert device(name).fp32_tflops == pytest.approx(fp32, rel=0.01)


@pytest.mark.parametrize(("name", "fp32", "fp64", "gbs"), PUBLISHED)
def test_fp64_peak_is_the_published_one(name, fp32, fp64, gbs):
    # T4's 0.254 is printed as 0.25: 2 %.
    assert device(name).fp64_tflops == pytest.approx(fp64, rel=0.02)


@pytest.mark.parametrize(("name", "fp32", "fp64", "gbs"), PUBLISHED)
def test_memory_bandwidth_is_the_published_one(name, fp32, fp64, gbs):
    assert device(name).memory_bandwidth_gbs == pytest.approx(gbs, rel=0.005)


@pytest.mark.parametrize("name", list(devices()))
@pytest.mark.parametrize("kind", ["tf32", "fp8"])
def test_tensor_peaks_scale_with_the_width_of_the_format(name, kind):
    entry = device(name)
    ratio = {"tf32": 0.5, "fp8": 2.0}[kind]
    peak = getattr(entry, f"{kind}_tensor_tflops")
    if peak is None:
        assert entry.compute_capability < (8, 9)
    else:
        # The HGX B200's TF32 and L40S's FP8 are printed with few digits: 3 %.
        assert peak == pytest.approx(ratio * entry.fp16_tensor_tflops, rel=0.03)


@pytest.mark.parametrize("name", list(devices()))
def test_every_figure_names_its_source(name):
    figures = [item.name for item in fields(device(name))]
    assert [item for item in figures if not device(name).source_of(item)] == []


# As the white papers of the architectures count them: Volta has the first.
TENSOR_CORES = [
    ("V100 SXM2 16GB", 1), ("T4", 2), ("A100 SXM4 40GB", 3), ("RTX 3070", 3),
    ("RTX 4090", 4), ("H100 SXM", 4), ("HGX B200", 5), ("RTX 5090", 5),
]  # fmt: skip


@pytest.mark.parametrize(("name", "generation"), TENSOR_CORES)
def test_tensor_cores_have_the_generation_of_the_white_paper(name, generation):
    assert device(name).tensor_core_generation == generation


DERIVED = (
    "fp32_tflops", "fp64_tflops", "memory_bandwidth_gbs", "max_warps_per_sm",
    "pcie_gbs", "shared_bytes_per_block_optin", "tensor_core_generation",
)  # fmt: skip


@pytest.mark.parametrize("figure", DERIVED)
def test_every_derived_figure_says_how(figure):
    assert device("H200").source_of(figure).startswith("computed: ")


def test_derived_figure_names_its_formula():
    assert "memory_bus_bits" in device("T4").source_of("memory_bandwidth_gbs")


def test_every_entry_is_simulated():
    assert all(entry.simulated for entry in devices().values())


def test_properties_are_frozen():
    with pytest.raises(FrozenInstanceError):
        device("H200").sm_count = 1


# Compute capability, threads, blocks, shared KiB, shared KiB a block, L1 KiB: the
# programming guide's table.
GUIDE_ROWS = [
    ((7, 0), 2048, 32, 96, 96, 128),
    ((7, 5), 1024, 16, 64, 64, 96),
    ((8, 0), 2048, 32, 164, 163, 192),
    ((8, 6), 1536, 16, 100, 99, 128),
    ((8, 7), 1536, 16, 164, 163, 192),
    ((8, 9), 1536, 24, 100, 99, 128),
    ((9, 0), 2048, 32, 228, 227, 256),
    ((10, 0), 2048, 32, 228, 227, 256),
    ((10, 3), 2048, 32, 228, 227, 256),
    ((11, 0), 1536, 24, 228, 227, 256),
    ((12, 0), 1536, 24, 100, 99, 128),
]


@pytest.mark.parametrize("row", GUIDE_ROWS, ids=lambda row: str(row[0]))
def test_sm_limits_are_the_programming_guides(row):
    limits = SM_LIMITS[row[0]]
    assert row[1:] == (
        limits.max_threads_per_sm,
        limits.max_blocks_per_sm,
        limits.shared_bytes_per_sm // 1024,
        limits.shared_bytes_per_block_optin // 1024,
        limits.l1_and_shared_bytes_per_sm // 1024,
    )


def test_every_architecture_of_the_table_is_compared_with_the_guide():
    assert list(SM_LIMITS) == [row[0] for row in GUIDE_ROWS]


# The programming guide's ratio of FP32 to FP64 throughput.
FP32_PER_FP64 = [((8, 7), 64), ((10, 0), 2), ((10, 3), 64), ((11, 0), 64)]


@pytest.mark.parametrize(("capability", "ratio"), FP32_PER_FP64)
def test_fp64_lanes_follow_the_guides_ratio(capability, ratio):
    limits = SM_LIMITS[capability]
    assert limits.fp32_lanes_per_sm == ratio * limits.fp64_lanes_per_sm


@pytest.mark.parametrize(("asked", "row"), [((12, 1), (12, 0)), ((8, 8), (8, 6))])
def test_capability_with_the_limits_of_another_takes_its_row(asked, row):
    assert sm_limits(asked) is SM_LIMITS[row]


@pytest.mark.parametrize("capability", [(10, 7), (13, 0)])
def test_capability_whose_limits_are_unknown_is_refused(capability):
    with pytest.raises(UnsupportedError, match="COURSEKIT_BACKEND=simulator"):
        sm_limits(capability)


def test_memory_of_the_h200_is_what_its_driver_reports():
    assert "140.4 GiB" in repr(device("H200"))


@pytest.mark.parametrize("asked", ["B200", "HGX B200", "NVIDIA B200", "hgx-b200"])
def test_b200_is_found_by_each_of_its_names(asked):
    assert device(asked).name == "HGX B200"


def test_capability_before_volta_is_refused():
    with pytest.raises(UnsupportedError, match=r"6\.1"):
        sm_limits((6, 1))


def test_block_limits_of_nsight_compute_on_the_3070_follow_from_the_table():
    # 128 threads of 122 registers, 12.80 + 1.02 KB shared of a 65.54 KB share:
    # the listing says SM 16, registers 4, shared 4, warps 12.
    gpu = device("RTX 3070")
    warp_registers = -(-122 * gpu.warp_size // gpu.register_unit) * gpu.register_unit
    warps = gpu.registers_per_sm // gpu.schedulers_per_sm // warp_registers
    unit = gpu.shared_unit_bytes
    block_shared = -(-12800 // unit) * unit + gpu.shared_reserved_bytes_per_block
    assert 65536 in gpu.shared_carveouts_bytes
    assert (
        gpu.max_blocks_per_sm,
        warps * gpu.schedulers_per_sm // 4,
        65536 // block_shared,
        gpu.max_warps_per_sm // 4,
    ) == (16, 4, 4, 12)


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("A100 SXM4 40GB", "A100 SXM4 40GB"),
        ("a100-sxm4-80gb", "A100 SXM4 80GB"),
        ("A100 80GB", "A100 SXM4 80GB"),
        ("A100 SXM 40", "A100 SXM4 40GB"),
        ("nvidia h200", "H200"),
        ("NVIDIA GeForce RTX 4090", "RTX 4090"),
        ("rtx4090", "RTX 4090"),
        ("5090", "RTX 5090"),
        ("Tesla V100-SXM2-16GB", "V100 SXM2 16GB"),
        ("NVIDIA H100 80GB HBM3", "H100 SXM"),
        ("h100 p", "H100 PCIe"),
        ("L4", "L4"),
        ("L40S", "L40S"),
    ],
)
def test_lookup_forgives(asked, found):
    assert device(asked).name == found


@pytest.mark.parametrize(
    ("asked", "candidates"),
    [
        ("A100", ["A100 SXM4 40GB", "A100 SXM4 80GB"]),
        ("h100", ["H100 SXM", "H100 PCIe"]),
        ("RTX", ["RTX 3070", "RTX 4090", "RTX 5090"]),
    ],
)
def test_ambiguous_name_lists_the_candidates(asked, candidates):
    with pytest.raises(DeviceError) as caught:
        device(asked)
    assert ", ".join(candidates) in str(caught.value)


@pytest.mark.parametrize(
    ("asked", "near"), [("L40", "L40S"), ("H20", "H200"), ("RTX 4080", "RTX 4090")]
)
def test_another_model_number_is_unknown_and_names_what_is_near(asked, near):
    with pytest.raises(DeviceError, match="No GPU") as caught:
        device(asked)
    assert near in str(caught.value)


@pytest.mark.parametrize("asked", ["", "NVIDIA", "toaster"])
def test_name_like_no_other_lists_the_table_or_the_near(asked):
    with pytest.raises(DeviceError, match=r"ck\.devices"):
        device(asked)


def test_a_device_is_itself():
    assert device(device("T4")) is device("T4")


def test_a_device_is_asked_for_by_name_not_by_number():
    with pytest.raises(DeviceError, match="No GPU of the table is called '3'"):
        device(3)


def test_device_error_is_a_course_error():
    with pytest.raises(CourseError):
        device("toaster")


def test_without_gpu_the_device_is_a_simulated_h200(monkeypatch):
    monkeypatch.setattr(hardware, "present_gpu", lambda: None)
    assert device() is device("H200")


def test_the_gpu_present_is_the_device(monkeypatch):
    here = read_h200()
    monkeypatch.setattr(hardware, "present_gpu", lambda: here)
    assert device() is here


def test_the_backend_variable_hides_the_gpu_present(monkeypatch):
    monkeypatch.setattr(hardware, "present_gpu", read_h200)
    monkeypatch.setenv("COURSEKIT_BACKEND", "simulator")
    assert device().simulated


def test_a_simulated_device_wins_over_the_gpu_present(monkeypatch, simulator):
    monkeypatch.setattr(hardware, "present_gpu", read_h200)
    with simulator("T4"):
        assert device().name == "T4"


def test_the_simulated_device_ends_with_its_context(simulator):
    with simulator("T4"):
        pass
    assert hardware.current_simulated_device() is None


def test_simulated_devices_nest(simulator):
    with simulator("T4"):
        with simulator("L4"):
            pass
        assert hardware.current_simulated_device().name == "T4"


H200_ATTRIBUTES = {
    "COMPUTE_CAPABILITY_MAJOR": 9,
    "COMPUTE_CAPABILITY_MINOR": 0,
    "MULTIPROCESSOR_COUNT": 132,
    "CLOCK_RATE": 1_980_000,
    "MEMORY_CLOCK_RATE": 3_201_000,
    "GLOBAL_MEMORY_BUS_WIDTH": 6144,
    "L2_CACHE_SIZE": 60 * 2**20,
    "MAX_THREADS_PER_MULTIPROCESSOR": 2048,
    "MAX_BLOCKS_PER_MULTIPROCESSOR": 32,
    "MAX_THREADS_PER_BLOCK": 1024,
    "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR": 233472,
    "MAX_SHARED_MEMORY_PER_BLOCK": 49152,
    "RESERVED_SHARED_MEMORY_PER_BLOCK": 1024,
    "MAX_REGISTERS_PER_MULTIPROCESSOR": 65536,
    "MAX_REGISTERS_PER_BLOCK": 65536,
    "WARP_SIZE": 32,
}


def read_h200(name="NVIDIA H200", **changes):
    attributes = {**H200_ATTRIBUTES, **changes}
    return read_gpu(attributes.__getitem__, name, 150_754_820_096)


def test_a_gpu_read_from_its_driver_is_not_simulated():
    assert not read_h200().simulated


def test_a_gpu_read_from_its_driver_has_its_own_memory_size():
    assert read_h200().memory_bytes == 150_754_820_096


def test_a_known_gpu_takes_its_tensor_peaks_from_the_table():
    assert read_h200().fp8_tensor_tflops == device("H200").fp8_tensor_tflops


def test_a_known_gpu_keeps_the_published_bandwidth():
    # 3201 MHz x 2 x 6144 bit would be 4.92 TB/s; the data sheet promises 4.8.
    assert read_h200().memory_bandwidth_gbs == 4800


def test_a_known_gpu_runs_at_the_clock_its_driver_reports():
    assert read_h200(CLOCK_RATE=1_830_000).boost_clock_mhz == 1830


def test_the_source_of_a_read_figure_is_the_driver():
    assert "driver of this GPU" in read_h200().source_of("sm_count")


def test_an_unknown_gpu_takes_its_bandwidth_from_its_clock():
    here = read_h200(name="NVIDIA H300")
    assert here.memory_bandwidth_gbs == pytest.approx(4916.7, rel=1e-4)


def test_an_unknown_gpu_has_no_tensor_peaks():
    assert read_h200(name="NVIDIA H300").fp16_tensor_tflops is None


def test_a_slice_of_a_gpu_is_not_taken_for_the_whole():
    assert read_h200(MULTIPROCESSOR_COUNT=16).tdp_w is None


def test_an_unknown_gpu_has_the_lanes_of_its_architecture():
    here = read_h200(
        name="NVIDIA GB10", COMPUTE_CAPABILITY_MAJOR=12, COMPUTE_CAPABILITY_MINOR=1
    )
    assert here.fp32_lanes_per_sm == 128


def fake_driver(count=1, version=13000, init=0, **changes):
    attributes = {**H200_ATTRIBUTES, **changes}
    names = {f"CU_DEVICE_ATTRIBUTE_{name}": name for name in attributes}
    return SimpleNamespace(
        CUdevice_attribute=SimpleNamespace(**names),
        cuInit=lambda flags: (init,),
        cuDriverGetVersion=lambda: (0, version),
        cuDeviceGetCount=lambda: (0, count),
        cuDeviceGet=lambda ordinal: (0, 7),
        cuDeviceGetAttribute=lambda key, handle: (0, attributes[key]),
        cuDeviceGetName=lambda size, handle: (0, b"NVIDIA H200\0\0\0"),
        cuDeviceTotalMem=lambda handle: (0, 1 << 37),
    )


def test_the_first_gpu_is_read_through_the_driver():
    assert hardware._first_gpu(fake_driver()).name == "NVIDIA H200"


@pytest.mark.parametrize(
    "why",
    [
        {"count": 0},
        {"version": 12020},
        {"init": 100},
        {"COMPUTE_CAPABILITY_MAJOR": 7, "COMPUTE_CAPABILITY_MINOR": 0},
    ],
    ids=["no device", "driver of CUDA 12", "cuInit fails", "V100"],
)
def test_a_gpu_that_cuda_13_cannot_use_counts_as_none(why):
    assert hardware._first_gpu(fake_driver(**why)) is None


def test_a_failing_driver_call_raises_device_error():
    driver = fake_driver()
    driver.cuDeviceTotalMem = lambda handle: (999, None)
    with pytest.raises(DeviceError, match="999"):
        hardware._first_gpu(driver)


def test_repr_shows_the_figures_a_student_looks_for():
    text = repr(device("A100 SXM4 40GB"))
    expected = ["19.5", "1555 GB/s", "108 at up to 1410 MHz", "data sheet, simulated"]
    assert [part for part in expected if part not in text] == []


def test_repr_of_a_gpu_without_known_peaks_leaves_them_out():
    assert "tensor" not in repr(read_h200(name="NVIDIA H300"))


def test_html_has_a_caption_and_row_headers():
    text = device("T4")._repr_html_()
    assert "<caption>T4" in text
    assert "scope='row'" in text


def test_table_repr_has_a_line_for_every_gpu():
    assert len(repr(devices()).splitlines()) == len(devices()) + 1


def test_table_html_has_a_row_for_every_gpu():
    assert devices()._repr_html_().count("scope='row'") == len(devices())


def test_table_cannot_be_changed():
    with pytest.raises(TypeError):
        devices()["mine"] = device("T4")
