"""The ``hoprank`` command."""

from pipeline.cli.run import main

__all__ = ["main"]
