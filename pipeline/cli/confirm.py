"""Ask before something is deleted."""

import sys

import typer

from pipeline.errors import InputError


def confirm(question: str) -> None:
    """Ask on stderr; abort unless the answer is yes, and raise InputError without a terminal to ask on."""
    if not sys.stdin.isatty():
        raise InputError("Nobody is there to be asked whether to drop it.", "Give --yes to drop it without a question.")
    typer.confirm(question, abort=True, err=True)
