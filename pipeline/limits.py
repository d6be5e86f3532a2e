"""The limits of files, under their former name."""

from pipeline.files.limits import DEFAULT_LIMITS as DEFAULT_LIMITS
from pipeline.files.limits import MEGABYTE as MEGABYTE
from pipeline.files.limits import Limits as Limits
