"""The announcements of the processor against what it does, in a process of its own that a false one would end."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.embedding import cpu
from pipeline.embedding.cpu import has_crippled_amx
from pipeline.embedding.sentence_transformer import SentenceTransformerEmbedder

_MULTIPLY = "import torch; ones = torch.ones(64, 64, dtype=torch.bfloat16); torch.nn.functional.linear(ones, ones)"
_EMBED = """
from pipeline.embedding.sentence_transformer import SentenceTransformerEmbedder
for precision in ("auto", "bfloat16", "float32"):
    print(precision, len(SentenceTransformerEmbedder(precision=precision).encode(["tide"] * 9)), flush=True)
"""

_ILLEGAL = "import os, signal; os.kill(os.getpid(), signal.SIGILL)"
_KILLED = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"


@pytest.fixture
def crippled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., bool]:
    """What a new process finds of AMX where ``probe`` is what multiplying does, in the boot of that name."""

    def found(probe: str, *, folder: Path | None = None, flags: str = "fpu amx_tile", boot: str = "first") -> bool:
        for name, content in (("_CPUINFO", f"processor\t: 0\nflags\t\t: {flags}\n"), ("_BOOT", f"{boot}\n")):
            (tmp_path / name).write_text(content)
            monkeypatch.setattr(cpu, name, tmp_path / name)
        monkeypatch.setattr(cpu, "_MULTIPLY", probe)
        return has_crippled_amx.__wrapped__(folder)

    return found


def run(code: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "ONEDNN_MAX_CPU_ISA"}
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_bfloat16_ends_a_process_only_where_amx_is_crippled() -> None:
    assert run(_MULTIPLY).returncode == 0 or has_crippled_amx()


@pytest.mark.slow
def test_no_precision_ends_the_process() -> None:
    """It did on a virtual machine that announces AMX and has none of its palettes."""
    done = run(_EMBED)

    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.split() == ["auto", "9", "bfloat16", "9", "float32", "9"]


@pytest.mark.slow
def test_auto_is_float32_where_amx_is_crippled(embedder: SentenceTransformerEmbedder) -> None:
    assert str(embedder.model.dtype) == "torch.float32" or not has_crippled_amx()


def test_amx_is_crippled_where_multiplying_is_illegal(crippled: Callable[..., bool]) -> None:
    assert crippled(_ILLEGAL)
    assert not crippled("pass")
    assert not crippled(_ILLEGAL, flags="fpu avx512_bf16"), "nothing is tried where AMX isn't announced"


def test_the_result_is_kept_until_the_machine_starts_again(crippled: Callable[..., bool], tmp_path: Path) -> None:
    onnx = tmp_path / "home" / "onnx"

    assert crippled(_ILLEGAL, folder=onnx)
    assert crippled("pass", folder=onnx)
    assert not crippled("pass", folder=onnx, boot="second")
    assert not crippled(_ILLEGAL, folder=onnx, boot="second")


def test_a_probe_that_says_nothing_is_not_believed_twice(crippled: Callable[..., bool], tmp_path: Path) -> None:
    assert crippled(_KILLED, folder=tmp_path)
    assert not (tmp_path / "amx.json").exists()
    assert not crippled("pass", folder=tmp_path)


@pytest.mark.parametrize("content", ["", "[]", "{}", "3", '{"key": 3}'])
def test_a_damaged_result_is_probed_again(crippled: Callable[..., bool], tmp_path: Path, content: str) -> None:
    (tmp_path / "amx.json").write_text(content)

    assert crippled(_ILLEGAL, folder=tmp_path)


def test_a_folder_that_cannot_be_written_costs_nothing_but_time(crippled: Callable[..., bool], tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    assert crippled(_ILLEGAL, folder=tmp_path / "file" / "onnx")
