"""The command's outer edge: errors become messages and exit codes here, and nowhere else."""

from __future__ import annotations

import sys
import traceback
from typing import Any

import typer
from typer.core import TyperGroup

from pipeline.errors import HopRankError, InputError

WRONG_INPUT = 2
FAULT = 1
INTERRUPTED = 130


class Edge(TyperGroup):
    """The root group: what a command raises ends as one clear message on stderr and an exit code.

    2 for wrong input or configuration, 1 for a fault or a bug, 130 after Ctrl-C.
    """

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was asked for."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            _say("Interrupted. What was published before is as it was; the same command can be run again.")
            raise typer.Exit(INTERRUPTED) from None
        except HopRankError as error:
            _say(str(error))
            _trace(ctx)
            raise typer.Exit(WRONG_INPUT if isinstance(error, InputError) else FAULT) from None
        except Exception as error:
            if isinstance(error, BrokenPipeError) or _is_clis_own(error):
                raise
            _say(f"This is a bug in HopRank: {type(error).__name__}: {error}")
            if not _trace(ctx):
                _say("Run it again as `hoprank --verbose ...`, or with HOPRANK_DEBUG=1, and report the traceback.")
            raise typer.Exit(FAULT) from None


def _is_clis_own(error: Exception) -> bool:
    # Usage errors and typer.Exit: their classes have moved between Typer's releases, their module's name has not.
    return type(error).__module__.split(".")[0] in {"click", "typer"}


def _say(text: str) -> None:
    sys.stdout.flush()
    print(f"hoprank: {text}", file=sys.stderr)


def _trace(ctx: Any) -> bool:
    if not ctx.params.get("verbose"):
        return False
    traceback.print_exc()
    return True
