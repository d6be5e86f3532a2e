"""What Ray raises is told in a line."""

from __future__ import annotations

import pytest

from pipeline.ingest.distributed.engine import failed

TASK = (
    "\x1b[36mray::MapBatches(read_files)()\x1b[39m (pid=7796, ip=192.0.2.2)\n"
    '  File "work.py", line 2, in read_files\n    raise ValueError("no value")\nValueError: no value\n\n'
    "The above exception was the direct cause of the following exception:\n\n"
    "ray.exceptions.UserCodeException: UDF failed to process a data block.\nTo change retry attempts, configure ..."
)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (TASK, "ValueError: no value"),
        ("The actor died unexpectedly before finishing this task.\n\tclass_name: A", "The actor died unexpectedly"),
        ("ray::MapBatches(read_files)()", "ray::MapBatches"),
        ("", "RuntimeError"),
    ],
)
def test_an_error_of_ray_is_told_in_a_line(text: str, line: str) -> None:
    assert str(failed(RuntimeError(text))).startswith(f"Ray failed: {line}")
