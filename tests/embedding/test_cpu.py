"""What the processor says of itself, against what it does: in a process of its own, which a false answer would end."""

from __future__ import annotations

import os
import subprocess
import sys

from pipeline.embedding.cpu import has_crippled_amx
from pipeline.embedding.embedder import Embedder

_MULTIPLY = "import torch; ones = torch.ones(64, 64, dtype=torch.bfloat16); torch.nn.functional.linear(ones, ones)"
_EMBED = "from pipeline.embedding.embedder import Embedder; print(len(Embedder(precision='{}').encode(['tide'] * 9)))"


def run(code: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "ONEDNN_MAX_CPU_ISA"}
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)


def test_bfloat16_ends_a_process_only_where_amx_is_crippled() -> None:
    assert run(_MULTIPLY).returncode == 0 or has_crippled_amx()


def test_no_precision_ends_the_process() -> None:
    """It did on a virtual machine that announces AMX and has none of its palettes."""
    for precision in ("auto", "bfloat16", "float32"):
        done = run(_EMBED.format(precision))

        assert (done.returncode, done.stdout.strip()) == (0, "9"), done.stderr


def test_auto_is_float32_where_amx_is_crippled(embedder: Embedder) -> None:
    assert str(embedder.model.dtype) == "torch.float32" or not has_crippled_amx()
