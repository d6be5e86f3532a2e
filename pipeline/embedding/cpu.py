"""Detection of processors that announce the matrix unit AMX but can't use it."""

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path

_CPUINFO = Path("/proc/cpuinfo")
_BOOT = Path("/proc/sys/kernel/random/boot_id")

_MULTIPLY = """
import resource, torch
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
ones = torch.ones(64, 64, dtype=torch.bfloat16)
torch.nn.functional.linear(ones, ones)
"""

_TIMEOUT_SECONDS = 120


@cache
def has_crippled_amx(folder: Path | None = None) -> bool:
    """Return whether AMX is announced but kills the process that uses it, as on some virtual machines.

    PyTorch's oneDNN trusts the announcement, and its first product in bfloat16 is an illegal instruction. Where AMX is
    announced, a child process therefore tries a product, which takes three seconds. The result is kept in ``folder``,
    if given, until the machine restarts or PyTorch changes.
    """
    if "amx_tile" not in cpu_flags():
        return False
    file, key = (folder / "amx.json", _key()) if folder else (None, [])
    crippled = _read_result(file, key) if file else None
    if crippled is None:
        crippled = _is_multiplying_illegal()
        if file and key and crippled is not None:
            _write_result(file, key, crippled)
    # After a probe without a result (killed, timed out) AMX counts as crippled: using it might kill this process.
    return crippled is not False


def cpu_flags() -> frozenset[str]:
    """Return the instruction sets that the processor announces; none where the system doesn't list them (not Linux)."""
    try:
        lines = _CPUINFO.read_text(encoding="utf-8").splitlines()
    except OSError:
        return frozenset()
    return frozenset(next((line for line in lines if line.startswith("flags")), "").split())


def _key() -> list[str]:
    """Return the boot and the PyTorch version, on which the probe's result depends; empty if the boot is unknown."""
    try:
        return [_BOOT.read_text(encoding="utf-8").strip(), version("torch")]
    except OSError:
        return []


def _read_result(file: Path, key: list[str]) -> bool | None:
    with suppress(OSError, ValueError, LookupError, TypeError):
        result = json.loads(file.read_text(encoding="utf-8"))
        if result["key"] == key:
            return bool(result["crippled"])
    return None


def _write_result(file: Path, key: list[str], crippled: bool) -> None:
    # If the folder can't be written, the next process probes again.
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"key": key, "crippled": crippled}), encoding="utf-8")


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
