"""Datasets: questions with their relevant documents, read from folders and files (``queryset`` in commands)."""

from pathlib import Path

from pipeline.errors import QuerySetError
from pipeline.evaluate.datasets.dataset import Dataset, Query, check_documents
from pipeline.evaluate.datasets.folder import judgements, read_document_ids, read_folder
from pipeline.evaluate.datasets.hipporag import SUFFIX, read_hipporag

__all__ = ["Dataset", "Query", "check_documents", "judgements", "read_dataset", "read_document_ids"]


def read_dataset(path: Path, split: str | None = None) -> Dataset:
    """Read a dataset: a folder of JSON Lines (HopRank's own or BEIR's), or a folder or file of HippoRAG's.

    ``split`` chooses among BEIR's: test, dev or train. Raises ``QuerySetError`` if there is no dataset, a file is
    missing or malformed, or the folder holds several datasets.
    """
    if _is(path, folder=True) and not (path / "queries.jsonl").exists() and not (path / "qrels.tsv").exists():
        corpora = sorted(path.glob(f"*{SUFFIX}"))
        if len(corpora) > 1:
            names = ", ".join(corpus.name.replace(SUFFIX, ".json") for corpus in corpora[:5])
            raise QuerySetError(f"{path} holds {len(corpora)} querysets: {names}", f"Name one: {path}/NAME.json.")
        path = corpora[0] if corpora else path
    if path.suffix == ".json" and _is(path, folder=False):
        if split is not None:
            raise QuerySetError(f"{path} has no split {split!r}", "Leave the split out: HippoRAG's sets have none.")
        return read_hipporag(path.with_name(f"{path.name.removesuffix(SUFFIX).removesuffix('.json')}.json"))
    if not _is(path, folder=True):
        raise QuerySetError(
            f"{path} is not a folder that can be read",
            "Name a folder with queries.jsonl, qrels.tsv and, mostly, corpus.jsonl, or a NAME.json of HippoRAG's.",
        )
    return read_folder(path, split)


def _is(path: Path, *, folder: bool) -> bool:
    try:
        return path.is_dir() if folder else path.is_file()
    except OSError:
        return False
