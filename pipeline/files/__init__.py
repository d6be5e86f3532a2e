"""Files from elsewhere: one reader each of JSON, JSON Lines, tab-separated values and YAML, under one guard.

``read_json(path, guard)`` and ``pipeline.files.yaml.read_yaml(path, guard)`` return a file's value, ``lines(path,
guard)`` its lines, each with ``json()``, ``object()`` and ``columns(n)``. ``pipeline.files.validated.validated(Model,
value, place, guard)`` makes a record of a value. Whatever is wrong is raised as the guard's class of error, which names
file and line; ``parse_json`` and ``parse_yaml`` raise Unreadable about a text. YAML and pydantic are imported by those
who name their modules.
"""

from pipeline.files.guard import GUARD, Guard, Unreadable, content_of, decode, read_text, unopenable, well_formed
from pipeline.files.limits import DEFAULT_LIMITS, Limits
from pipeline.files.lines import Line, lines, parse_json, read_json

__all__ = [
    "DEFAULT_LIMITS",
    "GUARD",
    "Guard",
    "Limits",
    "Line",
    "Unreadable",
    "content_of",
    "decode",
    "lines",
    "parse_json",
    "read_json",
    "read_text",
    "unopenable",
    "well_formed",
]
