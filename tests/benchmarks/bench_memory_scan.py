"""Scan code for a memory: seconds of 1,000 files, and of the whole history of a repository.

    uv run python tests/benchmarks/bench_memory_scan.py --history .

Without a folder of code, 1,000 files are generated: modules of Python that import and call one another. Nothing is
written to a database.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from pipeline.domains.memory.code.scan import scan

_FILES, _PACKAGES, _FUNCTIONS = 1000, 20, 15


def main() -> None:
    """Scan what is given, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, help="a repository or folder to scan as it is")
    parser.add_argument("--history", metavar="REPOSITORY", type=Path, help="a repository to scan with its history")
    arguments = parser.parse_args()
    table = Table(title="Scans of code")
    for column in ("what", "entities", "facts", "wall", "CPU"):
        table.add_column(column, justify="left" if column == "what" else "right")
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.folder or _generated(Path(scratch))
        table.add_row(str(arguments.folder or f"{_FILES:,} files"), *_timed(folder, history=False))
    if arguments.history:
        table.add_row(f"history of {arguments.history}", *_timed(arguments.history, history=True))
    Console().print(table)


def _timed(path: Path, *, history: bool) -> list[str]:
    wall, cpu = time.perf_counter(), time.process_time()
    found = scan(path, scope="bench", history=history)
    seconds = (time.perf_counter() - wall, time.process_time() - cpu)
    return [f"{len(found.entities):,}", f"{len(found.spans):,}", *(f"{value:.1f} s" for value in seconds)]


def _generated(folder: Path) -> Path:
    for number in range(_FILES):
        package = folder / f"package{number % _PACKAGES}"
        package.mkdir(exist_ok=True)
        (package / "__init__.py").touch()
        other = (number + 1) % _FILES
        lines = ["import os", "import numpy", f"from package{other % _PACKAGES}.module{other} import work0", ""]
        for index in range(_FUNCTIONS):
            lines += [
                f"def work{index}(value):",
                f'    """Do the work {index} of module {number}."""',
                f"    seen = [numpy.sqrt(item) for item in value if os.environ.get('LIMIT_{index}')]",
                f"    return work{(index + 1) % _FUNCTIONS}(seen) or sorted(seen)",
                "",
            ]
        lines += ["class Engine:", "    def run(self):", "        return self.stop() or work0([1])"]
        lines += ["    def stop(self):", "        return None", ""]
        (package / f"module{number}.py").write_text("\n".join(lines), encoding="utf-8")
    return folder


if __name__ == "__main__":
    main()
