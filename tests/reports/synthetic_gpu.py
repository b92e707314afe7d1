"""A folder as `make gpu` writes it on a GPU, with figures made up: nobody measured them."""

import json
import shutil
from pathlib import Path

from synthetic_bench import samples

CEILINGS = {
    "flops": 5.2e13,
    "flops_tf32": 3.9e14,
    "flops_bfloat16": 7.4e14,
    "flops_float64": 5.9e13,
    "bytes": 4.1e12,
    "upload_bytes": 5.3e10,
    "download_bytes": 5.2e10,
    "launch_seconds": 2.1e-6,
    "graph_node_seconds": 8e-7,
}
COUNTS = {
    "counted_on": "simulated-gpu",
    "launches": 277,
    "synchronizations": 1,
    "uploads": 1,
    "hidden_synchronizations": 0,
    "upload_bytes": 802816,
    "downloads": 1,
    "download_bytes": 4,
    "pool_bytes": 123456789,
}
ROUNDS = 12
_TIME, _BYTES = "gpu__time_duration.sum", "dram__bytes.sum"
_TENSOR = "sm__ops_path_tensor_src_bf16_dst_fp32.sum"
_THREADS = [
    f"smsp__sass_thread_inst_executed_op_{kind}_pred_on.sum"
    for kind in ("fadd", "fmul", "ffma", "dfma")
]
#: Kernel, ns, bytes, operations of tensor cores, additions, products, fused ones, in float64.
LAUNCHES = [
    ("sgemm_128x128", "2,900,000", "201,326,592", 0, 0, 1000, "68,719,476,736", 0),
    ("sgemm_128x128", "3,100,000", "201,326,592", 0, 0, 1000, "68,719,476,736", 0),
    ("nvjet_hsh_256", "250,000", "100,663,296", "137,438,953,472", 0, 0, 0, 0),
    ("im2col <script>alert(1)</script>", "310,000", "1,073,741,824", "n/a", 0, 0, 0, 0),
    ("adam", "15,000", "50,331,648", 0, "4,194,304", "16,777,216", "8,388,608", 0),
    ("add", "210,000", "805,306,368", 0, "67,108,864", 0, 0, 0),
    ("copy", "1,000", "1000", 0, 0, 0, 0, 0),
]


def ncu_text() -> str:
    """What `ncu --csv --page raw --print-units base` writes of these launches."""
    rows = [
        ["ID", "Process ID", "Kernel Name", _TIME, _BYTES, _TENSOR, *_THREADS],
        ["", "", "", "ns", "byte", "", "inst", "inst", "inst", "inst"],
        *([number, 4242, *launch] for number, launch in enumerate(LAUNCHES)),
    ]
    lines = [",".join(f'"{value}"' for value in row) for row in rows]
    return "\n".join(["==PROF== Connected to process 4242", *lines]) + "\n"


def series(case: str, backend: str, seconds: float, seed: int, **more) -> dict:
    return {
        "case": case,
        "backend": backend,
        "unit": "s",
        "correct": True,
        "about": f"run({case})",
        "samples": samples(seconds * 1.3 + 2e-5, ROUNDS, seed),
        "compile_seconds": 0.41,
        "device_samples": samples(seconds, ROUNDS, seed + 1),
        "cold_samples": samples(seconds * 1.4 + 2e-5, ROUNDS, seed + 2),
        **more,
    }


def state(number: int) -> dict:
    held = ["sw_power_cap"] if number in {7, 8} else []
    return {
        "round": number,
        "sm_clock_mhz": 1980 - 45 * len(held) - number,
        "memory_clock_mhz": 3201,
        "power_w": 310.5 + 30 * number,
        "temperature_c": 41 + number,
        "throttle": held,
    }


def run(members: list[dict], *, simulated: bool) -> dict:
    name = "Simulated GPU" if simulated else "NVIDIA H200"
    form = {
        "bench": 1,
        "sessrun": "0.1.0",
        "started": "2026-11-29T12:00:00+00:00",
        "seed": 1,
        "fingerprint": {"processor": "AMD EPYC", "gpu": {"cupy": "14.2.0", "cublas": "13.0.2"}},
        "device": {"name": name, "kind": "gpu", "simulated": simulated},
        "rounds": ROUNDS,
        "ceilings": CEILINGS,
        "series": members,
        "ceilings_after": {key: value * 0.99 for key, value in CEILINGS.items()},
        "left_out": [{"case": "ceiling flops_tf32", "reason": "cuBLAS is too old"}],
    }
    return form if simulated else form | {"states": [state(i) for i in range(ROUNDS)]}


