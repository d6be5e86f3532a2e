"""What the service describes of hits and jobs is what their records hold."""

from __future__ import annotations

from dataclasses import fields

import pytest
from pydantic import BaseModel

from pipeline.records import Hit
from pipeline.serve.http.models import HitMetadata, JobModel, JobProblem
from pipeline.serve.jobs.records import Job, Problem

DESCRIBED: list[tuple[type[BaseModel], type, set[str]]] = [
    (HitMetadata, Hit, {"text"}),
    (JobModel, Job, {"request", "deaths"}),
    (JobProblem, Problem, set()),
]
"""Models, their records, and the fields of a record that stand elsewhere in the answer."""


@pytest.mark.parametrize(("model", "record", "elsewhere"), DESCRIBED, ids=lambda value: getattr(value, "__name__", ""))
def test_a_model_has_the_fields_of_its_record(model: type[BaseModel], record: type, elsewhere: set[str]) -> None:
    assert set(model.model_fields) == {field.name for field in fields(record)} - elsewhere
