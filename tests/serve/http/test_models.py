"""What the service describes of hits, passages, documents, removals and jobs is what their records hold."""

from __future__ import annotations

from dataclasses import fields

import pytest
from pydantic import BaseModel

from pipeline.flows.documents import DocumentEntry
from pipeline.ingest.update.changes import Outcome
from pipeline.records import Hit, LegRank
from pipeline.retrieve.context import Passage
from pipeline.serve.http.models import (
    AdvanceModel,
    DocumentEntryModel,
    HitMetadata,
    JobModel,
    JobProblem,
    PassageModel,
    Place,
    RemovalModel,
)
from pipeline.serve.jobs.records import Advance, Job, Problem

DESCRIBED: list[tuple[type[BaseModel], type, set[str]]] = [
    (HitMetadata, Hit, {"text"}),
    (Place, LegRank, set()),
    (PassageModel, Passage, set()),
    (RemovalModel, Outcome, set()),
    (DocumentEntryModel, DocumentEntry, set()),
    (JobModel, Job, {"request", "deaths"}),
    (AdvanceModel, Advance, set()),
    (JobProblem, Problem, set()),
]
"""Models, their records, and the fields of a record that stand elsewhere in the answer."""


@pytest.mark.parametrize(("model", "record", "elsewhere"), DESCRIBED, ids=lambda value: getattr(value, "__name__", ""))
def test_a_model_has_the_fields_of_its_record(model: type[BaseModel], record: type, elsewhere: set[str]) -> None:
    assert set(model.model_fields) == {field.name for field in fields(record)} - elsewhere
