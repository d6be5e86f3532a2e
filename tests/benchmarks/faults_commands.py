"""Commands as processes of their own that start quickly, and may be killed: for the parts of bench_faults.py."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

FORKING = """
import importlib, json, os, pkgutil, resource, signal, sys, time
import neo4j, numpy, onnxruntime, tokenizers
import pipeline.cli.app
import pipeline.cli.commands, pipeline.domains
for package in (pipeline.cli.commands, pipeline.domains):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if ".commands" in module.name:
            importlib.import_module(module.name)
from pipeline.api import HopRank
import pipeline.embedding.onnx, pipeline.flows.ingest, pipeline.flows.maintain

def become(argv, output):
    os.setsid()
    said = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for old, new in ((nothing, 0), (said, 1), (said, 2)):
        os.dup2(old, new)
    sys.argv = ["hoprank", *argv]
    code = 1
    try:
        pipeline.cli.main()
        code = 0
    except SystemExit as error:
        code = error.code or 0
    except BaseException:
        import traceback
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)

def wait(pid, seconds):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        ended, status, usage = os.wait4(pid, os.WNOHANG)
        if ended:
            return status, usage
        time.sleep(0.001)
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:  # it has no group of its own yet
        os.kill(pid, signal.SIGKILL)
    _, status, usage = os.wait4(pid, 0)
    return status, usage

for line in sys.stdin:
    wanted = json.loads(line)
    began = time.monotonic()
    pid = os.fork()
    if not pid:
        become(wanted["argv"], wanted["output"])
    status, usage = wait(pid, wanted["seconds"])
    said = {"status": os.waitstatus_to_exitcode(status), "seconds": time.monotonic() - began}
    print(json.dumps({**said, "megabytes": usage.ru_maxrss / 1024}), flush=True)
"""
"""Runs a command for each line, in a child that is forked from what has imported everything already: the import takes
longer than most commands. A child that isn't done in time is killed, with all that it started."""

LONGEST = 120.0  # seconds that a command may take; chosen by hand: the slowest takes a few on a quiet machine


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended: its exit status (less than 0 if it was killed), what it took, and what it said."""

    status: int
    seconds: float
    megabytes: float
    said: str


class Commands:
    """Runs commands, each in a process of its own."""

    def __init__(self, process: subprocess.Popen[str], folder: Path) -> None:
        self._process = process
        self._output = folder / "said.txt"

    def run(self, argv: Sequence[str], seconds: float = LONGEST) -> Ended:
        """Run a command, and kill it after so many seconds."""
        tell, hear = self._process.stdin, self._process.stdout
        assert tell
        assert hear
        print(json.dumps({"argv": argv, "output": str(self._output), "seconds": seconds}), file=tell, flush=True)
        ended = json.loads(hear.readline())
        said = self._output.read_bytes() if self._output.exists() else b""
        return Ended(**ended, said=said.decode(errors="replace"))

    def must(self, *commands: Sequence[str]) -> None:
        """Run commands that have to succeed."""
        for argv in commands:
            ended = self.run(argv)
            assert ended.status == 0, f"{' '.join(argv)}: {ended.status}\n{ended.said}"


@contextmanager
def running(folder: Path) -> Iterator[Commands]:
    """Give what runs commands by the settings of the environment."""
    with subprocess.Popen(
        [sys.executable, "-c", FORKING], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield Commands(process, folder)
        assert process.stdin
        process.stdin.close()
