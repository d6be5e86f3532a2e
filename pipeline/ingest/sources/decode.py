"""Bytes as text, under the former name of the module."""

from pipeline.files.guard import UTF_16_MARKS as UTF_16_MARKS
from pipeline.files.guard import decode as decode
from pipeline.files.guard import well_formed as well_formed
