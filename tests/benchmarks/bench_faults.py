"""What goes wrong under attack, counted: searches beside writers, kills, hostile files, hostile requests.

    uv run python tests/benchmarks/bench_faults.py searches 100000
    uv run python tests/benchmarks/bench_faults.py kills 10       # of each writing command
    uv run python tests/benchmarks/bench_faults.py files 30       # of each format
    uv run python tests/benchmarks/bench_faults.py requests 5000

Each part has a server in a temporary home of its own, prints a table, and names what went wrong on stderr. The exit
code is 1 if anything was lost, leaked or crashed. ``--seed`` chooses other kills, files and requests, ``--only`` a
command or a format.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from importlib import import_module
from pathlib import Path

from rich.console import Console

from pipeline import HopRank
from pipeline.db.embedded import ServerOptions, ensure_running, stop
from pipeline.records import Precision
from pipeline.settings import load_settings

PARTS = {"searches": 100_000, "kills": 10, "files": 30, "requests": 5_000}
"""The parts, each with how many there are unless a number is given."""


@contextmanager
def served() -> Iterator[HopRank]:
    """Give a server of its own; what is run in its home finds it, and the model as it is in the user's home."""
    own = load_settings().data_home
    with tempfile.TemporaryDirectory(prefix="hoprank-faults-", ignore_cleanup_errors=True) as home:
        (own / "onnx").mkdir(parents=True, exist_ok=True)
        (Path(home) / "onnx").symlink_to(own / "onnx")
        options = ServerOptions(Path(home), jars=own / "jars")
        address = ensure_running(options)
        os.environ |= {f"NEO4J_{name.upper()}": value for name, value in asdict(address).items()}
        os.environ["HOPRANK_HOME"] = home
        # In float32 a command embeds a few texts without torch, whose import takes longer than all else.
        os.environ["HOPRANK_EMBED__PRECISION"] = Precision.FLOAT32
        try:
            with HopRank.connect() as hoprank:
                yield hoprank
        finally:
            stop(options)


def main() -> int:
    """Run a part; print what it counted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("number", type=int, nargs="?")
    parser.add_argument("--seed", type=int, default=37)
    parser.add_argument("--only", nargs="*", default=())
    chosen = parser.parse_args()
    part = import_module(f"tests.benchmarks.faults_{chosen.part}")
    number = PARTS[chosen.part] if chosen.number is None else chosen.number
    with served() as hoprank:
        given = () if chosen.part == "searches" else (chosen.seed, chosen.only)
        table, wrong = part.run(hoprank, number, *given)
    Console(width=None if sys.stdout.isatty() else 140).print(table)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
