"""What the service describes of hits, passages, documents and removals is what their records hold."""

from __future__ import annotations

from dataclasses import fields

import pytest
from pydantic import BaseModel

from pipeline.ingest.update.changes import Outcome
from pipeline.records import Hit, LegRank
from pipeline.retrieve.context import Passage
from pipeline.serve.http.models import HitMetadata, PassageModel, Place, RemovalModel

DESCRIBED: list[tuple[type[BaseModel], type, set[str]]] = [
    (HitMetadata, Hit, {"text"}),
    (Place, LegRank, set()),
    (PassageModel, Passage, set()),
    (RemovalModel, Outcome, set()),
]
"""Models, their records, and the fields of a record that stand elsewhere in the answer."""


@pytest.mark.parametrize(("model", "record", "elsewhere"), DESCRIBED, ids=lambda value: getattr(value, "__name__", ""))
def test_a_model_has_the_fields_of_its_record(model: type[BaseModel], record: type, elsewhere: set[str]) -> None:
    assert set(model.model_fields) == {field.name for field in fields(record)} - elsewhere
