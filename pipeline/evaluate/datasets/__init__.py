"""Read querysets: questions, and which documents answer them.

May import: errors, records, text.
"""

from pipeline.evaluate.datasets.folder import read_document_ids
from pipeline.evaluate.datasets.queryset import Query, QuerySet, check_documents
from pipeline.evaluate.datasets.read import read_queryset

__all__ = ["Query", "QuerySet", "check_documents", "read_document_ids", "read_queryset"]
