"""The precision that "auto" means, and processors that announce the matrix unit AMX but can't use it."""

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from pipeline.records import Precision

_CPUINFO = Path("/proc/cpuinfo")
_BOOT = Path("/proc/sys/kernel/random/boot_id")

_MULTIPLY = """
import resource, torch
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
ones = torch.ones(64, 64, dtype=torch.bfloat16)
torch.nn.functional.linear(ones, ones)
"""

_TIMEOUT_SECONDS = 120  # the probe takes three; chosen by hand, not measured
_GPUS = ("/dev/nvidia0", "/dev/kfd")  # device files of NVIDIA's and AMD's drivers


def native_precision(device: str, folder: Path | None = None) -> Precision:
    """Return the fastest precision of ``device``; "auto" is a GPU if there is one, else the processor.

    It is bfloat16 where the hardware computes it natively and PyTorch is installed. On a processor its flags tell,
    without PyTorch: a sync of a few documents in float32 doesn't load it. The check of the matrix unit keeps its result
    in ``folder``, if given.
    """
    if not _has_torch():
        return Precision.FLOAT32
    if may_have_gpu(device):
        import torch

        cuda = device.startswith("cuda") or (device == "auto" and torch.cuda.is_available())
        if cuda and torch.cuda.is_available() and torch.cuda.is_bf16_supported(including_emulation=False):
            return Precision.BFLOAT16
        if cuda or device != "auto":
            return Precision.FLOAT32
    flags = cpu_flags()
    # A processor whose matrix unit can't be used is slower in bfloat16 than in float32.
    native = not has_crippled_amx(folder) if "amx_tile" in flags else "avx512_bf16" in flags
    return Precision.BFLOAT16 if native else Precision.FLOAT32


def processors() -> int:
    """Return how many processors an encoder may use: all, or as many as OMP_NUM_THREADS says, as Ray sets it."""
    chosen = os.environ.get("OMP_NUM_THREADS", "")
    return int(chosen) if chosen.isdigit() and int(chosen) else os.cpu_count() or 1


def may_have_gpu(device: str) -> bool:
    """Return whether PyTorch may compute elsewhere than on the processor if ``device`` is chosen; told without it."""
    if device == "auto":
        return _has_torch() and (sys.platform != "linux" or any(Path(file).exists() for file in _GPUS))
    return device != "cpu"


def _has_torch() -> bool:
    return find_spec("torch") is not None


@cache
def has_crippled_amx(folder: Path | None = None) -> bool:
    """Return whether AMX is announced but kills the process that uses it, as on some virtual machines.

    PyTorch's oneDNN trusts the announcement, and its first product in bfloat16 is an illegal instruction. Where AMX is
    announced, a child process therefore tries a product, which takes three seconds. The result is kept in ``folder``,
    if given, until the machine restarts or PyTorch changes.
    """
    if "amx_tile" not in cpu_flags():
        return False
    file = folder / "amx.json" if folder else None
    key = []
    if started := boot():
        key = [started, version("torch")]  # on which the probe's result depends
    crippled = None
    if file:
        with suppress(OSError, ValueError, LookupError, TypeError):
            result = json.loads(file.read_text(encoding="utf-8"))
            crippled = bool(result["crippled"]) if result["key"] == key else None
    if crippled is None:
        crippled = _is_multiplying_illegal()
        if file and key and crippled is not None:
            with suppress(OSError):  # if the folder can't be written, the next process probes again
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(json.dumps({"key": key, "crippled": crippled}), encoding="utf-8")
    # After a probe without a result (killed, timed out) AMX counts as crippled: using it might kill this process.
    return crippled is not False


def boot() -> str:
    """Return what names this start of the machine; "" where the system doesn't tell (not Linux)."""
    with suppress(OSError):
        return _BOOT.read_text(encoding="utf-8").strip()
    return ""


def cpu_flags() -> frozenset[str]:
    """Return the instruction sets that the processor announces; none where the system doesn't list them (not Linux)."""
    with suppress(OSError):
        lines = _CPUINFO.read_text(encoding="utf-8").splitlines()
        return frozenset(next((line for line in lines if line.startswith("flags")), "").split())
    return frozenset()


def _is_multiplying_illegal() -> bool | None:
    """Return whether a product in bfloat16 ends a process with SIGILL; None if it neither succeeds nor does that."""
    # The user's own limit would hide what oneDNN does without it.
    environment = {name: value for name, value in os.environ.items() if name != "ONEDNN_MAX_CPU_ISA"}
    try:
        probe = subprocess.run(  # noqa: S603 - the code is ours
            [sys.executable, "-P", "-c", _MULTIPLY],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return {0: False, -signal.SIGILL: True}.get(probe.returncode)
