"""Join datasets into one whose documents name their project, for ``hoprank route evaluate OUT``.

    uv run python tests/benchmarks/join_projects.py OUT DATA_DIR/docs/flask DATA_DIR/docs/httpx

Each folder becomes a project of its name; ids of documents and queries get that name before them.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def main() -> None:
    """Write corpus.jsonl, queries.jsonl and qrels.tsv into the folder OUT."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("folders", type=Path, nargs="+")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name in ("corpus.jsonl", "queries.jsonl"):
        rows = [json.dumps(row) for folder in arguments.folders for row in _records(folder, name)]
        (arguments.out / name).write_text("\n".join([*rows, ""]), encoding="utf-8")
    judged = [line for folder in arguments.folders for line in _judgements(folder)]
    lines = ["query_id\tdoc_id\trelevance", *judged, ""]
    (arguments.out / "qrels.tsv").write_text("\n".join(lines), encoding="utf-8")


def _records(folder: Path, name: str) -> Iterator[dict[str, Any]]:
    for line in (folder / name).read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        yield {**row, "id": f"{folder.name}:{row['id']}", "repo": folder.name}


def _judgements(folder: Path) -> Iterator[str]:
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        query, document, relevance = line.split("\t")
        yield f"{folder.name}:{query}\t{folder.name}:{document}\t{relevance}"


if __name__ == "__main__":
    main()
