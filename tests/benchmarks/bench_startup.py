"""Start-up: CPU seconds (user and system) of commands that need no server, and of the imports.

    uv run python tests/benchmarks/bench_startup.py --against ../other-checkout/.venv/bin/python

With --against each round runs both interpreters in turn, and the table adds the other's seconds and the ratio, so that
both meet the same machine. Figures are medians over the rounds. Run it on a quiet machine; POSIX only.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile

from rich.console import Console
from rich.table import Table

_MAIN = "from pipeline.cli import main; main()"
_COMMANDS = (
    "--help",
    "--version",
    "search --help",
    "evaluate --help",
    "corpus --help",
    "skills build --help",
    "config show",
    "db status",
)
_IMPORTS = ("import pipeline", "from pipeline import HopRank")


def main() -> None:
    """Measure each row in turn and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", metavar="PYTHON", help="the interpreter of another checkout's environment")
    parser.add_argument("--rounds", type=int, default=9)
    arguments = parser.parse_args()
    pythons = [sys.executable, *([arguments.against] if arguments.against else [])]
    table = Table(title=f"Start-up, CPU seconds, median of {arguments.rounds}")
    table.add_column("command")
    for column in ("here", "there", "here / there")[: 1 if len(pythons) == 1 else 3]:
        table.add_column(column, justify="right")
    rows = {f"hoprank {command}": [_MAIN, *command.split()] for command in _COMMANDS}
    rows |= {statement: [statement] for statement in _IMPORTS}
    with tempfile.TemporaryDirectory() as folder:
        for name, row in rows.items():
            seconds = _medians(pythons, row, folder, arguments.rounds)
            ratio = [f"{seconds[0] / seconds[1]:.2f}"] if len(seconds) > 1 else []
            table.add_row(name, *(f"{cpu:.2f}" for cpu in seconds), *ratio)
    Console().print(table)


def _medians(pythons: list[str], arguments: list[str], folder: str, rounds: int) -> list[float]:
    """Return the CPU seconds of each interpreter; the first round, which may compile, isn't counted."""
    taken: list[list[float]] = [[_cpu(python, arguments, folder) for python in pythons] for _ in range(rounds + 1)]
    return [statistics.median(column) for column in zip(*taken[1:], strict=True)]


def _cpu(python: str, arguments: list[str], folder: str) -> float:
    own = os.environ if python == sys.executable else {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    environment = {name: value for name, value in own.items() if not name.startswith("NEO4J_")}
    before = _children()
    subprocess.run(
        [python, "-c", *arguments],
        cwd=folder,
        env=environment | {"HOPRANK_HOME": folder},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return _children() - before


def _children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    main()
