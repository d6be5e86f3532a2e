"""Datasets: questions with their relevant documents, read from folders and files (``queryset`` in commands)."""

from pipeline.evaluate.datasets.dataset import Dataset, Query, check_documents
from pipeline.evaluate.datasets.folder import judgements, read_dataset, read_document_ids, read_grades

__all__ = [
    "Dataset",
    "Query",
    "check_documents",
    "judgements",
    "read_dataset",
    "read_document_ids",
    "read_grades",
]