def matmuls() -> list[dict]:
    members = []
    for number, rows in enumerate((1024, 4096, 8192, 16384)):
        flops = 2.0 * rows**3
        for other, (backend, reached) in enumerate({"reference": 0.9, "torch": 0.96}.items()):
            share = reached * (0.35, 0.9, 0.97, 1.0)[number]
            members.append(
                series(
                    f"matmul-float32-{rows}",
                    backend,
                    flops / (share * 5.2e13),
                    100 * number + 10 * other,
                    flops=flops,
                    dtype="float32",
                    bytes=3.0 * 4 * rows**2,
                )
            )
    return members


def training(*, counted: bool) -> list[dict]:
    members = []
    for number, batch in enumerate((32, 256, 1024)):
        for other, backend in enumerate(("reference", "torch", "jax")):
            seconds = (2.4e-3, 1.6e-3, 1.2e-3)[other] * (1 + batch / 700)
            more = {"counts": COUNTS} if counted and backend == "reference" else {}
            members.append(
                series(
                    f"cnn-adam-resident-{batch}",
                    backend,
                    seconds,
                    500 + 100 * number + other,
                    flops=8.3e7 * batch,
                    dtype="float32",
                    **more,
                )
            )
    return members


def write_json(path: Path, form) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(form))


def gpu_folder(folder: Path, package: Path | None = None, *, simulated: bool = False) -> Path:
    """The folder with every part; `package` is the certificate that it has of core."""
    kind = {"gpu": "simulated"} if simulated else {}
    gpus = [] if simulated else [{"name": "NVIDIA H200", "driver_version": "580.1"}]
    write_json(
        folder / "survey.json",
        {
            "survey": 1,
            "backend": "reference 0.1.0",
            "details": kind,
            "gpus": gpus,
            "devices": ["/job:localhost/replica:0/task:0/device:GPU:0"],
            "packages": {"cupy-cuda13x": "14.2.0"},
            "machine": {"processor": "AMD EPYC"},
        },
    )
    write_json(folder / "peers.json", {"torch": {"version": "2.11.0"}, "jax": {"absent": "no GPU"}})
    programs = [
        {"program": "elementwise", "passed": True, "seconds": 0.1},
        {"program": "spectra", "passed": False, "wrong": "LinAlgError: cuFFT <b>failed</b>"},
    ]
    steps = [
        {"step": "survey", "part": "survey", "state": "done", "seconds": 2.0, "says": "one GPU"},
        {"step": "smoke", "part": "survey", "state": "answered no", "seconds": 30, "says": "2 ran"},
        {"step": "ncu-adam", "part": "profile", "state": "absent", "seconds": 0, "says": "no ncu"},
        {"step": "warm", "part": "survey", "state": "out of time", "seconds": 400, "says": "?"},
    ]
    for name, lines in (("smoke.jsonl", programs), ("steps.jsonl", steps)):
        (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines))
    trained = training(counted=simulated)
    for name, members in (("matmul-float32", matmuls()), ("cnn-adam-resident", trained)):
        write_json(folder / "bench" / name / "bench.json", run(members, simulated=simulated))
    write_json(
        folder / "ceilings" / "bench.json",
        run([series("no-op", "reference", 1e-6, 3)], simulated=simulated),
    )
    if not simulated:
        counted = series("cnn-adam-fed-256", "reference#simulated-gpu", 1.5, 4, counts=COUNTS)
        write_json(folder / "counts" / "bench.json", run([counted], simulated=True))
        (folder / "profile").mkdir()
        (folder / "profile" / "cnn-adam-resident-256.csv").write_text(ncu_text())
        (folder / "profile" / "memcheck.txt").write_text(
            "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n"
        )
    if package is not None:
        (folder / "certify" / "core").mkdir(parents=True)
        shutil.copy(package, folder / "certify" / "core" / "package.zip")
    return folder
