"""Checkouts of the project that are compared: each works in a process of its own, with its own package."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


class Checkout:
    """A process that runs ``worker``, a program that answers each line with a line, with the package of a checkout."""

    def __init__(self, folder: Path, worker: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", worker],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(folder)},
        )

    def ask(self, line: str) -> list[float]:
        """Return the numbers that answer a line."""
        assert self._process.stdin
        assert self._process.stdout
        print(line, file=self._process.stdin, flush=True)
        return [float(number) for number in self._process.stdout.readline().split()]

    def end(self) -> None:
        """End the process."""
        self._process.communicate()


def both(other: Path, worker: str) -> tuple[Checkout, Checkout]:
    """Start this checkout and the other one."""
    return Checkout(Path(__file__).parents[2], worker), Checkout(other.resolve(), worker)
